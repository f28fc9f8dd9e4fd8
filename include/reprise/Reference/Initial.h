// reprise: the values that parameters, state and inputs have when the user gives none.
#ifndef REPRISE_REFERENCE_INITIAL_H
#define REPRISE_REFERENCE_INITIAL_H

#include "reprise/Reference/Tensor.h"

namespace reprise {

/// The random stream of an argument: 2^63 | FNV-1a-64 of its name. Streams of ops are below 2^63.
uint64_t initialStream(llvm::StringRef name);

/// Rows of a larger argument: where they begin, and how many it has; 0 for one in one piece.
struct RowsOf {
  int64_t first = 0, of = 0;
};

/// The value of the argument `name`, or of rows of it, drawn like the random op of the same
/// distribution under key `seed` and stream initialStream(name), from offset 0 for parameters and
/// state and from 4·step·⌈elements/4⌉ for inputs.
///
/// `init` is one of the initializers of the dialect: normal, uniform, uniform_int, fill. What does
/// not fit the element type is converted as `reprise.cast` does: a fill from f64, a uniform_int
/// from i64.
Tensor initialValue(mlir::RankedTensorType type, llvm::StringRef name, mlir::Attribute init,
                    int64_t seed, int64_t step, bool isInput, RowsOf rows = {});

} // namespace reprise

#endif
