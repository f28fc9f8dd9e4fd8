// reprise: selection of the ops that a rule applies to
#ifndef REPRISE_POLICY_SELECTOR_SELECTOR_H
#define REPRISE_POLICY_SELECTOR_SELECTOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace reprise {

/// Glob with the text that LLVM's pattern points into.
class Glob {
public:
  static llvm::Expected<Glob> create(llvm::StringRef text);
  bool match(llvm::StringRef name) const { return pattern.match(name); }

private:
  Glob(std::shared_ptr<const std::string> text, llvm::GlobPattern pattern)
      : text(std::move(text)), pattern(std::move(pattern)) {}
  std::shared_ptr<const std::string> text;
  llvm::GlobPattern pattern;
};

/// Glob for paths: each segment between slashes is a glob, `**` matches any number of segments.
class PathGlob {
public:
  static llvm::Expected<PathGlob> create(llvm::StringRef text);
  bool match(llvm::StringRef path) const;

private:
  std::vector<std::optional<Glob>> segments; ///< none: `**`
};

/// Comparison such as >=1MiB: an operator (default ==) and a number with a unit of 1000 (k, M, G,
/// T), or of bytes (`kByteUnits`).
struct Comparison {
  enum Operator { Less, LessEqual, Equal, GreaterEqual, Greater } comparison;
  double bound;

  static llvm::Expected<Comparison> create(llvm::StringRef text);
  bool holds(int64_t number) const;
};

/// Kind of an op, by its interfaces.
enum class OpKind {
  Attention,
  Contraction,
  ContractionWithoutBatch,
  Convolution,
  Elementwise,
  Normalization,
  Random,
  Reduction,
};
bool isOfKind(mlir::Operation *op, OpKind kind);
std::optional<OpKind> parseOpKind(llvm::StringRef text);
/// Returns all texts that `parseOpKind` reads, sorted.
llvm::ArrayRef<llvm::StringRef> opKindNames();

/// Conditions that must all hold. Counting keys count the matches of the other keys, in program
/// order.
struct Selector {
  std::optional<Glob> op; ///< with or without the dialect's name
  std::optional<Glob> name;
  std::optional<PathGlob> scope;
  std::optional<Comparison> bytes, flops;
  std::optional<OpKind> kind;
  std::string dtype; ///< element type of the first result; empty: any
  int64_t every = 1; ///< selects the n-th, 2n-th, ... match
  int64_t first = std::numeric_limits<int64_t>::max(), last = first;
};

/// Reads one key of a selector, whose value is a text or an integer. Returns an error about an
/// invalid key or value.
llvm::Error readKey(llvm::StringRef key, std::optional<llvm::StringRef> text,
                    std::optional<int64_t> integer, Selector &selector);
/// Reads all keys of `reprise.rule`.
llvm::Expected<Selector> readSelector(mlir::DictionaryAttr match);

} // namespace reprise

#endif // REPRISE_POLICY_SELECTOR_SELECTOR_H
