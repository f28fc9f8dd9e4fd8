// reprise: another order of the ops of a device program
#ifndef REPRISE_DIALECT_REPRISE_TRANSFORMS_PROGRAMORDER_H
#define REPRISE_DIALECT_REPRISE_TRANSFORMS_PROGRAMORDER_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Returns whether `order` contains every op of the program's block except its terminator once,
/// after the ops that it reads from, and whether all of them are pure.
bool isPossible(ProgramOp program, llvm::ArrayRef<int32_t> order);

/// Moves the ops of a program with one gradient into a possible order.
void applyOrder(ProgramOp program, llvm::ArrayRef<int32_t> order);

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_TRANSFORMS_PROGRAMORDER_H
