// reprise: the plans of a device program in one form, for many budgets
#include "FormSearch.h"

#include "Packer.h"

using namespace mlir;
using namespace reprise;
using checkpoint::Plan;

static constexpr int kMostRounds = 6;
/// The next order must free this part of the arena.
static constexpr int64_t kOrderSteps = 32;
/// Smallest part of the peak that is worth one more round.
static constexpr int64_t kWorthARound = 100;

FormSearch::FormSearch(FormedStep formed, const PlanContext &context)
    : step(std::move(formed)), context(context) {
  if (step.scope)
    choices = std::make_unique<checkpoint::BudgetPlanner>(step.scope->problem, step.footprint,
                                                          context.search);
}

bool FormSearch::isLate() {
  bool isNow = context.isLate();
  isTruncated |= isNow;
  return isNow;
}

void reprise::forget(FormSearch &form, bool keepsFollowed) {
  bool isPacked = !form.packed.empty();
  if (isPacked && !keepsFollowed)
    form.kept = form.packed.front();
  form.packed.resize(keepsFollowed && isPacked);
  if (form.choices)
    form.choices->forget();
  form.sequences.reset();
  form.reorderedFor = -1;
  form.hasDescended = false;
}

LogicalResult reprise::packAndKeep(FormSearch &form, StepPlan plan, int64_t enough) {
  plan.enoughArena = enough;
  if (failed(pack(form.step, plan, form.context)))
    return failure();
  form.packed.push_back(std::move(plan));
  return success();
}

StepPlan reprise::describe(const FormSearch &form, const Plan &plan) {
  StepPlan described = form.step.shape;
  described.choices = plan.choices;
  described.peak = plan.usage.peak;
  described.overridden = plan.overridden;
  described.seconds += plan.usage.seconds;
  return described;
}

LogicalResult reprise::packFollowed(FormSearch &form) {
  if (!form.packed.empty())
    return success();
  if (form.kept) {
    form.packed.push_back(*form.kept);
    return success();
  }
  FormedStep &step = form.step;
  StepPlan followed = step.shape;
  if (form.choices)
    followed.seconds += form.choices->followed().usage.seconds;
  if (failed(packAndKeep(form, std::move(followed), 0)))
    return failure();
  // Labels also make bodies of loops replay values. The footprint does not count those seconds.
  if (hasLoops(step) && !step.shape.form.count(checkpoint::Form::BodiesRecomputed)) {
    StepPlan &packed = form.packed.front();
    double more = packed.programSeconds - step.base - packed.seconds;
    for (double *seconds : {&step.added, &step.shape.seconds, &packed.seconds})
      *seconds += more;
  }
  return success();
}

LogicalResult reprise::packReordered(FormSearch &form, int64_t budget) {
  const StepPlan &followed = form.followed();
  bool isDone = followed.bytes() <= budget || form.reorderedFor == budget;
  if (isDone || !form.step.shape.order.empty() || form.isLate())
    return success();
  form.reorderedFor = budget;
  return packAndKeep(form, followed, std::max<int64_t>(1, budget - followed.workspace));
}

/// Searches choices whose peak is at most `goal` bytes.
static std::optional<StepPlan> propose(FormSearch &form, int64_t goal) {
  if (!form.choices)
    return std::nullopt;
  std::optional<Plan> plan = form.choices->plan(goal);
  form.isTruncated |= form.choices->isTruncated();
  return plan ? std::optional(describe(form, *plan)) : std::nullopt;
}

/// Tells whether no plan can be cheaper than the plan of the labels.
static bool isCheapest(const FormSearch &form) {
  return form.followed().seconds <= form.step.added + form.step.cheapest || !form.choices->isOpen();
}

/// Searches choices for a goal, a peak of live bytes, and packs them. If the packed program exceeds
/// the budget, the next goal is lower by the excess, or by half of it if no choices reach that
/// goal. If the program needs less than its peak, the goal is raised by the difference once.
static LogicalResult searchByGoals(FormSearch &form, int64_t budget) {
  int64_t room = budget - form.followed().workspace, goal = room, peak = 0; // of the last plan
  bool isRaised = false;
  for (int round = 0; round < kMostRounds && (round == 0 || !form.isLate()); ++round) {
    std::optional<StepPlan> proposed = propose(form, goal);
    if (!proposed && peak - goal > peak / kWorthARound) {
      goal += (peak - goal) / 2; // another plan may pack better than the last one
      continue;
    }
    if (!proposed)
      break;
    peak = proposed->peak;
    if (failed(packAndKeep(form, std::move(*proposed), std::max<int64_t>(1, room))))
      return failure();
    const StepPlan &latest = form.packed.back();
    bool fits = latest.bytes() <= budget;
    bool isLower = latest.peak - latest.arena > latest.peak / kWorthARound;
    if (fits && (isRaised || !isLower))
      return success();
    goal = std::min(goal, latest.peak) - (latest.bytes() - budget);
    isRaised |= fits;
  }
  return success();
}

LogicalResult reprise::searchWithin(FormSearch &form, int64_t budget) {
  if (failed(packFollowed(form)))
    return failure();
  if (form.followed().bytes() <= budget && isCheapest(form))
    return success();
  return failure(failed(packReordered(form, budget)) || failed(searchByGoals(form, budget)));
}

/// Packs the plans of the planner's descent.
static LogicalResult descend(FormSearch &form) {
  const checkpoint::Descent &descent = form.choices->descend();
  for (const Plan &plan : llvm::drop_begin(descent.plans)) {
    if (&plan != &descent.plans.back() && form.isLate())
      continue;
    form.descents.push_back(describe(form, plan));
    if (failed(pack(form.step, form.descents.back(), form.context)))
      return failure();
  }
  form.isTruncated |= descent.isTruncated;
  return success();
}

/// Packs the smallest plan of the descent, or the plan of the labels, in orders of the launches
/// with fewer and fewer bytes. Plans for a budget are not used, so that every budget has the same
/// orders.
static LogicalResult packSmallerOrders(FormSearch &form) {
  if (keepsOrder(form.step.get()))
    return success();
  auto isSmaller = [](const StepPlan &a, const StepPlan &b) { return a.bytes() < b.bytes(); };
  StepPlan plan = form.followed();
  if (auto least = llvm::min_element(form.descents, isSmaller);
      least != form.descents.end() && isSmaller(*least, plan))
    plan = *least;
  for (int64_t before = INT64_MAX; plan.arena < before && !form.isLate();) {
    before = plan.arena;
    StepPlan next = plan;
    next.enoughArena = before - std::max<int64_t>(1, before / kOrderSteps);
    if (failed(pack(form.step, next, form.context)))
      return failure();
    form.descents.push_back(next);
    plan = isSmaller(next, plan) ? next : plan;
  }
  return success();
}

LogicalResult reprise::packSmaller(FormSearch &form) {
  if (failed(packFollowed(form)))
    return failure();
  if (!form.choices || std::exchange(form.hasDescended, true))
    return success();
  if (form.descents.empty() && (failed(descend(form)) || failed(packSmallerOrders(form))))
    return failure();
  llvm::append_range(form.packed, form.descents);
  return success();
}

int64_t reprise::leastBytes(const FormSearch &form) {
  int64_t least = form.packed.empty() ? INT64_MAX : form.followed().bytes();
  for (const StepPlan &plan : form.descents)
    least = std::min(least, plan.bytes());
  return least;
}
