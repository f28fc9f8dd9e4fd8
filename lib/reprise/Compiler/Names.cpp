// reprise: checks of names from the user: targets, entries, policies
#include "reprise/Compiler.h"

#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Policy/Policy.h"
#include "reprise/Target/Target.h"

using namespace mlir;

std::string reprise::findWrongName(ModuleOp module, const PhaseOptions &options,
                                   bool isEntryGiven) {
  Location fromFlag = NameLoc::get(StringAttr::get(module.getContext(), "flag"));
  std::string wrong;
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    if (wrong.empty() && diagnostic.getLocation() == fromFlag)
      wrong = diagnostic.str();
  });
  std::shared_ptr<const Target> target;
  if (failed(Target::get(options.target, fromFlag, target)))
    return wrong;
  bool isForModel = isEntryGiven || !options.policies.empty() || options.allowUnmatchedRules ||
                    options.ignoreCheckpoints || options.unroll || options.microbatches > 1 ||
                    options.stages.devices > 1;
  if (isForModel && findPhase(module))
    return "the file holds device programs, which have been through 'autodiff': --entry, "
           "--unroll, --microbatches, --stages and the flags of policies cannot be used";
  if (isEntryGiven)
    if (std::string fault = findEntryFault(module, options.entry); !fault.empty())
      return fault;
  PolicyContext context{fromFlag, options.allowUnmatchedRules, module};
  for (StringRef policy : options.policies)
    if (!isPolicyFile(policy) && failed(parsePolicy(policy, context)) && !wrong.empty())
      return wrong;
  return "";
}
