// reprise: emits products of small matrices on the tensor cores of a GPU
#ifndef REPRISE_CONVERSION_CUDA_TENSORCORE_H
#define REPRISE_CONVERSION_CUDA_TENSORCORE_H

#include "ThreadKernel.h"
#include "reprise/Conversion/ControlFlow.h"

#include <array>

namespace reprise {

/// Products of operands of one type, bf16 or f16. Sums are in f32. A warp computes them together.
/// An operand is 16 rows and 16 terms, of which a lane has eight; as the second operand its rows
/// are columns of the result.
class TensorCore {
public:
  using Value = mlir::Value;
  using Sums = Carried;
  /// Registers of a lane. In the first operand the first and the third have rows 0 to 7. In the
  /// second one the first and the second have columns 0 to 7: neighbours, as instructions ask.
  using Fragment = std::array<Value, 4>;
  static constexpr int64_t rows = 16, columns = 8, depth = 16, sumsPerLane = 4;

  TensorCore(ThreadKernel &k, mlir::Type type);

  mlir::Type elementType() const { return type; }

  /// Adds the product with the first or the second eight columns of `rhs` to four sums.
  Sums multiply(const Fragment &lhs, const Fragment &rhs, bool second, mlir::ValueRange sums);
  /// Returns sums[i][j] of rows of `lhs` and columns of `rhs`, eight columns at a time.
  Sums multiplyAll(llvm::ArrayRef<Fragment> lhs, llvm::ArrayRef<Fragment> rhs,
                   mlir::ValueRange sums);

  /// Rounds the sums of two adjacent products to an operand of 16-bit floats.
  Fragment round(mlir::ValueRange left, mlir::ValueRange right);
  /// Function that returns the place of an element of a line in shared memory. Eight 16-bit
  /// elements from a multiple of eight on are contiguous.
  using Lines = llvm::function_ref<Value(Value line, Value column)>;
  /// Loads a second operand from shared memory, whose lines are its rows; or its terms, unless
  /// `isByRows`.
  Fragment load(Value memory, bool isByRows, Lines at);

  /// Return, for this lane, its row of eight in an operand and in sums, and its number of four.
  Value group() const { return ofEight; }
  Value member() const { return ofFour; }

private:
  Value pack(Value low, Value high);

  ThreadKernel &k;
  mlir::ImplicitLocOpBuilder &b;
  mlir::Type type;
  Value lane, ofEight, ofFour;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_TENSORCORE_H
