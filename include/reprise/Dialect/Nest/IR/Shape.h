// reprise: the iteration space of a loop nest
#ifndef REPRISE_DIALECT_NEST_IR_SHAPE_H
#define REPRISE_DIALECT_NEST_IR_SHAPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace reprise::nests {

/// A sum of indices: offset + Σ coefficient · index.
template <typename IndexT> struct Sum {
  int64_t offset = 0;
  llvm::SmallVector<std::pair<IndexT, int64_t>, 4> terms = {};

  int64_t coefficient(IndexT index) const {
    for (auto [own, coefficient] : terms)
      if (own == index)
        return coefficient;
    return 0;
  }
  bool isConstant() const { return terms.empty(); }
  bool operator==(const Sum &other) const { return offset == other.offset && terms == other.terms; }
  bool operator!=(const Sum &other) const { return !(*this == other); }
};

/// Row-major strides of a shape.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Dimensions and the strides of something along them.
struct Strided {
  llvm::SmallVector<int64_t> sizes, strides;
};
/// Drops dimensions of size 1 and joins neighbours that are one dimension of the same stride.
Strided mergeDims(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides);

/// The iteration space: outer × rows × columns, each a product of factors in row-major order.
/// Reductions of last dimensions run along all columns of a row; the others along all rows of an
/// outer entry.
struct Shape {
  llvm::SmallVector<int64_t> outer, rows, columns;
  /// Distances along all factors, in order, in a row-major value that has one element per
  /// iteration; none if the factors are in the order of its dimensions.
  llvm::SmallVector<int64_t> strides = {};

  static int64_t product(llvm::ArrayRef<int64_t> factors);
  int64_t outerSize() const { return product(outer); }
  int64_t rowCount() const { return product(rows); }
  int64_t columnCount() const { return product(columns); }
  int64_t size() const { return outerSize() * rowCount() * columnCount(); }
  /// Tells whether neighbours in a row are neighbours in memory, as stores of lanes need. Returns
  /// false if the last reduced dimension has size 1.
  bool hasDenseColumns() const {
    return strides.empty() || strides.back() == 1 || columns.back() == 1;
  }
  /// The number of the first factor of the columns.
  size_t firstColumn() const { return outer.size() + rows.size(); }
  /// All factors in order.
  llvm::SmallVector<int64_t> factors() const;
  /// Adds dimensions to a group as factors, neighbours joined; at least one. Groups are filled in
  /// their order.
  void addDims(llvm::SmallVector<int64_t> Shape::*group, llvm::ArrayRef<int64_t> sizes,
               llvm::ArrayRef<int64_t> dimStrides);
  /// Cuts a factor into (quotient, remainder) by `divisor`.
  void split(unsigned factor, int64_t divisor);
};

} // namespace reprise::nests

#endif // REPRISE_DIALECT_NEST_IR_SHAPE_H
