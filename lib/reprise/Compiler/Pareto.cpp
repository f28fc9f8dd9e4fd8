// reprise: the memory/time curve of a model, with named policies as points on it
#include "Report.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/Readable.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using llvm::json::Array;
using llvm::json::Object;

namespace reprise {

/// Number of budgets between that of the labels and the smallest one found.
static constexpr int kBudgets = 10;

/// Policies that users of other systems know.
static constexpr StringLiteral policies[] = {"save-all", "dots_saveable",
                                             "dots_with_no_batch_dims_saveable",
                                             "every-nth-contraction(2)", "recompute-all"};

namespace {
/// A model up to `autodiff` under some policies, and its planner.
struct Prepared {
  OwningOpRef<ModuleOp> module;
  CompileOptions options;
  std::unique_ptr<ProgramPlanner> planner;
};

class Curve {
public:
  Curve(ModuleOp model, const CompileOptions &options, std::shared_ptr<LaunchFacts> facts,
        const CostModel &costs)
      : model(model), options(options), facts(std::move(facts)), costs(costs) {}

  FailureOr<Object> find();

private:
  FailureOr<std::unique_ptr<Prepared>> prepare(CompileOptions options);
  LogicalResult search(ProgramPlanner &planner);
  void tell(StringRef what, size_t number, size_t count) const {
    if (options.tell)
      options.tell((what + " " + Twine(number) + " of " + Twine(count)).str());
  }
  Array describePolicies(double usual);

  ModuleOp model;
  const CompileOptions &options;
  std::shared_ptr<LaunchFacts> facts;
  const CostModel &costs;
};
} // namespace

FailureOr<std::unique_ptr<Prepared>> Curve::prepare(CompileOptions options) {
  auto prepared = std::make_unique<Prepared>();
  prepared->module = model.clone();
  prepared->options = std::move(options);
  ModuleOp module = *prepared->module;
  if (failed(runPhases(module, Phase::Partition, prepared->options.phases)))
    return failure();
  // A model has one program.
  SmallVector<ProgramOp> programs = findPrograms(module);
  if (programs.size() != 1)
    return module.emitError("expected one device program, got ") << programs.size();
  prepared->planner =
      std::make_unique<ProgramPlanner>(programs.front(), prepared->options, facts, costs);
  if (failed(prepared->planner->start()))
    return failure();
  return std::move(prepared);
}

/// Plans that no other plan beats in bytes and in cost.
static std::vector<const StepPlan *> findFront(const ProgramPlanner &planner) {
  std::vector<const StepPlan *> plans = planner.plans(), front;
  std::vector<std::tuple<int64_t, std::pair<int64_t, double>, size_t>> order;
  for (auto [i, plan] : llvm::enumerate(plans))
    order.push_back({plan->bytes(), plan->cost(), i});
  llvm::sort(order);
  for (auto [bytes, cost, i] : order)
    if (front.empty() || cost < front.back()->cost())
      front.push_back(plans[i]);
  return front;
}

/// Searches budgets from a large one, whose plan is the cheapest, down to budgets that no plan
/// fits.
LogicalResult Curve::search(ProgramPlanner &planner) {
  FailureOr<int64_t> all = planner.findSaveAllBytes();
  if (failed(all))
    return failure();
  int64_t followed = planner.followed().bytes();
  std::vector<int64_t> budgets = {std::max(*all, followed), (*all + followed) / 2};
  for (int i = kBudgets - 1; i > 0; --i)
    budgets.push_back(followed * i / kBudgets);
  for (auto [i, budget] : llvm::enumerate(budgets)) {
    tell("budget", i + 1, budgets.size());
    FailureOr<std::optional<BudgetOutcome>> found = planner.plan(budget);
    if (failed(found))
      return failure();
    if (!*found)
      break;
  }
  return success();
}

/// Describes a plan of `planner` in comparison with a plan that takes `usual` seconds.
static Object describePoint(const ProgramPlanner &planner, const StepPlan &plan, double usual) {
  double seconds = planner.stepSeconds() + plan.seconds;
  double increase = (seconds - usual) / std::max(usual, 1e-30);
  return Object{{"bytes", plan.bytes()},
                {"arena_bytes", plan.arena},
                {"workspace_bytes", plan.workspace},
                {"seconds", seconds},
                {"cost_increase", increase},
                {"overridden_bytes", plan.overridden},
                {"summary", showBytes(plan.bytes()) + ", " + showPercent(100 * increase)}};
}

/// Describes a plan with the lower bound of all forms.
static Object describeBounded(const ProgramPlanner &planner, const StepPlan &plan, double usual) {
  double bound = planner.findBound(plan.bytes(), plan), total = std::max(usual, 1e-30);
  Object point = describePoint(planner, plan, usual);
  point["bound"] = (planner.stepSeconds() + bound - usual) / total;
  point["gap"] = (plan.seconds - bound) / total;
  point["summary"] =
      (*point.getString("summary") + "; " +
       showGap(100 * *point.getNumber("cost_increase"), 100 * *point.getNumber("bound")))
          .str();
  return point;
}

/// Describes the policies, without unrolled loops.
Array Curve::describePolicies(double usual) {
  Array named;
  for (auto [i, policy] : llvm::enumerate(policies)) {
    tell("policy", i + 1, std::size(policies));
    // We put the policy before the user's policies, so that it decides unless they have MUSTs.
    CompileOptions own = options;
    own.phases.policies.insert(own.phases.policies.begin(), StringRef(policy).str());
    ScopedDiagnosticHandler ignored(model.getContext(), [](Diagnostic &) { return success(); });
    auto entry = prepare(std::move(own));
    if (failed(entry))
      continue;
    Object point = describePoint(*(*entry)->planner, (*entry)->planner->followed(), usual);
    point["policy"] = StringRef(policy);
    named.push_back(std::move(point));
  }
  return named;
}

FailureOr<Object> Curve::find() {
  auto own = prepare(options);
  if (failed(own))
    return failure();
  ProgramPlanner &planner = *(*own)->planner;
  FailureOr<int64_t> all = planner.findSaveAllBytes();
  if (failed(all) || failed(search(planner)))
    return failure();
  double usual = planner.stepSeconds() + planner.followed().seconds;
  Array points;
  for (const StepPlan *plan : findFront(planner))
    points.push_back(describeBounded(planner, *plan, usual));
  return Object{{"version", 1},
                {"save_all_bytes", *all},
                {"step_seconds", usual},
                {"default", describePoint(planner, planner.followed(), usual)},
                {"points", std::move(points)},
                {"policies", describePolicies(usual)}};
}

FailureOr<Object> findPareto(ModuleOp module, const CompileOptions &options) {
  std::shared_ptr<LaunchFacts> facts;
  if (failed(LaunchFacts::load(options.phases.target, module.getLoc(), facts)))
    return failure();
  FailureOr<CostModel> costs = loadCosts(module, options);
  if (failed(costs))
    return failure();
  FailureOr<Object> curve = Curve(module, options, facts, *costs).find();
  if (succeeded(curve)) {
    addInputs(describeInputs(module, options.phases), *curve);
    (*curve)["target"] = facts->getTarget().getName();
    (*curve)["threads"] =
        options.threads ? options.threads : llvm::hardware_concurrency().compute_thread_count();
  }
  return curve;
}

void printPareto(llvm::raw_ostream &stream, StringRef path, const Object &curve) {
  printAsPageOrJson(stream, path, Object(curve));
}

} // namespace reprise
