// reprise: matrix products of emulated libraries
#ifndef REPRISE_GPU_EMULATOR_LIBRARIES_PRODUCT_H
#define REPRISE_GPU_EMULATOR_LIBRARIES_PRODUCT_H

#include "Elements.h"

namespace reprise::emulator {

/// Columns of `rows` elements, `pitch` apart, for each of `batch` matrices, `stride` apart.
struct Matrix {
  int type = typeF32;
  int64_t rows = 0, columns = 0, pitch = 0, batch = 1, stride = 0;
};

/// Product D = op(A) · op(B) + bias, summed in f32 in several parts, which lie in the workspace and
/// are added in order.
struct Product {
  Matrix a, b, d;
  bool transposesA = false, transposesB = false;
  uint64_t parts = 1;
  bool roundsParts = false; ///< whether parts are rounded to the type of D
  const void *atA = nullptr, *atB = nullptr;
  const void *bias = nullptr; ///< bias in D's type, one element per row; null: none
  void *atD = nullptr;
  float *workspace = nullptr; ///< parts · elements of D, if there are several

  int64_t terms() const { return transposesA ? a.rows : a.columns; }
  void run() const;

private:
  /// The sum of an element of D, in f32, gets its bias and its place.
  void store(int64_t number, int64_t row, int64_t column, float sum) const;
};

} // namespace reprise::emulator

#endif
