// reprise: what the programs of one target share
#include "TargetContexts.h"

#include "Planner/PlanContext.h"

using namespace mlir;
using namespace reprise;

FailureOr<TargetContext *> TargetContexts::load(int64_t device) {
  auto target = options.targets.find(device);
  auto file = options.deviceFiles.find(device);
  CompileOptions own = options;
  if (target != options.targets.end())
    own.phases.target = target->second;
  if (file != options.deviceFiles.end())
    own.costs.deviceFile = file->second;
  std::unique_ptr<TargetContext> &found = contexts[{own.phases.target, own.costs.deviceFile}];
  if (found)
    return found.get();
  std::shared_ptr<LaunchFacts> facts;
  if (own.phases.target == options.phases.target)
    facts = options.phases.facts;
  for (auto &[key, other] : contexts)
    if (other && key.first == own.phases.target)
      facts = other->facts;
  if (failed(LaunchFacts::load(own.phases.target, module.getLoc(), facts)))
    return failure();
  FailureOr<CostModel> costs = loadCosts(module, own);
  if (failed(costs))
    return failure();
  found.reset(new TargetContext{std::move(own), std::move(facts),
                                std::make_shared<const CostModel>(std::move(*costs))});
  return found.get();
}

bool TargetContexts::haveMemory() const {
  return llvm::any_of(contexts, [](const auto &entry) {
    return entry.second && entry.second->costs->getRates().memory.has_value();
  });
}
