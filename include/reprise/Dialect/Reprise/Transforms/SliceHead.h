// reprise: slices of rows for the widest contraction and its readers
#ifndef REPRISE_DIALECT_REPRISE_TRANSFORMS_SLICEHEAD_H
#define REPRISE_DIALECT_REPRISE_TRANSFORMS_SLICEHEAD_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Runs the contraction with the largest result of the forward pass, or of each micro-batch, and
/// all ops that read values of its size, in slices of `fewestRows` rows or more. One slice runs
/// after the other, with its cotangents behind it. If the backward pass waits for all slices of the
/// forward pass, each pass has slices of its own, and the backward pass computes wide values again.
/// Returns the bytes of that result which need not be in memory at once; 0 if the program is
/// unchanged, because the rows meet in more than sums.
int64_t sliceHead(ProgramOp step, int64_t fewestRows = 256);

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_TRANSFORMS_SLICEHEAD_H
