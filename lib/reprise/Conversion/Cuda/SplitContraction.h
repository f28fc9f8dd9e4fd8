// reprise: contractions of few elements and many terms, whose terms are divided among blocks
//
// Each part of the terms is a separate contraction; a second kernel adds the partial results.
// Without parts, the gradient of a weight, or of a filter, has too few tiles to keep a GPU busy.
#ifndef REPRISE_CONVERSION_CUDA_SPLITCONTRACTION_H
#define REPRISE_CONVERSION_CUDA_SPLITCONTRACTION_H

#include "reprise/Conversion/ContractionSpec.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace reprise {

/// Order in which parts of a sum are added.
enum class PartsOrder {
  Canonical, ///< tree of chains, with the bits of an undivided sum
  Rows,      ///< order of row sums, for results without a canonical order
};

struct SplitContraction {
  /// Contraction whose first batch dimensions are the parts; results have the type of sums.
  ContractionSpec spec;
  int64_t parts;
  /// Elements of the final result.
  int64_t elements;
  PartsOrder order;
  mlir::Type resultType;

  int64_t scratchBytes() const;
  /// [parts, elements].
  mlir::RankedTensorType typeOfParts() const;
  /// Builds the sum of the parts, [elements].
  mlir::Value buildSum(mlir::ImplicitLocOpBuilder &b, mlir::Value parts) const;
};

/// Chooses the number of parts only from sizes; none if one part is as fast.
std::optional<SplitContraction> splitContraction(const ContractionSpec &spec, PartsOrder order);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_SPLITCONTRACTION_H
