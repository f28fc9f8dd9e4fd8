// reprise: plans of a device program in other orders of its launches
#ifndef REPRISE_COMPILER_PLANNER_FORMORDERS_H
#define REPRISE_COMPILER_PLANNER_FORMORDERS_H

#include "FormSearch.h"

namespace reprise {

/// Whether launches may run in other orders that spare bytes: in second derivatives, whose passes
/// may interleave.
bool wantsOrders(const FormedStep &step);

/// Plans in other orders of the launches for an arena of `goal` bytes, the best first, which are
/// not packed.
std::vector<StepPlan> proposeOrdered(FormSearch &form, int64_t goal);
/// The same for the smallest arena that is found; whatever was proposed before, the same one.
StepPlan proposeSmallestOrdered(const FormSearch &form);

/// Searches of `form` start from what `from` proposed, too, whose step this is in that order. Packs
/// that plan as it is; an arena of `enough` bytes does, 0 for the lowest.
mlir::LogicalResult packStart(FormSearch &form, const StepPlan &proposed, const FormSearch &from,
                              int64_t enough);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_FORMORDERS_H
