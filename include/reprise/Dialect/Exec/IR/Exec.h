// reprise: the dialect of command lists.
#ifndef REPRISE_DIALECT_EXEC_IR_EXEC_H
#define REPRISE_DIALECT_EXEC_IR_EXEC_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "reprise/Dialect/Exec/IR/ExecDialect.h.inc"
#define GET_OP_CLASSES
#include "reprise/Dialect/Exec/IR/ExecOps.h.inc"

#endif
