// reprise: runs the kernels of a GPU on the CPU, thread by thread
#include "EmulatedGpu.h"

#include "reprise/Conversion/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "gtest/gtest.h"

#include <csetjmp>
#include <ucontext.h>

using namespace mlir;

namespace reprise::test {
namespace {

//===-- Kernels ----------------------------------------------------------------------------===//

/// An exchange becomes a call of the function that the workspace points to.
Value callExchange(ImplicitLocOpBuilder &b, gpu::ShuffleOp op, Value function) {
  Type i32 = b.getI32Type(), type = op.getValue().getType();
  Value bits = op.getValue();
  if (type != i32)
    bits = arith::BitcastOp::create(b, i32, bits);
  Value isNumber = arith::ConstantIntOp::create(b, op.getMode() == gpu::ShuffleMode::IDX, 32);
  auto call = LLVM::CallOp::create(b, LLVM::LLVMFunctionType::get(i32, {i32, i32, i32}),
                                   ValueRange{function, bits, op.getOffset(), isNumber});
  return type == i32 ? call.getResult()
                     : arith::BitcastOp::create(b, type, call.getResult()).getResult();
}

/// The memory of a block. Warps run one after the other and share nothing of it.
alignas(64) char sharedMemory[48 * 1024];

Value findShared(ImplicitLocOpBuilder &b, LLVM::AddressOfOp op) {
  auto memory = SymbolTable::lookupNearestSymbolFrom<LLVM::GlobalOp>(
      op->getParentOfType<gpu::GPUModuleOp>(), op.getGlobalNameAttr());
  auto size = cast<LLVM::LLVMArrayType>(memory.getGlobalType()).getNumElements();
  EXPECT_LE(size, sizeof(sharedMemory));
  Value address =
      LLVM::ConstantOp::create(b, b.getI64IntegerAttr(reinterpret_cast<intptr_t>(sharedMemory)));
  return LLVM::IntToPtrOp::create(b, op.getType(), address);
}

/// A thread reads what it has copied itself, so that a copy may be done at once.
void copyNow(ImplicitLocOpBuilder &b, NVVM::CpAsyncOp op) {
  auto type = VectorType::get(op.getSize(), b.getI8Type());
  Value bytes = LLVM::LoadOp::create(b, type, op.getSrc(), /*alignment=*/1);
  LLVM::StoreOp::create(b, bytes, op.getDst(), /*alignment=*/1);
}

/// The kernel as a function of the CPU: `begin` is the number of the block, `end` of the thread.
void addFunction(gpu::GPUFuncOp kernel, ModuleOp module) {
  KernelBuilder k(module, kernel.getName());
  ImplicitLocOpBuilder &b = k.builder();
  IRMapping mapping;
  for (BlockArgument argument : kernel.getArguments()) {
    Value number = k.i64(argument.getArgNumber());
    Value slot = k.pointer(b.getI64Type(), k.function().getArgument(0), number);
    mapping.map(argument, LLVM::LoadOp::create(b, argument.getType(), slot).getResult());
  }
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (auto shared = dyn_cast<LLVM::AddressOfOp>(op))
      mapping.map(shared.getResult(), findShared(b, shared));
    else
      b.clone(op, mapping);
  SmallVector<Operation *> replaced;
  k.function().walk([&](Operation *op) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(op);
    Value value;
    if (auto copy = dyn_cast<NVVM::CpAsyncOp>(op))
      copyNow(b, copy);
    if (isa<NVVM::CpAsyncOp, NVVM::CpAsyncCommitGroupOp, NVVM::CpAsyncWaitGroupOp>(op)) {
      replaced.push_back(op);
      return;
    }
    if (isa<gpu::BlockIdOp>(op))
      value = arith::IndexCastOp::create(b, b.getIndexType(), k.begin());
    else if (isa<gpu::ThreadIdOp>(op))
      value = arith::IndexCastOp::create(b, b.getIndexType(), k.end());
    else if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op))
      value = callExchange(b, shuffle, k.workspace());
    else
      return;
    op->getResult(0).replaceAllUsesWith(value);
    replaced.push_back(op);
  });
  for (Operation *op : replaced)
    op->erase();
}

//===-- Warps ------------------------------------------------------------------------------===//

constexpr int lanes = 32;

struct Warp {
  ucontext_t fibers[lanes];
  /// Where the fibers go on, and who lets them. A jump is faster than a change of contexts, which
  /// asks the kernel for the signals.
  jmp_buf places[lanes], caller;
  std::vector<char> stacks = std::vector<char>(lanes * stackBytes);
  bool started[lanes], done[lanes];
  /// Exchanges of each lane so far, and the values of the last two.
  unsigned exchanges[lanes];
  uint32_t values[2][lanes];
  /// The lane that runs.
  int lane;
  std::function<void(int)> work;

  static constexpr size_t stackBytes = 1 << 16;
  void run();
  /// Lets the lane go on until it leaves.
  void enter();
  void leave(int from);
};

Warp *running = nullptr;

/// The value of lane `offset`, or of the one at that distance.
uint32_t exchange(uint32_t value, uint32_t offset, uint32_t isNumber) {
  if (!running) {
    ADD_FAILURE() << "a thread that works alone exchanges a value";
    return 0;
  }
  Warp &warp = *running;
  int lane = warp.lane;
  uint32_t *values = warp.values[warp.exchanges[lane]++ % 2];
  values[lane] = value;
  warp.leave(lane);
  return values[isNumber ? offset : lane ^ offset];
}

void startFiber() {
  Warp &warp = *running;
  int lane = warp.lane;
  warp.work(lane);
  warp.done[lane] = true;
  warp.leave(lane);
}

void Warp::enter() {
  if (_setjmp(caller))
    return;
  if (started[lane])
    _longjmp(places[lane], 1);
  started[lane] = true;
  setcontext(&fibers[lane]);
}

void Warp::leave(int from) {
  if (!_setjmp(places[from]))
    _longjmp(caller, 1);
}

void Warp::run() {
  running = this;
  for (lane = 0; lane < lanes; ++lane) {
    done[lane] = started[lane] = false;
    exchanges[lane] = 0;
    getcontext(&fibers[lane]);
    fibers[lane].uc_stack.ss_sp = stacks.data() + lane * stackBytes;
    fibers[lane].uc_stack.ss_size = stackBytes;
    fibers[lane].uc_link = nullptr;
    makecontext(&fibers[lane], startFiber, 0);
  }
  while (llvm::is_contained(done, false))
    for (lane = 0; lane < lanes; ++lane)
      if (!done[lane])
        enter();
  running = nullptr;
  for (unsigned count : exchanges)
    EXPECT_EQ(count, exchanges[0]) << "not all lanes of a warp exchange values";
}

} // namespace

EmulatedGpu::EmulatedGpu(ModuleOp kernels) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernels.getLoc());
  kernels.walk([&](gpu::GPUFuncOp kernel) { addFunction(kernel, *module); });
  FailureOr<Image> compiled = reprise::compileKernels(*module, runnableTargets().front());
  if (succeeded(compiled))
    image = std::make_unique<MappedImage>(*compiled);
  EXPECT_TRUE(image) << "the kernels do not compile for the CPU";
}

void EmulatedGpu::run(const EmittedCommand &command, std::vector<void *> &buffers, bool backwards) {
  if (!image)
    return;
  Kernel kernel = image->kernel(command.kernel);
  int64_t block = command.blockThreads;
  int64_t warps = llvm::divideCeil(command.items * command.itemThreads, block) * block / lanes;
  auto work = [&](int64_t thread) {
    kernel(buffers.data(), thread / block, thread % block, reinterpret_cast<void *>(exchange));
  };
  Warp warp;
  for (int64_t i = 0; i < warps; ++i) {
    int64_t first = (backwards ? warps - 1 - i : i) * lanes;
    warp.work = [&](int lane) { work(first + lane); };
    if (command.itemThreads > 1) {
      warp.run();
      continue;
    }
    for (int lane = 0; lane < lanes; ++lane)
      warp.work(backwards ? lanes - 1 - lane : lane);
  }
}

} // namespace reprise::test
