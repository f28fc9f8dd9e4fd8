// reprise: operands and readers of ops, through the ops that launches copy
#ifndef REPRISE_DIALECT_EXEC_TRANSFORMS_READERS_H
#define REPRISE_DIALECT_EXEC_TRANSFORMS_READERS_H

#include "mlir/IR/Operation.h"

namespace reprise::exec {

/// Collects the ops that produce the operands of `op`, through free ops; a chain of free ops may be
/// as long as the graph.
void collectProducers(mlir::Operation *op, llvm::SmallVectorImpl<mlir::Operation *> &producers);

/// Adds the producers for which `isTaken` returns true to `ops`, and theirs, each after its own
/// producers.
void collectProducersIf(mlir::Operation *op, llvm::function_ref<bool(mlir::Operation *)> isTaken,
                        llvm::SmallVectorImpl<mlir::Operation *> &ops);

/// The ops that read a result of the op, looking through free ops.
llvm::SmallVector<mlir::Operation *> findReaders(mlir::Operation *op);

/// Returns the values of which an elementwise op reads slices.
llvm::SmallVector<mlir::Value> collectSliced(mlir::Operation *op);

/// Returns true if `op` reads the result of `producer` from memory. Cotangents and replays read
/// values that the forward pass stored, as they read arguments, including late ones. They also read
/// values stored by replays for other parts of the backward pass, which may have run long before.
bool findsStored(mlir::Operation *op, mlir::Operation *producer);

/// Returns whether the op has readers, all in the same block, and no loop among them. Several
/// readers count only if `countsSeveral`, and only readers of the op's part.
bool isNearReaders(mlir::Operation *op, bool countsSeveral);

/// Returns the bits of an element of the op's first result.
unsigned countBits(mlir::Operation *op);

/// Returns whether the op's elements reach a reduction of the same part with more bits than
/// `narrow`. On the path, all readers of that part are elementwise ops and reductions. A launch
/// that reduces them need not store them.
bool isReducedWide(mlir::Operation *op, unsigned narrow);

} // namespace reprise::exec

#endif // REPRISE_DIALECT_EXEC_TRANSFORMS_READERS_H
