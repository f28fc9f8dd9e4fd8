// reprise: what an op reads, and what reads it, looking through the ops that launches copy
#ifndef REPRISE_DIALECT_EXEC_TRANSFORMS_READERS_H
#define REPRISE_DIALECT_EXEC_TRANSFORMS_READERS_H

#include "mlir/IR/Operation.h"

namespace reprise::exec {

/// The ops that produce what `op` reads, looking through free ops, of which a chain may be as long
/// as the graph.
void collectProducers(mlir::Operation *op, llvm::SmallVectorImpl<mlir::Operation *> &producers);

/// The ops that read a result of the op, looking through free ops.
llvm::SmallVector<mlir::Operation *> findReaders(mlir::Operation *op);

/// What an elementwise op reads slices of.
llvm::SmallVector<mlir::Value> collectSliced(mlir::Operation *op);

/// True if `op` finds what `producer` makes in memory: cotangents and replays what the forward pass
/// stored, as they find arguments, late ones, too, and what replays for other parts of the backward
/// pass stored, which may have run long before.
bool findsStored(mlir::Operation *op, mlir::Operation *producer);

/// Whether something reads the op, all of it in the same block, and no loop. Several readers count
/// if `countsSeveral`, and if they are of the op's part.
bool isNearReaders(mlir::Operation *op, bool countsSeveral);

/// Of an element of the op's first result.
unsigned countBits(mlir::Operation *op);

/// Whether elements of more bits than `narrow` go from the op to a reduction of the same part, all
/// the way through ops that nothing else of that part reads but elementwise ops and reductions. A
/// launch that reduces them needs them in no memory.
bool isReducedWide(mlir::Operation *op, unsigned narrow);

} // namespace reprise::exec

#endif // REPRISE_DIALECT_EXEC_TRANSFORMS_READERS_H
