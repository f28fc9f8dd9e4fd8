// reprise: the interfaces of ops for passes, planners and kernels.
#ifndef REPRISE_INTERFACES_INTERFACES_H
#define REPRISE_INTERFACES_INTERFACES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace reprise {

/// Combination of two partial results by a reduction.
enum class ReductionKind { Sum, Product, Max, Min };

/// View of a buffer: element (i0, i1, …) lies at offset + Σ strides[d]·i_d, in elements of the
/// underlying row-major buffer.
struct StridedView {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<int64_t> strides;

  /// Returns the identity view of a row-major tensor.
  static StridedView of(mlir::ShapedType type);
  /// Returns true if the view is the whole buffer in row-major order.
  bool isIdentity() const;
};

/// Returns the number of elements of all results of `op`.
int64_t countResultElements(mlir::Operation *op);

} // namespace reprise

#include "reprise/Interfaces/CostInterface.h.inc"
#include "reprise/Interfaces/DifferentiableInterface.h.inc"
#include "reprise/Interfaces/EmissionInterface.h.inc"
#include "reprise/Interfaces/KindInterfaces.h.inc"
#include "reprise/Interfaces/RandomInterface.h.inc"

#endif
