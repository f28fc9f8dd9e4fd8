// reprise: what all plans of a device program share
#include "PlanContext.h"

#include "llvm/Support/Threading.h"

#include <chrono>

using namespace mlir;
using namespace reprise;

/// Additional time for bounds and first plans: a share of the time limit, but at least some
/// seconds.
static constexpr double kMoreShare = 0.2, kMoreSeconds = 1;

FailureOr<CostModel> reprise::loadCosts(ModuleOp module, const CompileOptions &options) {
  CostSources sources = options.costs;
  sources.target = options.phases.target;
  sources.threads = options.threads;
  return CostModel::load(sources, module.getLoc());
}

unsigned reprise::countThreads(const CompileOptions &options) {
  return options.threads ? options.threads : llvm::hardware_concurrency().compute_thread_count();
}

checkpoint::BudgetOptions reprise::startClock(const CompileOptions &options) {
  checkpoint::BudgetOptions search;
  search.isOver = search.isLate = options.isCancelled;
  if (!options.timeLimitSeconds)
    return search;
  auto endAfter = [&, begin = std::chrono::steady_clock::now()](double seconds) {
    auto end = begin + std::chrono::duration<double>(seconds);
    return [end, isCancelled = options.isCancelled] {
      return std::chrono::steady_clock::now() >= end || (isCancelled && isCancelled());
    };
  };
  double limit = *options.timeLimitSeconds;
  search.isOver = endAfter(limit);
  search.isLate = endAfter(limit + std::max(kMoreSeconds, kMoreShare * limit));
  return search;
}

PlanContext::PlanContext(const CompileOptions &options, std::shared_ptr<LaunchFacts> facts,
                         const CostModel &costs)
    : options(options), facts(std::move(facts)), costs(costs), search(startClock(options)) {}
