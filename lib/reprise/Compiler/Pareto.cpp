// reprise: the memory/time curve of a model, with named policies as points on it
#include "Report.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
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
  double added = 0; ///< seconds that any plan of it costs beyond the step as it is
};
using Forms = std::vector<std::unique_ptr<Prepared>>;

/// A plan of one of the forms.
struct Candidate {
  const StepPlan *plan;
  const Prepared *form;
  std::pair<int64_t, double> cost() const {
    return {plan->overridden, plan->seconds + form->added};
  }
};

class Curve {
public:
  Curve(ModuleOp model, const CompileOptions &options, std::shared_ptr<LaunchFacts> facts,
        const CostModel &costs)
      : model(model), options(options), facts(std::move(facts)), costs(costs) {}

  FailureOr<Object> find();

private:
  FailureOr<std::unique_ptr<Prepared>> prepare(CompileOptions options);
  LogicalResult addForms();
  LogicalResult addDeferred(const Prepared &form);
  LogicalResult search(StepPlanner &planner);
  SmallVector<Candidate> findFront() const;
  Object describe(const Candidate &candidate) const;
  Array describePolicies();
  const StepPlanner &plain() const { return *forms.front()->planner; }

  ModuleOp model;
  const CompileOptions &options;
  std::shared_ptr<LaunchFacts> facts;
  const CostModel &costs;
  Forms forms; ///< the step as it is, then those that --budget plans, too
};
} // namespace

FailureOr<std::unique_ptr<Prepared>> Curve::prepare(CompileOptions options) {
  auto prepared = std::make_unique<Prepared>();
  prepared->module = model.clone();
  prepared->options = std::move(options);
  if (failed(runPhases(*prepared->module, Phase::Autodiff, prepared->options.phases)))
    return failure();
  prepared->planner =
      std::make_unique<StepPlanner>(*prepared->module, prepared->options, facts, costs,
                                    forms.empty() ? nullptr : forms.front()->planner.get());
  if (failed(prepared->planner->start()))
    return failure();
  return std::move(prepared);
}

LogicalResult Curve::addForms() {
  auto own = prepare(options);
  if (failed(own))
    return failure();
  forms.push_back(std::move(*own));
  func::FuncOp step = *forms.front()->module->getOps<func::FuncOp>().begin();
  if (!step.getBody().front().getOps<LoopOp>().empty()) {
    CompileOptions bodies = options;
    bodies.phases.recomputeBodies = true;
    auto again = prepare(std::move(bodies));
    if (failed(again))
      return failure();
    (*again)->added = std::max(0.0, (*again)->planner->stepSeconds() - plain().stepSeconds());
    forms.push_back(std::move(*again));
  }
  for (size_t i = 0, count = forms.size(); i < count; ++i)
    if (failed(addDeferred(*forms[i])))
      return failure();
  return success();
}

LogicalResult Curve::addDeferred(const Prepared &form) {
  auto deferred = std::make_unique<Prepared>();
  deferred->module = deferLargeGradient(*form.module, form.planner->followed().arena);
  if (!deferred->module)
    return success();
  deferred->options = form.options;
  deferred->added = form.added;
  deferred->planner = std::make_unique<StepPlanner>(*deferred->module, deferred->options, facts,
                                                    costs, forms.front()->planner.get());
  if (failed(deferred->planner->start(/*needsSaveAll=*/false)))
    return failure();
  forms.push_back(std::move(deferred));
  return success();
}

/// Plans that no other plan beats in bytes and in cost.
SmallVector<Candidate> Curve::findFront() const {
  SmallVector<Candidate> sorted, front;
  for (const std::unique_ptr<Prepared> &form : forms)
    for (const StepPlan &plan : form->planner->plans())
      sorted.push_back({&plan, form.get()});
  llvm::stable_sort(sorted, [&](const Candidate &a, const Candidate &b) {
    return std::pair(a.plan->bytes(), a.cost()) < std::pair(b.plan->bytes(), b.cost());
  });
  for (const Candidate &candidate : sorted)
    if (front.empty() || candidate.cost() < front.back().cost())
      front.push_back(candidate);
  return front;
}

LogicalResult Curve::search(StepPlanner &planner) {
  int64_t most = plain().followed().bytes();
  for (int i = kBudgets - 1; i > 0; --i) {
    FailureOr<std::optional<BudgetOutcome>> found = planner.plan(most * i / kBudgets);
    if (failed(found))
      return failure();
    if (!*found)
      break;
  }
  return success();
}

static Object describePoint(const StepPlan &plan, double total) {
  return Object{{"bytes", plan.bytes()},
                {"arena_bytes", plan.arena},
                {"workspace_bytes", plan.workspace},
                {"seconds", total + plan.seconds},
                {"cost_increase", plan.seconds / std::max(total, 1e-30)},
                {"overridden_bytes", plan.overridden}};
}

/// The bound holds for all forms.
Object Curve::describe(const Candidate &candidate) const {
  double total = std::max(plain().stepSeconds(), 1e-30), seconds = candidate.cost().second;
  double bound = seconds;
  for (const std::unique_ptr<Prepared> &form : forms) {
    StepPlan plan = *candidate.plan;
    plan.seconds = seconds - form->added;
    bound = std::min(bound, form->planner->findBound(plan.bytes(), plan) + form->added);
  }
  StepPlan plan = *candidate.plan;
  plan.seconds = seconds;
  Object point = describePoint(plan, plain().stepSeconds());
  point["bound"] = bound / total;
  point["gap"] = (seconds - bound) / total;
  return point;
}

/// Without those that tell the iterations of a loop apart.
Array Curve::describePolicies() {
  Array named;
  for (StringRef policy : policies) {
    // Ahead of the user's, so that it decides wherever they only prefer.
    CompileOptions own = options;
    own.phases.policies.insert(own.phases.policies.begin(), policy.str());
    ScopedDiagnosticHandler ignored(model.getContext(), [](Diagnostic &) { return success(); });
    auto entry = prepare(std::move(own));
    if (failed(entry))
      continue;
    Object point = describePoint((*entry)->planner->followed(), plain().stepSeconds());
    point["policy"] = policy;
    named.push_back(std::move(point));
  }
  return named;
}

FailureOr<Object> Curve::find() {
  if (failed(addForms()))
    return failure();
  for (const std::unique_ptr<Prepared> &form : forms)
    if (failed(search(*form->planner)))
      return failure();
  Array points;
  for (const Candidate &candidate : findFront())
    points.push_back(describe(candidate));
  return Object{{"version", 1},
                {"save_all_bytes", plain().saveAllBytes()},
                {"step_seconds", plain().stepSeconds()},
                {"points", std::move(points)},
                {"policies", describePolicies()}};
}

FailureOr<Object> findPareto(ModuleOp module, const CompileOptions &options) {
  std::shared_ptr<LaunchFacts> facts;
  if (failed(LaunchFacts::load(options.phases.target, module.getLoc(), facts)))
    return failure();
  FailureOr<CostModel> costs = loadCosts(module, options);
  if (failed(costs))
    return failure();
  return Curve(module, options, facts, *costs).find();
}

void printPareto(llvm::raw_ostream &stream, StringRef path, const Object &curve) {
  if (path.ends_with(".html"))
    return printParetoHtml(stream, curve);
  stream << llvm::formatv("{0:2}\n", llvm::json::Value(Object(curve)));
}

} // namespace reprise
