// reprise: affine functions of the symbols of a loop nest
#ifndef REPRISE_CONVERSION_LOOPNEST_AFFINE_H
#define REPRISE_CONVERSION_LOOPNEST_AFFINE_H

#include "reprise/Dialect/Nest/IR/Shape.h"

#include <optional>

namespace reprise::nests {

/// A sum of symbols, which are numbers of a table. Terms ascend by symbol, none is zero.
struct Affine : Sum<unsigned> {
  static Affine constant(int64_t value);
  static Affine symbol(unsigned number);

  Affine operator+(const Affine &other) const;
  Affine operator*(int64_t factor) const;
  Affine operator+(int64_t value) const;
  bool operator<(const Affine &other) const;
  /// With `value` in place of a symbol.
  Affine substitute(unsigned number, const Affine &value) const;
};

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

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_AFFINE_H
