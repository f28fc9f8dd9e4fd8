// reprise: rule sets, the policies of users
#ifndef REPRISE_POLICY_RULES_H
#define REPRISE_POLICY_RULES_H

#include "reprise/Policy/Policy.h"
#include "reprise/Policy/Selector/Selector.h"

namespace reprise {

struct Rule {
  Selector match;
  Label label;
  mlir::Location location;
  std::string text;           ///< rule as reports show it, such as rules.json:4:5 or @mine:2
  PolicyPtr policy = nullptr; ///< if set, replaces `match` and `label`
};

/// Rule set. The first matching rule gives the label; MUSTs of later rules count as well.
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
  std::optional<Rule> fallback; ///< label of ops that no rule matches
  bool allowUnmatched;
};

/// Reads a rule file; reports its first mistake at line and column.
mlir::FailureOr<PolicyPtr> readRuleFile(llvm::StringRef path, const PolicyContext &context);
/// Reads the rules of a policy in the IR.
mlir::FailureOr<PolicyPtr> readPolicyOp(PolicyOp op, const PolicyContext &context);
/// Reads the policy with this name in the module of `context`.
mlir::FailureOr<PolicyPtr> readPolicyOp(llvm::StringRef name, const PolicyContext &context);

/// Policy that a user asks for, and the place of the request, where its errors are reported.
struct AskedPolicy {
  PolicyPtr policy;
  mlir::Location location;
};
/// Reads the public policies of the module in `context`, then those of the command line.
mlir::FailureOr<std::vector<AskedPolicy>> readPolicies(llvm::ArrayRef<std::string> texts,
                                                       const PolicyContext &context);
/// Starts an error about the policy that messages call `shown`, unless the location names it.
mlir::InFlightDiagnostic emitPolicyError(mlir::Location location, const llvm::Twine &shown);

/// Returns the context for reading the rules of `policy`; fails if that policy is already being
/// read.
mlir::FailureOr<PolicyContext> enterPolicy(llvm::StringRef policy, const PolicyContext &context);

/// Appends a decision if it can matter.
void addDecision(llvm::SmallVectorImpl<Decision> &decisions, Decision decision);

} // namespace reprise

#endif // REPRISE_POLICY_RULES_H
