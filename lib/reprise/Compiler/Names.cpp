// reprise: checks of files and names from the user: phases, targets, entries, policies
#include "reprise/Compiler.h"

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Dialect/Reprise/Transforms/Grid.h"
#include "reprise/Policy/Policy.h"
#include "reprise/Target/Target.h"

using namespace mlir;

std::optional<reprise::Phase> reprise::findPhase(ModuleOp module) {
  std::optional<Phase> phase;
  for (ProgramOp program : findPrograms(module)) {
    phase = phase.value_or(Phase::Autodiff);
    program.walk([&](exec::LaunchOp launch) {
      phase = std::max(*phase, launch.getOffsets() ? Phase::Memory : Phase::Kernels);
    });
  }
  return phase;
}

size_t reprise::countPrograms(ModuleOp module) {
  return std::max<size_t>(1, findPrograms(module).size());
}

/// Returns the fault of lanes without shardings, or of shardings without lanes.
static std::string findWrongLanes(ModuleOp module, const reprise::PhaseOptions &options) {
  const reprise::ModelOptions &model = options.model;
  bool isSharded = reprise::hasShardings(module, options.entry);
  if (model.lanes > 1 && model.shards.empty() && !isSharded)
    return "--model-lanes needs shardings: add --shards=RULES.json, or shard.shard to the model";
  if (model.lanes == 1 && isSharded)
    return "the model has shardings, which need lanes of contractions: add --model-lanes=2 or more";
  return "";
}

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
                    options.lanes > 1 || options.model.lanes > 1 ||
                    options.stages.countPrograms() > 1;
  if (isForModel && findPhase(module))
    return "the file holds device programs, which have been through 'autodiff': --entry, "
           "--unroll, --microbatches, --lanes, --model-lanes, --mesh, --stages and the flags of "
           "policies cannot be used";
  if (!findPhase(module))
    if (std::string fault = findWrongLanes(module, options); !fault.empty())
      return fault;
  if (isEntryGiven)
    if (std::string fault = findEntryFault(module, options.entry); !fault.empty())
      return fault;
  PolicyContext context{fromFlag, options.allowUnmatchedRules, module};
  for (StringRef policy : options.policies)
    if (!isPolicyFile(policy) && failed(parsePolicy(policy, context)) && !wrong.empty())
      return wrong;
  return "";
}
