// reprise: the memory/time curve of a model, with named policies as points on it
#include "Report.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::json::Array;
using llvm::json::Object;

namespace reprise {

/// Budgets between what the labels take and what is found to be the least.
static constexpr int kBudgets = 10;

/// What users of other systems know.
static constexpr StringLiteral policies[] = {"save-all", "dots_saveable",
                                             "dots_with_no_batch_dims_saveable",
                                             "every-nth-contraction(2)", "recompute-all"};

namespace {
/// A model up to `autodiff` under its labels and these policies, and its planner.
struct Prepared {
  OwningOpRef<ModuleOp> module;
  CompileOptions options;
  std::unique_ptr<StepPlanner> planner;
};
} // namespace

static FailureOr<std::unique_ptr<Prepared>> prepare(ModuleOp model, const CompileOptions &options,
                                                    std::shared_ptr<LaunchFacts> facts,
                                                    const CostModel &costs, StringRef policy) {
  auto prepared = std::make_unique<Prepared>();
  prepared->module = model.clone();
  prepared->options = options;
  if (!policy.empty()) {
    // Ahead of the user's, so that it decides wherever they only prefer.
    prepared->options.phases.policies.insert(prepared->options.phases.policies.begin(),
                                             policy.str());
  }
  if (failed(runPhases(*prepared->module, Phase::Autodiff, prepared->options.phases)))
    return failure();
  prepared->planner =
      std::make_unique<StepPlanner>(*prepared->module, prepared->options, facts, costs);
  if (failed(prepared->planner->start()))
    return failure();
  return std::move(prepared);
}

static Object describePoint(const StepPlan &plan, double total) {
  return Object{{"bytes", plan.bytes()},
                {"arena_bytes", plan.arena},
                {"workspace_bytes", plan.workspace},
                {"seconds", total + plan.seconds},
                {"cost_increase", plan.seconds / std::max(total, 1e-30)},
                {"overridden_bytes", plan.overridden}};
}

/// Plans that no other plan beats in bytes and in cost.
static SmallVector<const StepPlan *> findFront(ArrayRef<StepPlan> plans) {
  SmallVector<const StepPlan *> sorted;
  for (const StepPlan &plan : plans)
    sorted.push_back(&plan);
  auto cost = [](const StepPlan *plan) { return std::pair(plan->overridden, plan->seconds); };
  llvm::sort(sorted, [&](const StepPlan *a, const StepPlan *b) {
    return std::tuple(a->bytes(), cost(a), a) < std::tuple(b->bytes(), cost(b), b);
  });
  SmallVector<const StepPlan *> front;
  for (const StepPlan *plan : sorted)
    if (front.empty() || cost(plan) < cost(front.back()))
      front.push_back(plan);
  return front;
}

static LogicalResult searchCurve(StepPlanner &planner) {
  int64_t most = planner.followed().bytes();
  for (int i = kBudgets - 1; i > 0; --i) {
    FailureOr<std::optional<BudgetOutcome>> found = planner.plan(most * i / kBudgets);
    if (failed(found))
      return failure();
    if (!*found)
      break;
  }
  return success();
}

FailureOr<Object> findPareto(ModuleOp module, const CompileOptions &options) {
  std::shared_ptr<LaunchFacts> facts;
  if (failed(LaunchFacts::load(options.phases.target, module.getLoc(), facts)))
    return failure();
  FailureOr<CostModel> costs = loadCosts(module, options);
  if (failed(costs))
    return failure();
  auto model = prepare(module, options, facts, *costs, "");
  if (failed(model) || failed(searchCurve(*(*model)->planner)))
    return failure();
  StepPlanner &planner = *(*model)->planner;
  Array points, named;
  for (const StepPlan *plan : findFront(planner.plans())) {
    Object point = describePoint(*plan, planner.stepSeconds());
    double bound = planner.findBound(plan->bytes(), *plan) / std::max(planner.stepSeconds(), 1e-30);
    double increase = plan->seconds / std::max(planner.stepSeconds(), 1e-30);
    point["bound"] = std::min(bound, increase);
    point["gap"] = increase - std::min(bound, increase);
    points.push_back(std::move(point));
  }
  for (StringRef policy : policies) {
    auto entry = prepare(module, options, facts, *costs, policy);
    if (failed(entry))
      return failure();
    Object point = describePoint((*entry)->planner->followed(), planner.stepSeconds());
    point["policy"] = policy;
    named.push_back(std::move(point));
  }
  return Object{{"version", 1},
                {"save_all_bytes", planner.saveAllBytes()},
                {"step_seconds", planner.stepSeconds()},
                {"points", std::move(points)},
                {"policies", std::move(named)}};
}

void printPareto(llvm::raw_ostream &stream, StringRef path, const Object &curve) {
  if (path.ends_with(".html"))
    return printParetoHtml(stream, curve);
  stream << llvm::formatv("{0:2}\n", llvm::json::Value(Object(curve)));
}

} // namespace reprise
