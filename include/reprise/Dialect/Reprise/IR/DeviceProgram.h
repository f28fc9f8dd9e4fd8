// reprise: device programs and their attributes.
#ifndef REPRISE_DIALECT_REPRISE_IR_DEVICEPROGRAM_H
#define REPRISE_DIALECT_REPRISE_IR_DEVICEPROGRAM_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace reprise {

/// Name of the entry from which a program of a step was cut.
inline constexpr llvm::StringLiteral kEntryAttr = "reprise.entry";

/// Plan of a program (PlanAttr) for `reprise-apply-plan`; after that pass, the rest of the plan for
/// `memory`.
inline constexpr llvm::StringLiteral kPlanAttr = "reprise.plan";

/// Mark of a program whose choices `reprise-checkpoint` has applied: the kernels phase keeps
/// original ops in the launches that they have without replays, as the planner assumes.
inline constexpr llvm::StringLiteral kKeepsLaunchesAttr = "reprise.keeps_launches";

/// Stage of an op of the forward pass, and of the derivatives that inherit it; an array with one
/// stage per iteration for ops in a loop. Valid from `reprise-mark-stages` to the end of
/// `partition`.
inline constexpr llvm::StringLiteral kStageAttr = "reprise.stage";
/// Micro-batch that an op works on. Valid within `partition`.
inline constexpr llvm::StringLiteral kMicrobatchAttr = "reprise.microbatch";
/// Number of micro-batches of a step that replicas share. Valid within `partition`.
inline constexpr llvm::StringLiteral kMicrobatchesAttr = "reprise.microbatches";
/// Mark of an op that sums over the samples of a micro-batch, or adds such a sum to earlier sums.
/// Valid within `partition`.
inline constexpr llvm::StringLiteral kBatchSumAttr = "reprise.batch_sum";
/// Part of the model axis that an op computes. Valid within `partition`.
inline constexpr llvm::StringLiteral kModelPartAttr = "reprise.model_part";

/// Returns the device of a program; none for a program of several devices, and for a function that
/// is no program.
std::optional<int64_t> findOnlyDevice(mlir::FunctionOpInterface function);

/// Fails, at the program, if several devices run the program.
mlir::LogicalResult verifyOneDevice(ProgramOp program);

/// Returns the arena in bytes that is small enough for the plan of a program; 0 asks for the
/// smallest arena.
int64_t getEnoughArena(ProgramOp program);

/// Returns the entry that a function or a program is, or is a part of.
llvm::StringRef getEntryName(mlir::FunctionOpInterface program);

/// Emits the error about a missing device program.
mlir::InFlightDiagnostic emitNoProgram(mlir::ModuleOp module);

/// Returns the device programs of a module, in its order.
llvm::SmallVector<ProgramOp> findPrograms(mlir::ModuleOp module);

} // namespace reprise

#endif
