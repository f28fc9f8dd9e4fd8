// reprise: the dialect of steps that are cut into pieces for a pipeline of devices
#ifndef REPRISE_DIALECT_PIPE_IR_PIPE_H
#define REPRISE_DIALECT_PIPE_IR_PIPE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "reprise/Dialect/Reprise/IR/AttributeTable.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Pipeline/Problem.h"

#include "reprise/Dialect/Pipe/IR/PipeDialect.h.inc"
#include "reprise/Dialect/Pipe/IR/PipeEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "reprise/Dialect/Pipe/IR/PipeAttributes.h.inc"
#define GET_OP_CLASSES
#include "reprise/Dialect/Pipe/IR/PipeOps.h.inc"

namespace reprise::pipe {

// The table of attributes (Attributes.cpp) explains each attribute.
inline constexpr llvm::StringLiteral kScheduleRefAttr = "pipe.schedule";
inline constexpr llvm::StringLiteral kHomeAttr = "pipe.home";
inline constexpr llvm::StringLiteral kReplicaAttr = "pipe.replica";
inline constexpr llvm::StringLiteral kCutsAttr = "pipe.cuts";
inline constexpr llvm::StringLiteral kTimingAttr = "pipe.timing";

/// Lists the attributes of the dialect `pipe`.
llvm::ArrayRef<AttributeRow> getAttributeTable();

/// Returns the schedule that the function names; null without the attribute, or if there is no such
/// op.
ScheduleOp findSchedule(ProgramOp function);

/// Returns the cuts that `pipe.cuts` lists on a step or a module; none without the attribute.
llvm::SmallVector<CutAttr> getCuts(mlir::Operation *op);
/// Returns the first cut of `pipe.cuts`; null without the attribute.
CutAttr findTakenCut(mlir::Operation *op);

/// Returns the pieces of a function, in its order.
llvm::SmallVector<PieceOp> getPieces(ProgramOp function);

} // namespace reprise::pipe

#endif // REPRISE_DIALECT_PIPE_IR_PIPE_H
