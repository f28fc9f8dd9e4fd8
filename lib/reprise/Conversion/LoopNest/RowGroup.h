// reprise: groups of ops that one pass over a space computes
#ifndef REPRISE_CONVERSION_LOOPNEST_ROWGROUP_H
#define REPRISE_CONVERSION_LOOPNEST_ROWGROUP_H

#include "mlir/IR/Operation.h"

namespace reprise::nests {

/// A kernel of more ops than this gains nothing but register pressure.
constexpr size_t maxGroupSize = 40;

/// Elementwise ops on one shape, reductions of some dimensions of it, the last
/// among them, and elementwise ops on the rows that those leave. Where nothing
/// but the last dimension is reduced so, sums over columns can go along.
bool isRowGroup(llvm::ArrayRef<mlir::Operation *> ops);

/// True if ops of the group read values of the group in place, or rows spread
/// over the dimensions that it reduces: what a kernel that walks the space once
/// has in registers.
bool readsInPlace(llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<int64_t> reduced);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_ROWGROUP_H
