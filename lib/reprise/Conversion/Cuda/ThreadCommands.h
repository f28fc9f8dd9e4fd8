// reprise: commands of a launch with one item per thread
#ifndef REPRISE_CONVERSION_CUDA_THREADCOMMANDS_H
#define REPRISE_CONVERSION_CUDA_THREADCOMMANDS_H

#include "reprise/Conversion/ControlFlow.h"
#include "reprise/Conversion/Elements.h"
#include "reprise/Target/Launch.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace reprise {

/// Adds kernels to a module and their commands to a launch.
class ThreadCommands {
public:
  /// Emitter of the work of one item.
  using Body = llvm::function_ref<void(KernelBuilder &k, mlir::Value item)>;

  ThreadCommands(llvm::StringRef name, mlir::ModuleOp kernels, EmittedLaunch &launch)
      : name(name), kernels(kernels), launch(launch) {}

  void add(llvm::ArrayRef<BufferSlot> buffers, int64_t items, Body body);
  /// Adds a command whose kernel is `function` of kernels/cuda, with the constant `shape`.
  /// `addFunctions` adds the functions that it calls to the kernel's module.
  void addDeviceKernel(llvm::ArrayRef<BufferSlot> buffers, int64_t items, llvm::StringRef function,
                       llvm::ArrayRef<int64_t> shape,
                       llvm::function_ref<void(mlir::gpu::GPUModuleOp)> addFunctions);
  /// Adds a command that has no kernel.
  void add(EmittedCommand command) { launch.commands.push_back(std::move(command)); }
  /// Scratch that the launch's commands share.
  BufferSlot addShared(int64_t bytes) { return {BufferSlot::Shared, 0, launch.addShared(bytes)}; }

private:
  std::string name;
  mlir::ModuleOp kernels;
  EmittedLaunch &launch;
};

/// The symbol of the next command of a launch: names of PTX have no dots.
std::string nextKernelName(llvm::StringRef name, const EmittedLaunch &launch);

/// Elements that a thread loads at once from rows of `columns`: four, or one where four would not
/// be aligned.
int64_t vectorLanes(int64_t columns);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_THREADCOMMANDS_H
