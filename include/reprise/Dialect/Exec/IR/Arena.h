// reprise: the size of a function's arena.
#ifndef REPRISE_DIALECT_EXEC_IR_ARENA_H
#define REPRISE_DIALECT_EXEC_IR_ARENA_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace reprise::exec {

/// Bytes of the arena that holds every buffer of a function: a fact once the memory phase has
/// placed them; none before.
std::optional<int64_t> getArenaBytes(mlir::Operation *function);
void setArenaBytes(mlir::Operation *function, int64_t bytes);

} // namespace reprise::exec

#endif
