// reprise: a builder of kernels that the threads of a GPU run
#ifndef REPRISE_CONVERSION_CUDA_THREADKERNEL_H
#define REPRISE_CONVERSION_CUDA_THREADKERNEL_H

#include "reprise/Conversion/KernelBuilder.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace reprise {

/// Names of attributes of the module of a kernel that replaces another one on some chips: the
/// kernel that it replaces, and the first of these chips.
constexpr llvm::StringLiteral kReplacedAttr = "replaced", kChipAttr = "chip";

/// Threads of a block, unless rows need much shared memory; 32 consecutive threads are a warp.
constexpr int64_t blockThreads = 256;
/// The address spaces of buffers, and of memory that a block shares.
constexpr unsigned globalMemory = 1, sharedMemory = 3;

/// Builder of a `gpu.func` of the same name in its own `gpu.module`. Its arguments are the buffers
/// of the command, in global memory.
class ThreadKernel : public KernelBuilder {
public:
  /// Makes the kernel; `scratchBytes` is the private scratch of each thread.
  ThreadKernel(mlir::ModuleOp module, llvm::StringRef name, size_t buffers, int64_t scratchBytes,
               int64_t threads = blockThreads);

  /// Returns the module of this kernel alone.
  mlir::gpu::GPUModuleOp module();
  int64_t threadCount() const { return threads; }
  /// The number of this thread among all of the launch; of its block; of this thread in its block.
  mlir::Value threadNumber();
  mlir::Value blockNumber();
  mlir::Value numberInBlock();
  /// Reads the last two numbers again from here on, so that values derived from them use no
  /// registers before.
  void readNumbersAnew() { readsAnew = true; }

  /// Limits registers so that `blocks` blocks fit on a multiprocessor.
  void setBlocksTogether(int32_t blocks);

  /// Memory of the block, aligned to 32 bytes; once.
  mlir::Value shared(int64_t bytes);
  /// Waits until all threads of the block have come.
  void barrier();
  void copyAsync(mlir::Value to, mlir::Value from, int64_t bytes) override;
  void awaitCopies() override;
  /// Ends a group of copies; waits until at most `pending` groups, the last ones, are in flight.
  void commitCopies();
  void awaitGroups(uint32_t pending);
  void meetWarp() override;

  mlir::Value workspace() override;
  mlir::Value buffer(unsigned i) override { return kernel.getArgument(i); }
  mlir::Value exchange(mlir::Value value, int64_t distance) override;
  /// Returns the value of lane `from` (i64) of the warp. All lanes call it together, with the same
  /// `from`.
  mlir::Value broadcast(mlir::Value value, mlir::Value from);

protected:
  /// Makes a function of a kernel's module, which the kernel calls.
  ThreadKernel(mlir::gpu::GPUModuleOp module, llvm::StringRef name, mlir::FunctionType type);

  mlir::gpu::GPUFuncOp kernel;

private:
  mlir::Value readAnew(llvm::StringRef name);
  mlir::Value shuffle(mlir::Value value, mlir::Value offset, mlir::gpu::ShuffleMode mode);

  int64_t threads;
  int64_t scratchBytes;
  bool readsAnew = false;
  mlir::Value scratch;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_THREADKERNEL_H
