// reprise: plans of a device program as sequences of executions
#ifndef REPRISE_COMPILER_PLANNER_FORMSEQUENCES_H
#define REPRISE_COMPILER_PLANNER_FORMSEQUENCES_H

#include "FormSearch.h"

namespace reprise {

/// Tells whether the launches of the step may run in other orders, so that a sequence may be better
/// than choices.
bool wantsSequences(const FormedStep &step);

/// Searches sequences for an arena of `goal` bytes, and returns their plans unpacked, the cheapest
/// plan first.
std::vector<StepPlan> proposeSequences(FormSearch &form, int64_t goal);
/// Searches the sequence of the smallest arena. The plan does not depend on earlier proposals.
std::optional<StepPlan> proposeSmallestSequence(const FormSearch &form);

/// Packs `proposed` as the first plan of `form`, which is the step of `from` in the proposed order.
/// An arena of `enough` bytes need not be made smaller; 0 asks for the smallest arena.
mlir::LogicalResult packSequence(FormSearch &form, const StepPlan &proposed, const FormSearch &from,
                                 int64_t enough);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_FORMSEQUENCES_H
