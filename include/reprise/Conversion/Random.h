// reprise: emission of Philox words and of the distributions of the random ops.
//
// Lane by lane the results are those of reprise/Reference/Random.h. A position is offset + i, with
// i the row-major index of the element in the global tensor; seed, stream and positions are i64.

#ifndef REPRISE_CONVERSION_RANDOM_H
#define REPRISE_CONVERSION_RANDOM_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <array>

namespace reprise {

/// The registers that emitted code has its words in: 64 bits wide, where vectors multiply those
/// fastest, or 32. The words are the same.
enum class WordWidth { Wide, Narrow };

/// The words of `lanes` consecutive elements, as vector<lanes x i32>: lanes is a multiple of 4, and
/// so must the first position be when the code runs. Seed, stream and position are scalars.
mlir::Value emitPhiloxWords(mlir::ImplicitLocOpBuilder &b, mlir::Value seed, mlir::Value stream,
                            mlir::Value position, int64_t lanes, WordWidth width = WordWidth::Wide);

/// Words 4n to 4n + 3 for each n of `blocks`, a scalar or a vector of i64: i32 in its shape.
std::array<mlir::Value, 4> emitPhiloxBlocks(mlir::ImplicitLocOpBuilder &b, mlir::Value seed,
                                            mlir::Value stream, mlir::Value blocks);

/// The words of any positions, a scalar or a vector, as i32 in the same shape. Each lane draws a
/// block of its own: four times the work.
mlir::Value emitPhiloxWordsAt(mlir::ImplicitLocOpBuilder &b, mlir::Value seed, mlir::Value stream,
                              mlir::Value positions, WordWidth width = WordWidth::Wide);

/// low + (high - low)·u, with u on the grid of `elementType` (f32, f64, bf16 or f16) from i32
/// words. The result is f64 for f64 and else f32; 16-bit types are yet to be rounded.
mlir::Value emitUniform(mlir::ImplicitLocOpBuilder &b, mlir::Value words, mlir::Type elementType,
                        double low, double high);

/// low + (w·(high - low) >> 32) as i32, i64 or i1 (not 0), for high - low in [1, 2^32].
mlir::Value emitUniformInt(mlir::ImplicitLocOpBuilder &b, mlir::Value words, mlir::Type elementType,
                           int64_t low, int64_t high);

/// mean + std·z in f32, of the consecutive words that emitPhiloxWords draws.
mlir::Value emitNormal(mlir::ImplicitLocOpBuilder &b, mlir::Value words, double mean, double std);

/// The same at any positions, a scalar or a vector.
mlir::Value emitNormalAt(mlir::ImplicitLocOpBuilder &b, mlir::Value seed, mlir::Value stream,
                         mlir::Value positions, double mean, double std,
                         WordWidth width = WordWidth::Wide);

/// i1: word < floor(probability·2^32), for a probability in [0, 1].
mlir::Value emitBernoulli(mlir::ImplicitLocOpBuilder &b, mlir::Value words, double probability);

/// +0 where emitBernoulli(rate) hits, else x·(1/(1 - rate)), of f32 or f64.
mlir::Value emitDropout(mlir::ImplicitLocOpBuilder &b, mlir::Value words, mlir::Value x,
                        double rate);

} // namespace reprise

#endif // REPRISE_CONVERSION_RANDOM_H
