// reprise: a builder of CPU kernels with the runtime's calling convention
#ifndef REPRISE_CONVERSION_KERNELBUILDER_H
#define REPRISE_CONVERSION_KERNELBUILDER_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace reprise {

/// Builds one function `void k(ptr buffers, i64 begin, i64 end, ptr workspace)`. Buffers are those
/// of the command in order; [begin, end) are work items; the workspace is private to the worker and
/// aligned to 64 bytes. The function is complete at any time: operations go before its return. A
/// machine with another calling convention has a class of its own.
///
/// In memory an element of i1 is one byte, 0 or 1, and every other type is itself. In registers a
/// value is a scalar (width 1) or a vector of one dimension.
class KernelBuilder {
public:
  using Carried = llvm::SmallVector<mlir::Value>;
  /// Gets the induction variable and the carried values, returns their next values.
  using LoopBody = llvm::function_ref<Carried(mlir::Value, mlir::ValueRange)>;

  /// Adds the function `name` to the module, at the module's location unless another is given.
  KernelBuilder(mlir::ModuleOp module, llvm::StringRef name,
                std::optional<mlir::Location> location = std::nullopt);

  virtual ~KernelBuilder() = default;

  mlir::ImplicitLocOpBuilder &builder() { return b; }
  mlir::LLVM::LLVMFuncOp function() { return kernel; }
  mlir::Value begin() { return kernel.getArgument(1); }
  mlir::Value end() { return kernel.getArgument(2); }
  virtual mlir::Value workspace() { return kernel.getArgument(3); }
  /// The pointer to the command's buffer `i`, loaded once, at the function's entry.
  virtual mlir::Value buffer(unsigned i);
  /// Where the 32 lanes of a reduction are threads: the value that the lane has whose number
  /// differs by the power of two `distance`, as an exclusive or. All lanes ask at once.
  virtual mlir::Value exchange(mlir::Value value, int64_t distance);
  /// The butterfly among `lanes` neighbours, a power of two, the farthest first: all get the
  /// result.
  mlir::Value exchangeAll(mlir::Value value, int64_t lanes,
                          llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  /// Copies 4, 8 or 16 bytes from the memory of a GPU to that of a block while the thread goes on;
  /// the thread may read them when it has waited for its copies.
  virtual void copyAsync(mlir::Value to, mlir::Value from, int64_t bytes);
  virtual void awaitCopies();
  /// What the lanes of a warp have done in memory is done for all of them behind this.
  virtual void meetWarp();

  /// `type` itself for width 1, else a vector of it.
  static mlir::Type typeOf(mlir::Type elementType, int64_t width);
  /// The type that arithmetic on an element uses: f32 for bf16 and f16, else the type itself.
  static mlir::Type computeType(mlir::Type elementType);
  /// Bytes of an element in memory.
  static int64_t bytesOf(mlir::Type elementType);

  mlir::Value i64(int64_t value);
  /// A number of a float or integer type, or a vector of it in every lane.
  mlir::Value constant(mlir::Type type, double value);
  /// All lanes equal to a scalar; the scalar itself for width 1.
  mlir::Value splat(mlir::Value scalar, int64_t width);
  /// From here on the arithmetic below, and loops, are of 32 bits: no index is 2^31 or above. What
  /// goes in and comes out is i64 all the same.
  void narrowIndices() { isNarrow = true; }
  // Arithmetic on i64. With a constant operand that decides the result, no operation is made.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t c) { return add(a, i64(c)); }
  mlir::Value mul(mlir::Value a, int64_t c) { return mul(a, i64(c)); }
  /// Quotient and remainder of an index, which must not be negative, by a positive number.
  mlir::Value div(mlir::Value a, int64_t c);
  mlir::Value rem(mlir::Value a, int64_t c);

  /// The address of element `index` (i64).
  mlir::Value pointer(mlir::Type elementType, mlir::Value base, mlir::Value index);
  /// Loads `width` elements from element `index` on; i1 comes as i1, 16-bit floats as they are. The
  /// address is known to be a multiple of `aligned` elements.
  mlir::Value load(mlir::Type elementType, mlir::Value base, mlir::Value index, int64_t width = 1,
                   int64_t aligned = 1);
  /// Stores a value of `elementType`, or a vector of it.
  void store(mlir::Type elementType, mlir::Value value, mlir::Value base, mlir::Value index,
             int64_t aligned = 1);
  /// The same in the type of arithmetic: 16-bit floats are widened after the load, and rounded
  /// before the store.
  mlir::Value loadCompute(mlir::Type elementType, mlir::Value base, mlir::Value index,
                          int64_t width = 1, int64_t aligned = 1);
  void storeCompute(mlir::Type elementType, mlir::Value value, mlir::Value base, mlir::Value index,
                    int64_t aligned = 1);
  /// f32 from a 16-bit float (exact), and back (to nearest even); other types stay.
  mlir::Value widen(mlir::Value value);
  mlir::Value round(mlir::Value value, mlir::Type elementType);

  /// for (i = lo; i < hi; i += step), all i64. Returns the carried values after the last iteration.
  Carried forLoop(mlir::Value lo, mlir::Value hi, mlir::Value step, mlir::ValueRange carried,
                  LoopBody body);
  void forLoop(mlir::Value lo, mlir::Value hi, mlir::Value step,
               llvm::function_ref<void(mlir::Value)> body);
  /// The values that `body` makes if the i1 holds, else `otherwise`.
  Carried where(mlir::Value condition, mlir::ValueRange otherwise,
                llvm::function_ref<Carried()> body);
  /// Runs `body` if the i1 holds.
  void ifThen(mlir::Value condition, llvm::function_ref<void()> body,
              llvm::function_ref<void()> otherwise = nullptr);

protected:
  explicit KernelBuilder(mlir::ImplicitLocOpBuilder builder) : b(std::move(builder)) {}

  mlir::ImplicitLocOpBuilder b;

private:
  template <typename Op> mlir::Value compute(mlir::Value a, mlir::Value b);
  mlir::Value narrow(mlir::Value index);
  mlir::Value widenIndex(mlir::Value index);

  bool isNarrow = false;
  mlir::LLVM::LLVMFuncOp kernel;
  llvm::SmallVector<mlir::Value> buffers;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_KERNELBUILDER_H
