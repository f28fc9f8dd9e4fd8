// reprise: affine functions of the symbols of a loop nest
#ifndef REPRISE_CONVERSION_LOOPNEST_AFFINE_H
#define REPRISE_CONVERSION_LOOPNEST_AFFINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace reprise::nests {

/// offset + Σ coefficient · symbol. Symbols are numbers of a table; terms ascend by symbol, none is
/// zero.
struct Affine {
  int64_t offset = 0;
  llvm::SmallVector<std::pair<unsigned, int64_t>, 4> terms;

  static Affine constant(int64_t value);
  static Affine symbol(unsigned number);

  Affine operator+(const Affine &other) const;
  Affine operator*(int64_t factor) const;
  Affine operator+(int64_t value) const;
  bool operator==(const Affine &other) const {
    return offset == other.offset && terms == other.terms;
  }
  bool operator!=(const Affine &other) const { return !(*this == other); }
  bool operator<(const Affine &other) const;

  int64_t coefficient(unsigned number) const;
  bool isConstant() const { return terms.empty(); }
  /// With `value` in place of a symbol.
  Affine substitute(unsigned number, const Affine &value) const;
};

/// Row-major strides of a shape.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// A symbol that must fall apart into a quotient and a remainder by `divisor`.
struct Split {
  unsigned symbol;
  int64_t divisor;
};

/// The index, in a shape without zeros, of a row-major position inside of it; symbol s runs over
/// [0, sizes[s]). None if an index is not affine: then `split` says which symbol has to fall apart
/// first, if that helps.
std::optional<llvm::SmallVector<Affine>> delinearize(const Affine &position,
                                                     llvm::ArrayRef<int64_t> shape,
                                                     llvm::ArrayRef<int64_t> sizes,
                                                     std::optional<Split> &split);

/// Dimensions and the strides of something along them.
struct Strided {
  llvm::SmallVector<int64_t> sizes, strides;
};
/// Drops dimensions of size 1 and joins neighbours that are one dimension of the same stride.
Strided mergeDims(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_AFFINE_H
