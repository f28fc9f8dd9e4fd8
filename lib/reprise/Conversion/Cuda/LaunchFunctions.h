// reprise: functions that differ from launch to launch, which kernels of kernels/cuda call
#ifndef REPRISE_CONVERSION_CUDA_LAUNCHFUNCTIONS_H
#define REPRISE_CONVERSION_CUDA_LAUNCHFUNCTIONS_H

#include "ThreadKernel.h"

namespace reprise {

/// Builder of such a function, in the module of the kernel. The kernel has the function inlined.
class LaunchFunction : public ThreadKernel {
public:
  LaunchFunction(mlir::gpu::GPUModuleOp module, llvm::StringRef name,
                 llvm::ArrayRef<mlir::Type> arguments, llvm::ArrayRef<mlir::Type> results = {});

  mlir::Value argument(unsigned i) { return kernel.getArgument(i); }
  /// Reads a buffer from the launch, which is the first argument.
  mlir::Value buffer(unsigned i) override;
  void setResult(mlir::Value value);

private:
  llvm::SmallVector<mlir::Value> buffers;
};

/// Returns the fields of a shape of kernels/cuda, which are all of 64 bits.
template <typename Shape> llvm::ArrayRef<int64_t> numbersOf(const Shape &shape) {
  static_assert(sizeof(Shape) % sizeof(int64_t) == 0);
  return {reinterpret_cast<const int64_t *>(&shape), sizeof(Shape) / sizeof(int64_t)};
}

/// Emits the kernel's body: a call of `function`, of kernels/cuda, with the launch. `sharedBytes`
/// is the size of shared_memory, if the kernel has any, and `shape` the constant of that name.
void callDeviceKernel(ThreadKernel &k, size_t buffers, llvm::StringRef function,
                      int64_t sharedBytes, llvm::ArrayRef<int64_t> shape);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_LAUNCHFUNCTIONS_H
