// reprise: rule sets, the policies that users write
#ifndef REPRISE_POLICY_RULES_H
#define REPRISE_POLICY_RULES_H

#include "reprise/Policy/Policy.h"
#include "llvm/Support/GlobPattern.h"

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

/// Such as >=1MiB: an operator (== if there is none) and a number with a unit of 1000 (k, M, G, T)
/// or 1024 (KiB, MiB, GiB, TiB).
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

struct Rule {
  Selector match;
  Label label;
  mlir::Location location;
  std::string text;           ///< as reports show it, such as rules.json:4:5 or @mine:2
  PolicyPtr policy = nullptr; ///< says it all in place of `match` and `label`
};

/// The first rule that matches gives the label; MUSTs of later ones count beside it.
class RuleSet : public Policy {
public:
  RuleSet(std::vector<Rule> rules, std::optional<Rule> fallback, bool allowUnmatched)
      : rules(std::move(rules)), fallback(std::move(fallback)), allowUnmatched(allowUnmatched) {}

  mlir::LogicalResult decide(const PolicyGraph &graph, mlir::Location location,
                             PolicyDecisions &decisions) const override;

private:
  mlir::LogicalResult apply(const Rule &rule, const PolicyGraph &graph,
                            PolicyDecisions &decisions) const;

  std::vector<Rule> rules;
  std::optional<Rule> fallback; ///< for ops that no rule matches
  bool allowUnmatched;
};

/// Reads a rule file; reports its first mistake at line and column.
mlir::FailureOr<PolicyPtr> readRuleFile(llvm::StringRef path, const PolicyContext &context);
/// The rules of a policy in the IR.
mlir::FailureOr<PolicyPtr> readPolicyOp(PolicyOp op, const PolicyContext &context);
/// The policy that the module in `context` calls so.
mlir::FailureOr<PolicyPtr> readPolicyOp(llvm::StringRef name, const PolicyContext &context);

/// The context in which the rules of `policy` are read; fails if that policy is being read already.
mlir::FailureOr<PolicyContext> enterPolicy(llvm::StringRef policy, const PolicyContext &context);

/// Adds a decision behind those that are there already, if it can matter.
void addDecision(llvm::SmallVectorImpl<Decision> &decisions, Decision decision);

} // namespace reprise

#endif // REPRISE_POLICY_RULES_H
