// reprise: matrix products of emulated libraries
#include "Product.h"

#include <vector>

using namespace reprise::emulator;

/// The elements of one matrix, by columns; transposed if that is asked for.
static std::vector<float> load(const Matrix &matrix, const void *data, int64_t number,
                               bool transposes) {
  std::vector<float> loaded(size_t(matrix.rows * matrix.columns));
  for (int64_t column = 0; column < matrix.columns; ++column)
    for (int64_t row = 0; row < matrix.rows; ++row)
      loaded[size_t(transposes ? row * matrix.columns + column : column * matrix.rows + row)] =
          loadElement(data, matrix.type, number * matrix.stride + column * matrix.pitch + row);
  return loaded;
}

void Product::store(int64_t number, int64_t row, int64_t column, float sum) const {
  if (bias)
    sum += loadElement(bias, d.type, row);
  storeElement(atD, d.type, number * d.stride + column * d.pitch + row, sum);
}

void Product::run() const {
  int64_t m = d.rows, n = d.columns, k = terms();
  for (int64_t number = 0; number < d.batch; ++number) {
    std::vector<float> left = load(a, atA, number, transposesA), own;
    std::vector<float> right = load(b, atB, number, transposesB);
    for (uint64_t part = 0; part < parts; ++part) {
      int64_t begin = int64_t(part) * k / int64_t(parts),
              end = int64_t(part + 1) * k / int64_t(parts);
      for (int64_t column = 0; column < n; ++column) {
        own.assign(size_t(m), 0);
        for (int64_t term = begin; term < end; ++term)
          for (int64_t row = 0; row < m; ++row)
            own[size_t(row)] += left[size_t(term * m + row)] * right[size_t(column * k + term)];
        for (int64_t row = 0; row < m; ++row) {
          int64_t place = (number * n + column) * m + row;
          if (parts > 1)
            workspace[int64_t(part) * d.batch * m * n + place] =
                roundsParts ? roundElement(own[size_t(row)], d.type) : own[size_t(row)];
          else
            store(number, row, column, own[size_t(row)]);
        }
      }
    }
    for (int64_t i = 0; parts > 1 && i < m * n; ++i) {
      float sum = 0;
      for (uint64_t part = 0; part < parts; ++part)
        sum += workspace[(int64_t(part) * d.batch + number) * m * n + i];
      store(number, i % m, i / m, sum);
    }
  }
}
