// reprise: a device program in one form, as a problem of choices with its bounds
#include "FormedStep.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Checkpoint/Bound/Bound.h"
#include "reprise/Planning/Checkpoint/Problem/Validate.h"
#include "reprise/Planning/Checkpoint/Schedule/Meter.h"

using namespace mlir;
using namespace reprise;
using checkpoint::Choice;

/// Number of launches that a bound looks at, and steps of the joint bound.
static constexpr int kBoundLaunches = 4, kJointLaunches = 60;

FailureOr<FormedStep> reprise::survey(OwningOpRef<ModuleOp> module, StepPlan shape,
                                      const PlanContext &context,
                                      std::optional<double> plainSeconds) {
  FormedStep step;
  step.module = std::move(module);
  step.shape = std::move(shape);
  ProgramOp function = step.get();
  double bare = findStepSeconds(function, *context.facts, context.costs);
  step.scope = findJointScope(function);
  if (step.scope) {
    const checkpoint::Problem &problem = step.scope->problem;
    FailureOr<checkpoint::Footprint> footprint =
        findFootprint(*step.scope, function, *context.facts, context.costs, &step.links);
    if (failed(footprint))
      return failure();
    step.footprint = std::move(*footprint);
    if (auto defect = checkpoint::validate(problem, step.footprint))
      return function.emitError("internal error in the cost model: ") << defect->message;
    std::vector<Choice> all(problem.values.size(), Choice::Save);
    bare -= checkpoint::Meter(problem, step.footprint).measure(all, 0).seconds;
    step.cheapest = checkpoint::findBound(problem, step.footprint, INT64_MAX, kBoundLaunches,
                                          context.search.isLate)
                        .seconds;
  }
  step.base = plainSeconds.value_or(bare);
  step.added = step.shape.seconds = bare - step.base;
  return step;
}

double reprise::price(const FormedStep &step, const std::vector<Choice> &choices) {
  const checkpoint::Problem &problem = step.scope->problem;
  return step.added + checkpoint::Meter(problem, step.footprint).measure(choices, 0).seconds;
}

std::optional<checkpoint::Recount>
reprise::count(const FormedStep &step, const std::vector<checkpoint::Execution> &executions,
               const PlanContext &context) {
  const checkpoint::Problem &problem = step.scope->problem;
  std::optional<NamedExecutions> named = findPlaces(step.get(), step.scope->ops, executions);
  if (!named)
    return std::nullopt;
  exec::LaunchNumbers numbers = exec::numberLaunches(step.get(), context.facts->getTarget());
  for (checkpoint::Execution &execution : named->executions)
    if (execution.before >= 0)
      execution.launch = numbers.of.lookup_or(step.scope->ops[execution.before], -1);
  std::optional<checkpoint::Schedule> schedule =
      checkpoint::placeExecutions(problem, named->executions);
  if (!schedule)
    return std::nullopt;
  checkpoint::Solution solution = checkpoint::describe(problem, *schedule);
  if (checkpoint::validate(problem, solution, /*isJoined=*/true))
    return std::nullopt;
  return checkpoint::recount(problem, step.footprint, solution);
}

bool reprise::hasLoops(const FormedStep &step) {
  return !step.get().getBody().front().getOps<LoopOp>().empty();
}

double reprise::findLeastSeconds(const FormedStep &step, int64_t room, const PlanContext &context) {
  if (!step.scope)
    return step.added;
  checkpoint::Bound bound = checkpoint::findBound(step.scope->problem, step.footprint, room,
                                                  kBoundLaunches, context.search.isLate);
  return bound.isFeasible ? step.added + bound.seconds : std::numeric_limits<double>::infinity();
}

double reprise::findAnyOrderSeconds(const FormedStep &step, int64_t room,
                                    const PlanContext &context) {
  if (!step.scope)
    return step.added;
  return step.added + checkpoint::findAnyOrderBound(step.scope->problem, step.footprint, room,
                                                    kBoundLaunches, context.search.isLate)
                          .seconds;
}

double reprise::findBound(const FormedStep &step, int64_t room, const StepPlan &plan,
                          const PlanContext &context) {
  // We compute the joint bound for wide gaps only, because it needs about 0.1 s per 1,000 ops.
  static constexpr double kWideGap = 0.005;
  if (plan.isReordered || !step.scope)
    return findAnyOrderSeconds(step, room, context);
  const checkpoint::Problem &problem = step.scope->problem;
  const IsOver &isLate = context.search.isLate;
  double all = step.added +
               checkpoint::findBound(problem, step.footprint, room, kBoundLaunches, isLate).seconds;
  if (plan.seconds - all <= kWideGap * step.base)
    return all;
  double known = plan.seconds - step.added;
  return std::max(all, step.added + checkpoint::findJointBound(problem, step.footprint, room, known,
                                                               kJointLaunches, isLate));
}

int64_t reprise::findProvedArena(const FormedStep &step, int64_t room, const PlanContext &context) {
  if (!step.scope)
    return 0;
  int64_t missing = checkpoint::findAnyOrderBound(step.scope->problem, step.footprint, room,
                                                  kBoundLaunches, context.search.isLate)
                        .missing;
  return missing > 0 ? room + missing : 0;
}
