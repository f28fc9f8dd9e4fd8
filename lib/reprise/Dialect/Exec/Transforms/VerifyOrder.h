// reprise: whether what runs beside other commands touches their bytes
#ifndef REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_VERIFYORDER_H
#define REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_VERIFYORDER_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::exec {

/// After the memory phase. Goes through all iterations of a program with calls, transfers or
/// events, and fails on two accesses to the same bytes, one of which writes, that no wait orders.
llvm::LogicalResult verifyOrder(ProgramOp function);

} // namespace reprise::exec

#endif
