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

/// Returns true for commands other than launches and loops: calls, transfers, records and waits.
bool isExplicit(mlir::Operation *op);

/// Returns the event of a command that begins in its place on its stream and ends with the event: a
/// transfer, an offload or a fetch. Null for another command.
mlir::Value getEventBeside(mlir::Operation *op);

/// Returns the stream that runs the command.
int64_t getStream(mlir::Operation *op);

/// Returns the name, without its dialect, of the body's op with the most FLOPs by CostOpInterface;
/// "copy" if no op has a cost.
llvm::StringRef getLeaderName(LaunchOp launch);

/// Returns the name of the launch in traces and reports: the leader's name and, if the location has
/// one, the scope in the model.
std::string getLabel(LaunchOp launch);

} // namespace reprise::exec

#endif
