// reprise: values that a plan sends to the memory of the host by itself
#ifndef REPRISE_COMPILER_PLANNER_OFFLOADS_H
#define REPRISE_COMPILER_PLANNER_OFFLOADS_H

#include "PlanSearch.h"

namespace reprise {

/// Returns up to `mostBytes` of values that are worth offloading to the host, by the numbers of
/// `reprise-offload-values`. Values that `plan` replays at the highest cost per byte come first; if
/// `plan` does not fit (`fits` is false), the largest saved values do. Without a plan all values
/// that may be offloaded are returned.
llvm::SmallVector<int64_t> listOffloads(const FormedStep &step, const StepPlan *plan, bool fits,
                                        int64_t mostBytes, const PlanContext &context);

/// Returns a copy of the program in the form of `shape` with these values on the host, and adds the
/// values to `shape`.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
applyOffloads(const PlanSearch &search, StepPlan &shape, llvm::ArrayRef<int64_t> values);

/// Returns `step` with all offloads that may be worthwhile. Fetching a value costs at most as many
/// seconds there as replaying it, so that lower bounds of this step hold for plans with any
/// offloads.
mlir::FailureOr<FormedStep> relaxOffloads(const PlanSearch &search, const FormedStep &step);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_OFFLOADS_H
