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

} // namespace reprise::reference

#endif
