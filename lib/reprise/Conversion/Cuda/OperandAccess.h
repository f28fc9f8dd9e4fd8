// reprise: how the threads of a block load an operand for tensor cores
#ifndef REPRISE_CONVERSION_CUDA_OPERANDACCESS_H
#define REPRISE_CONVERSION_CUDA_OPERANDACCESS_H

#include "cuda/ContractionShape.h"
#include "reprise/Conversion/ContractionSpec.h"

namespace reprise {

/// The largest power of two that divides all, at most `most`.
int64_t findCommonPower(llvm::ArrayRef<int64_t> numbers, int64_t most);

/// Operand in global memory: the element (row, term) of row-major indices of dimensions.
struct GlobalMatrix {
  llvm::SmallVector<FreeDim> rows, terms;
  /// Alignment, in elements, of the address of its first element; at least 1.
  int64_t aligned = 1;

  /// Returns the sizes, and how threads load elements of the type.
  cuda::OperandShape shapeOf(mlir::Type type) const;
  /// Returns whether asynchronous copies can load tiles, without registers.
  bool isCopied(mlir::Type type) const;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_OPERANDACCESS_H
