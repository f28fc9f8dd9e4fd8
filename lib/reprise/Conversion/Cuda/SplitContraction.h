// reprise: contractions of few elements and many terms, whose terms are shared out among blocks
//
// Every part of the terms is a contraction of its own; a second kernel adds up what they give. The
// gradient of a weight, or of a filter, has too few tiles to keep a GPU busy otherwise.
#ifndef REPRISE_CONVERSION_CUDA_SPLITCONTRACTION_H
#define REPRISE_CONVERSION_CUDA_SPLITCONTRACTION_H

#include "reprise/Conversion/ContractionSpec.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace reprise {

/// How parts of a sum meet.
enum class PartsOrder {
  Canonical, ///< in the tree of chains, which leads to the bits of a sum that is in one piece
  Rows,      ///< as rows are summed, for what has no canonical order
};

struct SplitContraction {
  /// Its first dimensions of the batch are the parts; results have the type of sums.
  ContractionSpec spec;
  int64_t parts;
  /// Of the result that is to be computed.
  int64_t elements;
  PartsOrder order;
  mlir::Type resultType;

  int64_t scratchBytes() const;
  /// [parts, elements].
  mlir::RankedTensorType typeOfParts() const;
  /// What they add up to, [elements].
  mlir::Value buildSum(mlir::ImplicitLocOpBuilder &b, mlir::Value parts) const;
};

/// Chooses the number of parts by sizes alone; none where one piece is as fast.
std::optional<SplitContraction> splitContraction(const ContractionSpec &spec, PartsOrder order);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_SPLITCONTRACTION_H
