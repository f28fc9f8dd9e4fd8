// reprise: another order of the ops of a device program
#ifndef REPRISE_DIALECT_REPRISE_TRANSFORMS_PROGRAMORDER_H
#define REPRISE_DIALECT_REPRISE_TRANSFORMS_PROGRAMORDER_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Whether `order` names every op of the program's block but its terminator once, behind those that
/// it reads from, and all of them are pure.
bool isPossible(ProgramOp program, llvm::ArrayRef<int32_t> order);

/// Moves the ops of a program with one gradient into such an order.
void applyOrder(ProgramOp program, llvm::ArrayRef<int32_t> order);

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_TRANSFORMS_PROGRAMORDER_H
