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

/// Packs proposed plans until one fits the budget. Returns true if one did, or if none of them is
/// cheaper than the best plan so far.
static FailureOr<bool> packUntilOneFits(PlanSearch &search, ArrayRef<StepPlan> proposed,
                                        int64_t budget) {
  static constexpr size_t kMost = 3;
  int64_t room = search.findRoom(budget);
  for (const StepPlan &plan : proposed.take_front(kMost)) {
    const StepPlan *best = findBest(search, budget);
    // Cheaper ones that did not fit when packed may do so with more room left.
    if (best && best->cost() <= plan.cost())
      return &plan == proposed.begin();
    FailureOr<FormSearch *> form = packInOrder(search, plan, room);
    if (failed(form))
      return failure();
    if ((*form)->packed.back().bytes() <= budget)
      return true;
  }
  return proposed.empty();
}

/// Live ranges in another order are harder to pack, and a packing of exactly the live bytes is
/// seldom found, so the search leaves some of the room. If no packed program fits, it leaves more.
LogicalResult reprise::searchSequences(PlanSearch &search, int64_t budget) {
  static constexpr int64_t kLeftPercent[] = {1, 2, 4, 7};
  if (!isWorthwhile(search, budget))
    return success();
  int64_t room = search.findRoom(budget);
  for (int64_t percent : kLeftPercent) {
    std::vector<StepPlan> proposed = proposeSequences(search.plain(), room - room * percent / 100);
    FailureOr<bool> isDone = packUntilOneFits(search, proposed, budget);
    if (failed(isDone) || *isDone)
      return isDone;
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
