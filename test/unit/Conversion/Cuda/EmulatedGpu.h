// reprise: runs the kernels of a GPU on the CPU, thread by thread
//   |
//   The kernels are those of the gpu dialect, before nvvm: each becomes a function of its block's
//   and thread's number. The threads of a block are fibers. They meet at barriers, and the threads
//   of a warp also at exchanges of values.
#ifndef REPRISE_TEST_UNIT_CONVERSION_CUDA_EMULATEDGPU_H
#define REPRISE_TEST_UNIT_CONVERSION_CUDA_EMULATEDGPU_H

#include "../MappedImage.h"

#include <memory>

namespace reprise::test {

class EmulatedGpu {
public:
  /// Returns false for kernels that call functions of kernels/cuda, which only a driver runs.
  static bool canRun(mlir::ModuleOp kernels);

  /// Compiles the kernels that CudaBackend::emitLaunch has added to a module.
  explicit EmulatedGpu(mlir::ModuleOp kernels);

  /// Runs all threads of a command, block by block, from the first or from the last. Threads that
  /// exchange values, or come to a barrier, without each other are a failure of the test.
  void run(const EmittedCommand &command, std::vector<void *> &buffers, bool backwards);

private:
  std::unique_ptr<MappedImage> image;
};

} // namespace reprise::test

#endif // REPRISE_TEST_UNIT_CONVERSION_CUDA_EMULATEDGPU_H
