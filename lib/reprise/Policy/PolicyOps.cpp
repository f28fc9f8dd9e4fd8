// reprise: rule sets in the IR
#include "reprise/Policy/Rules.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace reprise {

/// The rule, the `number`-th of `policy`.
static FailureOr<Rule> readRule(RuleOp op, StringRef policy, unsigned number,
                                const PolicyContext &context) {
  std::string text = ("@" + policy + ":" + Twine(number)).str();
  Rule rule{{}, op.getLabel().value_or(Label::must_save), op.getLoc(), text};
  if (op.getPolicy()) {
    PolicyContext own = context;
    own.location = op.getLoc();
    own.folder.clear();
    FailureOr<PolicyPtr> made = parsePolicy(*op.getPolicy(), own);
    if (failed(made))
      return failure();
    rule.policy = *made;
  }
  if (op.getMatchAttr())
    rule.match = llvm::cantFail(readSelector(op.getMatchAttr())); // the verifier has seen it
  return rule;
}

FailureOr<PolicyPtr> readPolicyOp(PolicyOp op, const PolicyContext &context) {
  FailureOr<PolicyContext> own = enterPolicy(("@" + op.getSymName()).str(), context);
  if (failed(own))
    return failure();
  std::vector<Rule> rules;
  std::optional<Rule> fallback;
  for (auto [i, rule] : llvm::enumerate(op.getBody().getOps<RuleOp>())) {
    FailureOr<Rule> made = readRule(rule, op.getSymName(), i + 1, *own);
    if (failed(made))
      return failure();
    if (rule.isDefault())
      fallback = std::move(*made);
    else
      rules.push_back(std::move(*made));
  }
  return PolicyPtr(std::make_shared<RuleSet>(std::move(rules), std::move(fallback),
                                             context.allowUnmatchedRules));
}

FailureOr<PolicyPtr> readPolicyOp(StringRef name, const PolicyContext &context) {
  ModuleOp module = context.module;
  if (auto op = module ? SymbolTable(module).lookup<PolicyOp>(name) : PolicyOp())
    return readPolicyOp(op, context);
  InFlightDiagnostic diagnostic = emitError(context.location) << "unknown policy '@" << name << "'";
  SmallVector<PolicyOp> known;
  if (module)
    llvm::append_range(known, module.getOps<PolicyOp>());
  diagnostic << (known.empty() ? ": the module has none" : ", expected one of ");
  llvm::interleaveComma(known, diagnostic,
                        [&](PolicyOp op) { diagnostic << "@" << op.getSymName(); });
  return diagnostic;
}

} // namespace reprise
