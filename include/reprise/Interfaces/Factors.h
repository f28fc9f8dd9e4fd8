// reprise: how the dimensions of an op's operands and results belong together
#ifndef REPRISE_INTERFACES_FACTORS_H
#define REPRISE_INTERFACES_FACTORS_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace reprise {

/// What becomes of an op when a factor is cut into parts, and the op runs once per part.
enum class FactorKind {
  Parallel, ///< results have the factor: each part of them comes from its part of the operands
  Summed,   ///< results do not have it: they are the sum over the parts
  Averaged, ///< results do not have it: they are the mean over the parts, weighted by their sizes
  Grouped,  ///< each part is a group with statistics of its own, as batch norm makes them
  Coupled   ///< a part of the results needs more than its part of the operands: no cut
};

/// An op as an einsum names its dimensions: each dimension of an operand or result is a product of
/// factors, the slowest first, and a factor that stands in several places is one index there.
/// (Sharding rules of Shardy are of this form.)
///
/// A factor can be cut where it is the first one of every dimension that it stands in: parts are
/// then ranges of rows.
struct OpFactors {
  struct Factor {
    int64_t size;
    FactorKind kind;
  };
  using Dim = llvm::SmallVector<int, 1>;

  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<llvm::SmallVector<Dim>> operands; ///< by operand and dimension
  llvm::SmallVector<llvm::SmallVector<Dim>> results;  ///< by result and dimension

  /// The dimension of a value that begins with the factor, or -1 if none does.
  static int64_t findDim(llvm::ArrayRef<Dim> dims, int factor);
  /// True unless the factor is coupled, or stands behind another one in some dimension.
  bool canCut(int factor) const;
  /// How many rows of that dimension one index of its first factor takes.
  int64_t countRows(const Dim &dim) const;
};

} // namespace reprise

#endif // REPRISE_INTERFACES_FACTORS_H
