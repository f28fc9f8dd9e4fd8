// reprise: reductions of arrays in parts
#ifndef REPRISE_DIALECT_REPRISE_TRANSFORMS_PARTREDUCTION_H
#define REPRISE_DIALECT_REPRISE_TRANSFORMS_PARTREDUCTION_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Returns true for a sum, product, maximum or minimum over all elements of an array that rounds
/// nothing between its blocks.
bool reducesParts(mlir::Operation *op);

/// Reduces an array whose parts are consecutive rows, with the bits of `op` on the whole array. The
/// blocks of a reduction meet in the tree of neighbours (docs/explanation/Bits.md). A node of this
/// tree whose elements lie in one part is the reduction of a range of the part. A block on the
/// border of two parts reads a few elements of each. The upper nodes have the attributes of `op`,
/// and `mark` marks each op that works on a part. Returns the result; new ops stand before `op`.
mlir::Value reduceParts(mlir::Operation *op, llvm::ArrayRef<mlir::Value> parts,
                        llvm::function_ref<void(mlir::Operation *, int64_t part)> mark);

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_TRANSFORMS_PARTREDUCTION_H
