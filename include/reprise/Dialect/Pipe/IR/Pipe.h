// reprise: the dialect of steps that are cut into pieces for a pipeline of devices
#ifndef REPRISE_DIALECT_PIPE_IR_PIPE_H
#define REPRISE_DIALECT_PIPE_IR_PIPE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "reprise/Planning/Pipeline/Problem.h"

#include "reprise/Dialect/Pipe/IR/PipeDialect.h.inc"
#include "reprise/Dialect/Pipe/IR/PipeEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "reprise/Dialect/Pipe/IR/PipeAttributes.h.inc"
#define GET_OP_CLASSES
#include "reprise/Dialect/Pipe/IR/PipeOps.h.inc"

namespace reprise::pipe {

/// Of a step in pieces, and of its device programs while they are in pieces: its `pipe.schedule`.
inline constexpr llvm::StringLiteral kScheduleRefAttr = "pipe.schedule";
/// Of an argument of a step in pieces: the stage on which it lives. Every device may have the
/// others.
inline constexpr llvm::StringLiteral kHomeAttr = "pipe.home";
/// Array of CutAttr on a step that is cut, later on the module of its programs: the cut that was
/// taken, and behind it the others that were weighed.
inline constexpr llvm::StringLiteral kCutsAttr = "pipe.cuts";
/// TimingAttr of the cut that was taken, beside `pipe.cuts`.
inline constexpr llvm::StringLiteral kTimingAttr = "pipe.timing";

/// The schedule that the function names; null without the attribute, or if there is no such op.
ScheduleOp findSchedule(mlir::func::FuncOp function);

/// The cuts that `pipe.cuts` lists on a step or a module; none without the attribute.
llvm::SmallVector<CutAttr> getCuts(mlir::Operation *op);
/// The first of these cuts; null without the attribute.
CutAttr findTakenCut(mlir::Operation *op);

/// The pieces of a function, in its order.
llvm::SmallVector<PieceOp> getPieces(mlir::func::FuncOp function);

} // namespace reprise::pipe

#endif // REPRISE_DIALECT_PIPE_IR_PIPE_H
