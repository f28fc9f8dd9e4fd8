// reprise: the hash of a run's results
#ifndef REPRISE_RUNTIME_ARRAYHASHER_H
#define REPRISE_RUNTIME_ARRAYHASHER_H

#include "reprise/Runtime/ArrayFile.h"

namespace reprise::runtime {

/// Returns the sum of a mix of position and bits over the elements of an array; NaNs are canonical.
/// Positions of a part are those in the larger array, so the sums of its parts add up to its sum.
uint64_t sumElements(const ArrayRef &array);

/// Returns the hash over name, element type, shape and sum of arrays in their order. The next
/// offset is not included. Consecutive parts of an array count as the whole array. Processes that
/// have different parts exchange sums.
uint64_t hashArrays(const std::vector<ArrayRef> &arrays, const std::vector<uint64_t> &sums);
uint64_t hashArrays(const std::vector<ArrayRef> &arrays);
/// Returns 16 hexadecimal digits.
std::string hashText(uint64_t hash);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_ARRAYHASHER_H
