// reprise: initial values of parameters, state and inputs that the user does not give.
#ifndef REPRISE_REFERENCE_INITIAL_H
#define REPRISE_REFERENCE_INITIAL_H

#include "reprise/Reference/Tensor.h"

namespace reprise {

/// Returns the random stream of an argument: 2^63 | FNV-1a-64 of its name. Streams of ops are below
/// 2^63.
uint64_t initialStream(llvm::StringRef name);

/// Rows of a larger argument along a dimension: the first row, and the number of rows of the whole;
/// 0 for an argument in one piece.
struct RowsOf {
  int64_t first = 0, of = 0, dim = 0;
};

/// Returns the value of the argument `name`, or of rows of it. Draws like the random op of the same
/// distribution under key `seed` and stream initialStream(name). The offset is 0 for parameters and
/// state, and 4·step·⌈elements/4⌉ for inputs.
///
/// `init` is one of the initializers of the dialect: normal, uniform, uniform_int, fill. Values are
/// converted to the element type as `reprise.cast` does: a fill from f64, a uniform_int from i64.
Tensor initialValue(mlir::RankedTensorType type, llvm::StringRef name, mlir::Attribute init,
                    int64_t seed, int64_t step, bool isInput, RowsOf rows = {});

} // namespace reprise

#endif
