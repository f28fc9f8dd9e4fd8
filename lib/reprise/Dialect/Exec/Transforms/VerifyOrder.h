// reprise: conflicts between commands that run beside other commands and access the same bytes
#ifndef REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_VERIFYORDER_H
#define REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_VERIFYORDER_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::exec {

/// Simulates, after the memory phase, all iterations of a program with calls, transfers or events.
/// Fails on two accesses to the same bytes, one of which writes, that no wait orders.
llvm::LogicalResult verifyOrder(ProgramOp function);

} // namespace reprise::exec

#endif
