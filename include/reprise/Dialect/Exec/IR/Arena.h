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

/// The same of the memory of the host that holds what is offloaded; none without an offload.
std::optional<int64_t> getHostBytes(mlir::Operation *function);
void setHostBytes(mlir::Operation *function, int64_t bytes);

} // namespace reprise::exec

#endif
