// reprise: strategies that look for sequences of executions
#include "FormSequences.h"
#include "Strategies.h"

using namespace mlir;
using namespace reprise;

/// Adds the program in the proposed order as a form, and packs the proposed plan.
static FailureOr<FormSearch *> packInOrder(PlanSearch &search, const StepPlan &proposed,
                                           int64_t enough) {
  StepPlan shape = search.plain().step.shape;
  shape.order = proposed.order;
  OwningOpRef<ModuleOp> module = copyAlone(search.program);
  if (failed(applyForm(getAlone(*module), shape)))
    return failure();
  FailureOr<FormSearch *> form =
      addForm(search, std::move(module), std::move(shape), search.ordered);
  if (failed(form) || failed(packSequence(**form, proposed, search.plain(), enough)))
    return failure();
  return form;
}

/// Tells whether sequences of at most `goal` live bytes may be cheaper than the best plan so far.
static bool isWorthwhile(const PlanSearch &search, int64_t budget, int64_t goal) {
  static constexpr double kNear = 0.002; // of the step
  const FormedStep &plain = search.plain().step;
  const StepPlan *best = findBest(search, budget);
  if (search.context.isLate() || !wantsSequences(plain) ||
      findProvedArena(plain, goal, search.context) > 0)
    return false;
  double least = findAnyOrderSeconds(plain, goal, search.context);
  return !best || best->overridden > 0 || best->seconds - least > kNear * search.stepSeconds();
}

/// Packs proposed plans until one fits the budget. Returns true if one did, or if none of them is
/// cheaper than the best plan so far.
static FailureOr<bool> packUntilOneFits(PlanSearch &search, ArrayRef<StepPlan> proposed,
                                        int64_t budget) {
  static constexpr size_t kMost = 3;
  int64_t room = search.findRoom(budget);
  for (const StepPlan &plan : proposed.take_front(kMost)) {
    const StepPlan *best = findBest(search, budget);
    if (best && best->cost() <= plan.cost())
      return true;
    FailureOr<FormSearch *> form = packInOrder(search, plan, room);
    if (failed(form))
      return failure();
    if ((*form)->packed.back().bytes() <= budget)
      return true;
  }
  return proposed.empty();
}

/// Returns the largest goal of at most `bytes` bytes. Goals are 1/64 apart and the same for every
/// budget, so that a plan for one budget is also found for another one nearby.
static int64_t findGoal(int64_t bytes) {
  static constexpr int64_t kSteps = 64;
  int64_t goal = int64_t(1) << 62;
  while (goal > std::max<int64_t>(0, bytes))
    goal -= goal / kSteps + 1;
  return goal;
}

/// Live ranges in another order are harder to pack, and a packing of exactly the live bytes is
/// seldom found, so the search leaves some of the room. If no packed program fits, it leaves more.
/// Once one fits, the search goes on as long as a plan for fewer bytes is cheaper. So a larger
/// budget seldom costs more than a smaller one.
LogicalResult reprise::searchSequences(PlanSearch &search, int64_t budget) {
  static constexpr int kMostGoals = 6;
  int64_t room = search.findRoom(budget), goal = findGoal(room - room / 200);
  for (int i = 0; i < kMostGoals && isWorthwhile(search, budget, goal); ++i) {
    const StepPlan *before = findBest(search, budget);
    double seconds = before ? before->seconds : 0;
    std::vector<StepPlan> proposed = proposeSequences(search.plain(), goal);
    FailureOr<bool> isDone = packUntilOneFits(search, proposed, budget);
    if (failed(isDone) || proposed.empty())
      return isDone;
    if (const StepPlan *best = findBest(search, budget);
        *isDone && i > 0 && before && best->seconds >= seconds)
      return success();
    goal = findGoal(goal - 1);
  }
  return success();
}

LogicalResult reprise::packSmallestSequence(PlanSearch &search, int64_t /*budget*/) {
  if (search.context.isLate() || !wantsSequences(search.plain().step) ||
      std::exchange(search.hasSmallestOrdered, true))
    return success();
  std::optional<StepPlan> proposed = proposeSmallestSequence(search.plain());
  if (!proposed)
    return success();
  FailureOr<FormSearch *> form = packInOrder(search, *proposed, /*enough=*/0);
  if (succeeded(form))
    search.leastOrdered = (*form)->packed.back().bytes();
  return form;
}
