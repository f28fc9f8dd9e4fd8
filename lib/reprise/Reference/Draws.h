// reprise: the words that an op of the graph draws.
#ifndef REPRISE_LIB_REFERENCE_DRAWS_H
#define REPRISE_LIB_REFERENCE_DRAWS_H

#include "Models.h"
#include "reprise/Reference/Random.h"

namespace reprise::reference {

/// Seed, stream and offset of a random op that has been threaded.
Draw drawOf(RandomOpInterface op, Operands operands);

/// The row-major index in the global tensor of every element that the op draws, in row-major order:
/// the drawn tensor is a window at the origin.
std::vector<int64_t> globalIndices(RandomOpInterface op, Operands operands);

/// Draw one number of the distribution per index in the global tensor, rounded to the element type.
Tensor drawUniform(mlir::RankedTensorType type, Draw draw, llvm::ArrayRef<int64_t> indices,
                   double low, double high);
Tensor drawUniformInt(mlir::RankedTensorType type, Draw draw, llvm::ArrayRef<int64_t> indices,
                      int64_t low, int64_t high);
Tensor drawNormal(mlir::RankedTensorType type, Draw draw, llvm::ArrayRef<int64_t> indices,
                  double mean, double std);

} // namespace reprise::reference

#endif
