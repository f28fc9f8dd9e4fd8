// reprise: emission of Philox words and of the distributions of the random ops.
//
// Each lane computes the result of reprise/Reference/Random.h. A position is offset + i, with i the
// row-major index of the element in the global tensor; seed, stream and positions are i64.

#ifndef REPRISE_CONVERSION_RANDOM_H
#define REPRISE_CONVERSION_RANDOM_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <array>

namespace reprise {

/// Width of the registers with random words: 64 bits, if vectors multiply 64-bit values fastest, or
/// 32. The words are the same.
enum class WordWidth { Wide, Narrow };

/// Emits the words of `lanes` consecutive elements, as vector<lanes x i32>. `lanes` and, at run
/// time, the first position must be multiples of 4. Seed, stream and position are scalars.
mlir::Value emitPhiloxWords(mlir::ImplicitLocOpBuilder &b, mlir::Value seed, mlir::Value stream,
                            mlir::Value position, int64_t lanes, WordWidth width = WordWidth::Wide);

/// Emits words 4n to 4n + 3 for each n of `blocks`, a scalar or a vector of i64, as i32 in the same
/// shape.
std::array<mlir::Value, 4> emitPhiloxBlocks(mlir::ImplicitLocOpBuilder &b, mlir::Value seed,
                                            mlir::Value stream, mlir::Value blocks);

/// Emits the words of any positions, a scalar or a vector, as i32 in the same shape. Each lane
/// draws its own block, which is four times the work.
mlir::Value emitPhiloxWordsAt(mlir::ImplicitLocOpBuilder &b, mlir::Value seed, mlir::Value stream,
                              mlir::Value positions, WordWidth width = WordWidth::Wide);

/// Emits low + (high - low)·u, with u on the grid of `elementType` (f32, f64, bf16 or f16) from i32
/// words. The result is f64 for f64, otherwise f32; the caller rounds to 16-bit types.
mlir::Value emitUniform(mlir::ImplicitLocOpBuilder &b, mlir::Value words, mlir::Type elementType,
                        double low, double high);

/// Emits low + (w·(high - low) >> 32) as i32, i64 or i1 (not 0), for high - low in [1, 2^32].
mlir::Value emitUniformInt(mlir::ImplicitLocOpBuilder &b, mlir::Value words, mlir::Type elementType,
                           int64_t low, int64_t high);

/// Emits mean + std·z in f32, from the consecutive words of emitPhiloxWords.
mlir::Value emitNormal(mlir::ImplicitLocOpBuilder &b, mlir::Value words, double mean, double std);

/// Emits mean + std·z in f32 at any positions, a scalar or a vector.
mlir::Value emitNormalAt(mlir::ImplicitLocOpBuilder &b, mlir::Value seed, mlir::Value stream,
                         mlir::Value positions, double mean, double std,
                         WordWidth width = WordWidth::Wide);

/// Emits the i1 word < floor(probability·2^32), for a probability in [0, 1].
mlir::Value emitBernoulli(mlir::ImplicitLocOpBuilder &b, mlir::Value words, double probability);

/// Emits +0 if emitBernoulli(rate) is true, otherwise x·(1/(1 - rate)), for f32 or f64.
mlir::Value emitDropout(mlir::ImplicitLocOpBuilder &b, mlir::Value words, mlir::Value x,
                        double rate);

} // namespace reprise

#endif // REPRISE_CONVERSION_RANDOM_H
