// reprise: which functions of a module are device programs.
#ifndef REPRISE_DIALECT_REPRISE_IR_DEVICEPROGRAM_H
#define REPRISE_DIALECT_REPRISE_IR_DEVICEPROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace reprise {

/// The attribute of a function that is the program of a device: the number of the device. From the
/// end of `autodiff` on every phase works on such functions only, one at a time.
inline constexpr llvm::StringLiteral kDeviceAttr = "reprise.device";

/// Of a program that is a part of a step: the name of the entry that it is cut from.
inline constexpr llvm::StringLiteral kEntryAttr = "reprise.entry";

/// The plan of a program (PlanAttr) that `reprise-apply-plan` is to give it; behind that pass what
/// is left of the plan for `memory`.
inline constexpr llvm::StringLiteral kPlanAttr = "reprise.plan";

/// Of a program whose choices `reprise-checkpoint` has followed: the kernels phase leaves its
/// originals in the launches that they have without replays, on which the planner counts.
inline constexpr llvm::StringLiteral kKeepsLaunchesAttr = "reprise.keeps_launches";

/// The stage of an op of the forward pass, and of the derivatives that inherit it; an array with
/// one per iteration for ops in a loop. From `reprise-mark-stages` to the end of `partition`.
inline constexpr llvm::StringLiteral kStageAttr = "reprise.stage";
/// The micro-batch that an op works on. Within `partition`.
inline constexpr llvm::StringLiteral kMicrobatchAttr = "reprise.microbatch";
/// Of an op that sums over the samples of a micro-batch, or adds such a sum to those before. Within
/// `partition`.
inline constexpr llvm::StringLiteral kBatchSumAttr = "reprise.batch_sum";

/// None for a function that is no device program.
std::optional<int64_t> getDevice(mlir::func::FuncOp function);
void setDevice(mlir::func::FuncOp function, int64_t device);

/// The arena in bytes that the plan of a program need not fall below; 0 for the smallest one.
int64_t getEnoughArena(mlir::func::FuncOp program);

/// The entry that a program is, or is a part of.
llvm::StringRef getEntryName(mlir::func::FuncOp program);

/// The device programs of a module, in its order.
llvm::SmallVector<mlir::func::FuncOp> findPrograms(mlir::ModuleOp module);

} // namespace reprise

#endif
