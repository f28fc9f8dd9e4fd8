// reprise: plans of a device program in other orders of its launches
#ifndef REPRISE_COMPILER_PLANNER_FORMORDERS_H
#define REPRISE_COMPILER_PLANNER_FORMORDERS_H

#include "FormSearch.h"

namespace reprise {

/// Tells whether choices are worth searching together with the order of the launches. Second
/// derivatives are, because their passes may interleave.
bool wantsOrders(const FormedStep &step);

/// Searches plans in other orders of the launches for an arena of `goal` bytes, and returns them
/// unpacked, the best plan first.
std::vector<StepPlan> proposeOrdered(FormSearch &form, int64_t goal);
/// Searches the plan of the smallest arena in any order of the launches. The plan does not depend
/// on earlier proposals.
StepPlan proposeSmallestOrdered(const FormSearch &form);

/// Adds `proposed` to `form` as a starting point and packs it as the first plan of `form`. Form
/// `from` has proposed the plan, and `form` is the same step in the proposed order. An arena of
/// `enough` bytes need not be made smaller; 0 asks for the smallest arena.
mlir::LogicalResult packStart(FormSearch &form, const StepPlan &proposed, const FormSearch &from,
                              int64_t enough);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_FORMORDERS_H
