// reprise: the draws of random ops for one element, as the interpreter computes them
// (docs/explanation/Random.md).
//
// Floating-point draws come in the compute type (f32 for bf16 and f16); the caller rounds once to
// the element type, as after any other op. Attributes are f64; values derived from them are
// computed in f64 and rounded to the compute type.

#ifndef REPRISE_REFERENCE_RANDOM_H
#define REPRISE_REFERENCE_RANDOM_H

#include "common/Philox.h"
#include <cstdint>

namespace reprise::reference {

/// Random words of one random op in one call.
struct Draw {
  uint64_t seed;
  uint64_t stream;
  uint64_t offset;

  /// Returns the word of the element with this row-major index in the global tensor.
  uint32_t word(uint64_t index) const { return philoxWord(seed, stream, offset, index); }
};

/// Returns low + (high - low)·u with u in [0, 1) on the grid of the element type: `(w >> 8)·2^-24`
/// for f32, `(w >> 21)·2^-11` for f16, `(w >> 24)·2^-8` for bf16, `w·2^-32` for f64. The product
/// and the sum round.
float uniformF32(const Draw &draw, uint64_t index, double low = 0, double high = 1);
float uniformF16(const Draw &draw, uint64_t index, double low = 0, double high = 1);
float uniformBf16(const Draw &draw, uint64_t index, double low = 0, double high = 1);
double uniformF64(const Draw &draw, uint64_t index, double low = 0, double high = 1);

/// Returns low + (w·(high - low) >> 32), for high - low in [1, 2^32].
int64_t uniformInt(const Draw &draw, uint64_t index, int64_t low, int64_t high);

/// Returns mean + std·z in f32, with two roundings. Elements 2k and 2k+1 are r·cos(2πu2) and
/// r·sin(2πu2) with r = √(-2 log u1), u1 = ((w >> 8) + 1)·2^-24 from word 2k and u2 = (w >>
/// 8)·2^-24 from word 2k+1 (Box and Muller). The offset is a multiple of 4, so a pair lies in one
/// block.
float normal(const Draw &draw, uint64_t index, double mean = 0, double std = 1);

/// Returns floor(probability·2^32): a word below it, as a 64-bit number, is a hit. The probability
/// is in [0, 1].
uint64_t hitThreshold(double probability);

/// Returns true iff word < floor(probability·2^32).
bool bernoulli(const Draw &draw, uint64_t index, double probability);

/// Returns +0 if bernoulli(rate) is true, otherwise x·(1/(1 - rate)).
float dropout(const Draw &draw, uint64_t index, float x, double rate);
double dropout(const Draw &draw, uint64_t index, double x, double rate);

} // namespace reprise::reference

#endif // REPRISE_REFERENCE_RANDOM_H
