// reprise: which ops a rule is about
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

/// A glob, with the text that LLVM's pattern points into.
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

/// A glob for paths: each segment between slashes is one, `**` stands for any number of segments.
class PathGlob {
public:
  static llvm::Expected<PathGlob> create(llvm::StringRef text);
  bool match(llvm::StringRef path) const;

private:
  std::vector<std::optional<Glob>> segments; ///< none: `**`
};

/// Such as >=1MiB: an operator (== if it is left out) and a number with a unit of 1000 (k, M, G,
/// T), or one of bytes (`kByteUnits`).
struct Comparison {
  enum Operator { Less, LessEqual, Equal, GreaterEqual, Greater } comparison;
  double bound;

  static llvm::Expected<Comparison> create(llvm::StringRef text);
  bool holds(int64_t number) const;
};

/// What an op does, by its interfaces.
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
/// All texts that `parseOpKind` reads, sorted.
llvm::ArrayRef<llvm::StringRef> opKindNames();

/// All keys must hold. Those that count do so over the matches of the others, in program order.
struct Selector {
  std::optional<Glob> op; ///< with or without the dialect's name
  std::optional<Glob> name;
  std::optional<PathGlob> scope;
  std::optional<Comparison> bytes, flops;
  std::optional<OpKind> kind;
  std::string dtype; ///< of the first result; empty: any
  int64_t every = 1; ///< the n-th, 2n-th, ... match
  int64_t first = std::numeric_limits<int64_t>::max(), last = first;
};

/// Reads one key of a selector, whose value is a text or an integer. An error says what is wrong.
llvm::Error readKey(llvm::StringRef key, std::optional<llvm::StringRef> text,
                    std::optional<int64_t> integer, Selector &selector);
/// The same for all keys of `reprise.rule`.
llvm::Expected<Selector> readSelector(mlir::DictionaryAttr match);

} // namespace reprise

#endif // REPRISE_POLICY_SELECTOR_SELECTOR_H
