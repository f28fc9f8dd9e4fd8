// reprise: values that a plan sends to the memory of the host by itself
#ifndef REPRISE_COMPILER_PLANNER_OFFLOADS_H
#define REPRISE_COMPILER_PLANNER_OFFLOADS_H

#include "PlanSearch.h"

namespace reprise {

/// Values that had better wait on the host, by the numbers of `reprise-offload-values`: those that
/// `plan`, which may not fit, makes again or keeps at most cost, up to `mostBytes`; without a plan
/// all that might.
llvm::SmallVector<int64_t> listOffloads(const FormedStep &step, const StepPlan *plan, bool fits,
                                        int64_t mostBytes, const PlanContext &context);

/// The program in the form of `step`, with these values on the host.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
applyOffloads(const PlanSearch &search, StepPlan &shape, llvm::ArrayRef<int64_t> values);

/// `step` with all offloads that may be worth it, each at no more than it costs to make its value
/// again: every plan with any offloads is one of this form, which costs no more.
mlir::FailureOr<FormedStep> relaxOffloads(const PlanSearch &search, const FormedStep &step);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_OFFLOADS_H
