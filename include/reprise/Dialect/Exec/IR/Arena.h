// reprise: the size of a function's arena.
#ifndef REPRISE_DIALECT_EXEC_IR_ARENA_H
#define REPRISE_DIALECT_EXEC_IR_ARENA_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace reprise::exec {

/// Returns the bytes of the arena that holds every buffer of a function; none before the memory
/// phase has placed the buffers.
std::optional<int64_t> getArenaBytes(mlir::Operation *function);
void setArenaBytes(mlir::Operation *function, int64_t bytes);

/// Returns the bytes of host memory that holds offloaded values; none without an offload.
std::optional<int64_t> getHostBytes(mlir::Operation *function);
void setHostBytes(mlir::Operation *function, int64_t bytes);

} // namespace reprise::exec

#endif
