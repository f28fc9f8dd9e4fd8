// reprise: strategies that look for orders of the launches together with choices
#include "FormOrders.h"
#include "Strategies.h"

using namespace mlir;
using namespace reprise;

/// Adds the program in the proposed order as a form, and packs the proposed plan.
static FailureOr<FormSearch *> packOrdered(PlanSearch &search, const StepPlan &proposed,
                                           int64_t enough) {
  StepPlan shape = search.plain().step.shape;
  shape.order = proposed.order;
  OwningOpRef<ModuleOp> module = copyAlone(search.program);
  if (failed(applyForm(getAlone(*module), shape)))
    return failure();
  FailureOr<FormSearch *> form =
      addForm(search, std::move(module), std::move(shape), search.ordered);
  if (failed(form) || failed(packStart(**form, proposed, search.plain(), enough)))
    return failure();
  return form;
}

/// Tells whether plans in other orders may be cheaper than the best plan so far.
static bool isWorthwhile(const PlanSearch &search, int64_t budget) {
  static constexpr double kNear = 0.002; // of the step
  const FormedStep &plain = search.plain().step;
  const StepPlan *best = findBest(search, budget);
  int64_t room = search.findRoom(budget);
  if (search.context.isLate() || !wantsOrders(plain) ||
      findProvedArena(plain, room, search.context) > 0)
    return false;
  double least = findAnyOrderSeconds(plain, room, search.context);
  return !best || best->overridden > 0 || best->seconds - least > kNear * search.stepSeconds();
}

/// A packed program may exceed the bytes that the search predicts, so the next goal is lower by the
/// excess.
LogicalResult reprise::searchOrders(PlanSearch &search, int64_t budget) {
  static constexpr int kMostRounds = 3;
  if (!isWorthwhile(search, budget))
    return success();
  int64_t room = search.findRoom(budget), goal = room;
  FormSearch *latest = nullptr;
  bool fits = false;
  for (int round = 0; round < kMostRounds && !fits; ++round) {
    int64_t excess = INT64_MAX;
    for (const StepPlan &proposed : proposeOrdered(search.plain(), goal)) {
      FailureOr<FormSearch *> form = packOrdered(search, proposed, room);
      if (failed(form))
        return failure();
      int64_t own = (*form)->packed.back().bytes() - budget;
      latest = own < excess ? *form : latest;
      excess = std::min(excess, own);
      if ((fits = own <= 0))
        break;
    }
    if (excess == INT64_MAX)
      break;
    goal -= excess;
  }
  return latest ? searchWithin(*latest, budget) : success();
}

LogicalResult reprise::packSmallestOrdered(PlanSearch &search, int64_t /*budget*/) {
  if (search.context.isLate() || !wantsOrders(search.plain().step) ||
      std::exchange(search.hasSmallestOrdered, true))
    return success();
  FailureOr<FormSearch *> form =
      packOrdered(search, proposeSmallestOrdered(search.plain()), /*enough=*/0);
  if (succeeded(form))
    search.leastOrdered = (*form)->packed.back().bytes();
  return form;
}
