// reprise: rule sets in the IR
#include "reprise/Policy/Rules.h"

#include "mlir/IR/SymbolTable.h"
#include "reprise/Support/Locations.h"
#include "reprise/Support/Wording.h"

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
    rule.match = llvm::cantFail(readSelector(op.getMatchAttr())); // the verifier has accepted it
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
  std::vector<std::string> known;
  if (module)
    for (auto op : module.getOps<PolicyOp>())
      known.push_back(("@" + op.getSymName()).str());
  std::string given = ("@" + name).str();
  return emitError(context.location)
         << "unknown policy '" << given << "'"
         << (known.empty() ? ": the module has no policies" : suggest(given, known));
}

FailureOr<std::vector<AskedPolicy>> readPolicies(ArrayRef<std::string> texts,
                                                 const PolicyContext &context) {
  std::vector<AskedPolicy> found;
  auto add = [&](FailureOr<PolicyPtr> policy, Location location) {
    found.push_back({policy.value_or(nullptr), location});
    return policy;
  };
  ModuleOp module = context.module;
  for (PolicyOp op : module.getOps<PolicyOp>())
    if (op.isPublic() && failed(add(readPolicyOp(op, context), op.getLoc())))
      return failure();
  for (StringRef text : texts) {
    PolicyContext own = context;
    std::string flag = ("--policy=" + text.take_front(text.find('{'))).str();
    own.location = getFlagLocation(module.getContext(), flag);
    if (failed(add(parsePolicy(text, own), own.location)))
      return failure();
  }
  return found;
}

} // namespace reprise
