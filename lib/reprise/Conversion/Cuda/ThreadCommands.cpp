// reprise: commands of a launch with one item per thread
#include "ThreadCommands.h"

#include "LaunchFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise {

std::string nextKernelName(StringRef name, const EmittedLaunch &launch) {
  size_t number = launch.commands.size();
  return number == 0 ? name.str() : (name + "_" + Twine(number)).str();
}

int64_t vectorLanes(int64_t columns) { return columns % 4 == 0 ? 4 : 1; }

void ThreadCommands::add(ArrayRef<BufferSlot> buffers, int64_t items, Body body) {
  std::string own = nextKernelName(name, launch);
  ThreadKernel k(kernels, own, buffers.size(), /*scratchBytes=*/0);
  Value item = k.threadNumber();
  Value isInside = arith::CmpIOp::create(k.b, arith::CmpIPredicate::ult, item, k.i64(items));
  ifThen(k.b, isInside, [&] { body(k, item); });
  launch.commands.push_back(
      {own, items, SmallVector<BufferSlot>(buffers), 0, /*itemThreads=*/1, blockThreads});
}

void ThreadCommands::addDeviceKernel(ArrayRef<BufferSlot> buffers, int64_t items,
                                     StringRef function, ArrayRef<int64_t> shape,
                                     llvm::function_ref<void(gpu::GPUModuleOp)> addFunctions) {
  std::string own = nextKernelName(name, launch);
  ThreadKernel k(kernels, own, buffers.size(), /*scratchBytes=*/0);
  addFunctions(k.module());
  callDeviceKernel(k, buffers.size(), function, /*sharedBytes=*/0, shape);
  launch.commands.push_back(
      {own, items, SmallVector<BufferSlot>(buffers), 0, /*itemThreads=*/1, blockThreads});
}

} // namespace reprise
