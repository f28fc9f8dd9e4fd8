// reprise: strategies that look for choices in all forms of a program
#include "Forms.h"
#include "Strategies.h"

#include <cmath>

using namespace mlir;
using namespace reprise;

/// Returns false if no plan of the form within the budget can beat the best plan so far. If only
/// another order of the launches can, which adds no seconds, that order is packed here.
static FailureOr<bool> mayWin(PlanSearch &search, FormSearch &form, double least, int64_t budget) {
  const StepPlan *best = findBest(search, budget);
  bool isObedient = best && best->overridden == 0;
  int64_t room = search.findRoom(budget);
  if (isObedient && form.step.added >= best->seconds)
    return false;
  if (std::isfinite(least) && (!isObedient || least < best->seconds))
    return true;
  if (keepsOrder(form.step.get()) || findProvedArena(form.step, room, search.context) > 0)
    return false;
  if (!isObedient)
    return true;
  if (findAnyOrderSeconds(form.step, room, search.context) >= best->seconds)
    return false;
  if (failed(packFollowed(form)) || failed(packReordered(form, budget)))
    return failure();
  best = findBest(search, budget);
  return llvm::any_of(form.packed, [&](const StepPlan &plan) { return &plan == best; });
}

static LogicalResult searchForm(PlanSearch &search, FormSearch &form, double least,
                                int64_t budget) {
  FailureOr<bool> may = mayWin(search, form, least, budget);
  return failure(failed(may) || (*may && failed(searchWithin(form, budget))));
}

static double findLeast(const PlanSearch &search, const FormSearch &form, int64_t budget) {
  return findLeastSeconds(form.step, search.findRoom(budget), search.context);
}

LogicalResult reprise::searchLikelyForm(PlanSearch &search, int64_t budget) {
  if (!search.likely)
    return success();
  FormSearch &form = *search.likely;
  if (failed(searchForm(search, form, findLeast(search, form, budget), budget)))
    return failure();
  return isEnough(search, budget) ? success() : packSmaller(form);
}

LogicalResult reprise::searchForms(PlanSearch &search, int64_t budget) {
  std::vector<std::pair<double, size_t>> order;
  for (auto [i, form] : llvm::enumerate(search.forms))
    if (&form != search.likely)
      order.push_back({findLeast(search, form, budget), i});
  llvm::sort(order);
  for (auto [least, i] : order) {
    if (isEnough(search, budget) || (i > 0 && search.context.isLate()))
      continue;
    if (failed(searchForm(search, search.forms[i], least, budget)))
      return failure();
  }
  return success();
}

LogicalResult reprise::searchLongUnrolled(PlanSearch &search, int64_t budget) {
  if (search.context.isLate() || !std::exchange(search.isUnrolledLast, false))
    return success();
  return failure(failed(addUnrolled(search)) || failed(addRelaxed(search)) ||
                 failed(searchForms(search, budget)));
}

/// Forms come in the order of their proved arenas. A form whose proved arena is not below the
/// smallest plan so far is left out. The plans do not depend on the budget, so that the least
/// budget of an error is met by the next call.
LogicalResult reprise::searchSmaller(PlanSearch &search, int64_t budget) {
  std::vector<std::pair<int64_t, size_t>> order;
  for (auto [i, form] : llvm::enumerate(search.forms))
    order.push_back({findProvedArena(form.step, 1, search.context), i});
  llvm::sort(order);
  int64_t least = INT64_MAX;
  for (auto [proved, i] : order) {
    FormSearch &form = search.forms[i];
    if (isEnough(search, budget) || (i > 0 && search.context.isLate()) ||
        (proved > 0 && proved >= least))
      continue;
    if (failed(packSmaller(form)))
      return failure();
    least = std::min(least, leastBytes(form));
  }
  return success();
}
