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

/// Tells whether sequences may be cheaper than the best plan so far.
static bool isWorthwhile(const PlanSearch &search, int64_t budget) {
  static constexpr double kNear = 0.002; // of the step
  const FormedStep &plain = search.plain().step;
  const StepPlan *best = findBest(search, budget);
  int64_t room = search.findRoom(budget);
  if (search.context.isLate() || !wantsSequences(plain) ||
      findProvedArena(plain, room, search.context) > 0)
    return false;
  double least = findAnyOrderSeconds(plain, room, search.context);
  return !best || best->overridden > 0 || best->seconds - least > kNear * search.stepSeconds();
}

/// A packed program may exceed the bytes that the search predicts, so the next goal is lower by the
/// excess.
LogicalResult reprise::searchSequences(PlanSearch &search, int64_t budget) {
  static constexpr int kMostRounds = 3;
  if (!isWorthwhile(search, budget))
    return success();
  int64_t room = search.findRoom(budget), goal = room;
  for (int round = 0; round < kMostRounds; ++round) {
    std::optional<StepPlan> proposed = proposeSequence(search.plain(), goal);
    const StepPlan *best = findBest(search, budget);
    if (!proposed || (best && best->cost() <= proposed->cost()))
      return success();
    FailureOr<FormSearch *> form = packInOrder(search, *proposed, room);
    if (failed(form))
      return failure();
    int64_t excess = (*form)->packed.back().bytes() - budget;
    if (excess <= 0)
      return success();
    goal -= excess;
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
