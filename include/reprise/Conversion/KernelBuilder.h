// reprise: a builder of CPU kernels with the runtime's calling convention
#ifndef REPRISE_CONVERSION_KERNELBUILDER_H
#define REPRISE_CONVERSION_KERNELBUILDER_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace reprise {

/// Builder of one function `void k(ptr buffers, i64 begin, i64 end, ptr workspace)`. Buffers are
/// those of the command in order; [begin, end) are work items; the workspace is private to the
/// worker and aligned to 64 bytes. The function is complete at any time: operations go before its
/// return. A target with another calling convention has its own subclass.
///
/// Index arithmetic uses methods, since its width is a property of the kernel. Elements.h has
/// functions that emit memory accesses, ControlFlow.h functions for loops and branches.
class KernelBuilder {
public:
  /// Adds the function `name` to the module, at the module's location unless another is given.
  KernelBuilder(mlir::ModuleOp module, llvm::StringRef name,
                std::optional<mlir::Location> location = std::nullopt);

  virtual ~KernelBuilder() = default;

  /// Builder of the function's operations.
  mlir::ImplicitLocOpBuilder b;

  mlir::LLVM::LLVMFuncOp function() { return kernel; }
  mlir::Value begin() { return kernel.getArgument(1); }
  mlir::Value end() { return kernel.getArgument(2); }
  virtual mlir::Value workspace() { return kernel.getArgument(3); }
  /// Returns the pointer to the command's buffer `i`, loaded once, at the function's entry.
  virtual mlir::Value buffer(unsigned i);
  /// Returns another lane's value, for kernels whose 32 reduction lanes are threads: the lane whose
  /// number is this lane's number xor the power of two `distance`. All lanes call it together.
  virtual mlir::Value exchange(mlir::Value value, int64_t distance);
  /// Copies 4, 8 or 16 bytes from global to shared memory of a GPU while the thread continues. The
  /// thread may read them after awaitCopies().
  virtual void copyAsync(mlir::Value to, mlir::Value from, int64_t bytes);
  virtual void awaitCopies();
  /// Waits until the memory accesses of all lanes of the warp are visible to all of them.
  virtual void meetWarp();

  mlir::Value i64(int64_t value);
  /// Makes later index arithmetic and loops compute in 32 bits; valid if all indices are below
  /// 2^31. Operands and results stay i64.
  void narrowIndices() { isNarrow = true; }
  /// Returns the index in the type that arithmetic and loops compute in.
  mlir::Value narrow(mlir::Value index);
  /// Returns an index of the type that `narrow` returns, in i64.
  mlir::Value widen(mlir::Value index);
  // Arithmetic on i64. If a constant operand decides the result, no operation is emitted.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t c) { return add(a, i64(c)); }
  mlir::Value mul(mlir::Value a, int64_t c) { return mul(a, i64(c)); }
  /// Returns quotient and remainder of a non-negative index by a positive number.
  mlir::Value div(mlir::Value a, int64_t c);
  mlir::Value rem(mlir::Value a, int64_t c);

protected:
  explicit KernelBuilder(mlir::ImplicitLocOpBuilder builder) : b(std::move(builder)) {}

private:
  template <typename Op> mlir::Value compute(mlir::Value a, mlir::Value b);

  bool isNarrow = false;
  mlir::LLVM::LLVMFuncOp kernel;
  llvm::SmallVector<mlir::Value> buffers;
};

/// Combines the values of `lanes` neighbours (a power of two) in a butterfly, largest distance
/// first. All lanes get the result.
mlir::Value exchangeAll(KernelBuilder &k, mlir::Value value, int64_t lanes,
                        llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

} // namespace reprise

#endif // REPRISE_CONVERSION_KERNELBUILDER_H
