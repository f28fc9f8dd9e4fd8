// reprise: relations between the dimensions of an op's operands and results
#ifndef REPRISE_INTERFACES_FACTORS_H
#define REPRISE_INTERFACES_FACTORS_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace reprise {

/// Effect of cutting a factor into parts and running the op once per part.
enum class FactorKind {
  Parallel, ///< results have the factor: each part of a result needs its part of the operands
  Summed,   ///< results lack the factor: they are the sum over the parts
  Averaged, ///< results lack the factor: they are the mean over the parts, weighted by size
  Grouped,  ///< each part is a group with its own statistics, as in batch norm
  Coupled   ///< a part of the results needs more than its part of the operands: no cut
};

/// Dimensions of an op, named as in an einsum. Each dimension of an operand or result is a product
/// of factors, slowest first; a factor that occurs in several places is one index. (Sharding rules
/// of Shardy have this form.)
///
/// A factor can be cut if it is the first factor of every dimension that contains it: parts are
/// then ranges of rows.
struct OpFactors {
  struct Factor {
    int64_t size;
    FactorKind kind;
  };
  using Dim = llvm::SmallVector<int, 1>;

  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<llvm::SmallVector<Dim>> operands; ///< factors by operand and dimension
  llvm::SmallVector<llvm::SmallVector<Dim>> results;  ///< factors by result and dimension

  /// Returns the dimension of a value that begins with the factor, or -1.
  static int64_t findDim(llvm::ArrayRef<Dim> dims, int factor);
  /// Returns true unless the factor is coupled, or follows another factor in some dimension.
  bool canCut(int factor) const;
  /// Returns the number of rows of the dimension per index of its first factor.
  int64_t countRows(const Dim &dim) const;
};

} // namespace reprise

#endif // REPRISE_INTERFACES_FACTORS_H
