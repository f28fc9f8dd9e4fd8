// reprise: the dialect of command lists.
#ifndef REPRISE_DIALECT_EXEC_IR_EXEC_H
#define REPRISE_DIALECT_EXEC_IR_EXEC_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace reprise::exec::detail {
mlir::LogicalResult verifyPlaces(mlir::Operation *op);
} // namespace reprise::exec::detail

#include "reprise/Dialect/Exec/IR/ExecEnums.h.inc"

#include "reprise/Dialect/Exec/IR/ExecDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "reprise/Dialect/Exec/IR/ExecInterfaces.h.inc"
#include "reprise/Dialect/Exec/IR/ExecTypes.h.inc"
#define GET_OP_CLASSES
#include "reprise/Dialect/Exec/IR/ExecOps.h.inc"

namespace reprise::exec {

/// True for what is no launch and no loop, but has its place in the order of commands: calls,
/// transfers, records and waits.
bool isExplicit(mlir::Operation *op);

/// The event of what begins in its place on its stream and has ended when the event has happened: a
/// transfer, an offload or a fetch. Null for another command.
mlir::Value getEventBeside(mlir::Operation *op);

/// The stream that runs the command.
int64_t getStream(mlir::Operation *op);

/// The name, without its dialect, of the body's op that costs most FLOPs as CostOpInterface counts
/// them; "copy" if no op has a cost.
llvm::StringRef getLeaderName(LaunchOp launch);

/// The leader's name and, if the location has one, the scope in the model: what traces and reports
/// call the launch.
std::string getLabel(LaunchOp launch);

} // namespace reprise::exec

#endif
