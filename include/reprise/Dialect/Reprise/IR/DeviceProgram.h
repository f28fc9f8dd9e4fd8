// reprise: device programs and their attributes.
#ifndef REPRISE_DIALECT_REPRISE_IR_DEVICEPROGRAM_H
#define REPRISE_DIALECT_REPRISE_IR_DEVICEPROGRAM_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace reprise {

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

/// Finds the device of a program; none for a program of several devices, and for a function that is
/// no program.
std::optional<int64_t> findOnlyDevice(mlir::FunctionOpInterface function);

/// Fails, at the program, if several devices run the program.
mlir::LogicalResult verifyOneDevice(ProgramOp program);

/// The arena in bytes that the plan of a program need not fall below; 0 for the smallest one.
int64_t getEnoughArena(ProgramOp program);

/// The entry that a function or a program is, or is a part of.
llvm::StringRef getEntryName(mlir::FunctionOpInterface program);

/// The error that names a missing device program.
mlir::InFlightDiagnostic emitNoProgram(mlir::ModuleOp module);

/// The device programs of a module, in its order.
llvm::SmallVector<ProgramOp> findPrograms(mlir::ModuleOp module);

} // namespace reprise

#endif
