// reprise: runs the kernels of a GPU on the CPU, thread by thread
#include "EmulatedGpu.h"

#include "reprise/Conversion/Elements.h"
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

/// Requests of threads: a value by lane distance, a value by lane number, or a barrier of the
/// block.
enum class Request : uint32_t { Distance, Number, Barrier };

/// A request becomes a call of the function that the workspace points to.
Value callFunction(ImplicitLocOpBuilder &b, Value function, Value bits, Value offset,
                   Request request) {
  Type i32 = b.getI32Type();
  Value kind = arith::ConstantIntOp::create(b, static_cast<uint32_t>(request), 32);
  return LLVM::CallOp::create(b, LLVM::LLVMFunctionType::get(i32, {i32, i32, i32}),
                              ValueRange{function, bits, offset, kind})
      .getResult();
}

Value callExchange(ImplicitLocOpBuilder &b, gpu::ShuffleOp op, Value function) {
  Type i32 = b.getI32Type(), type = op.getValue().getType();
  Value bits = op.getValue();
  if (type != i32)
    bits = arith::BitcastOp::create(b, i32, bits);
  auto request = op.getMode() == gpu::ShuffleMode::IDX ? Request::Number : Request::Distance;
  Value result = callFunction(b, function, bits, op.getOffset(), request);
  return type == i32 ? result : arith::BitcastOp::create(b, type, result).getResult();
}

void callBarrier(ImplicitLocOpBuilder &b, Value function) {
  Value none = arith::ConstantIntOp::create(b, 0, 32);
  callFunction(b, function, none, none, Request::Barrier);
}

/// Lanes of a warp meet at exchanges of values.
void callMeeting(ImplicitLocOpBuilder &b, Value function) {
  Value none = arith::ConstantIntOp::create(b, 0, 32);
  callFunction(b, function, none, none, Request::Distance);
}

/// The memory of a block. Blocks run one after the other.
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

/// Copies at once, because a thread reads only the bytes that it has copied itself.
void copyNow(ImplicitLocOpBuilder &b, NVVM::CpAsyncOp op) {
  auto type = VectorType::get(op.getSize(), b.getI8Type());
  Value bytes = LLVM::LoadOp::create(b, type, op.getSrc(), /*alignment=*/1);
  LLVM::StoreOp::create(b, bytes, op.getDst(), /*alignment=*/1);
}

/// The kernel as a function of the CPU: `begin` is the number of the block, `end` of the thread.
void addFunction(gpu::GPUFuncOp kernel, ModuleOp module) {
  KernelBuilder k(module, kernel.getName());
  ImplicitLocOpBuilder &b = k.b;
  IRMapping mapping;
  for (BlockArgument argument : kernel.getArguments()) {
    Value number = k.i64(argument.getArgNumber());
    Value slot = emitAddress(b, b.getI64Type(), k.function().getArgument(0), number);
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
    if (isa<gpu::BarrierOp>(op))
      callBarrier(b, k.workspace());
    if (isa<NVVM::SyncWarpOp>(op))
      callMeeting(b, k.workspace());
    if (isa<gpu::BarrierOp, NVVM::SyncWarpOp, NVVM::CpAsyncOp, NVVM::CpAsyncCommitGroupOp,
            NVVM::CpAsyncWaitGroupOp>(op)) {
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

//===-- Blocks -----------------------------------------------------------------------------===//

constexpr int lanes = 32;

/// Thread of a block with several threads.
struct Fiber {
  ucontext_t start;
  /// Point at which the thread continues. A jump is faster than a change of contexts, which asks
  /// the kernel for the signals.
  jmp_buf place;
  std::vector<char> stack = std::vector<char>(1 << 16);
  bool started = false, done = false;
  /// Exchanges so far, and the values of the last two.
  unsigned exchanges = 0;
  uint32_t values[2];
};

/// Block whose threads run in turns, each until its next request.
struct Block {
  explicit Block(size_t threads) : fibers(threads) {}

  std::vector<Fiber> fibers;
  jmp_buf caller; ///< scheduler that resumes the threads
  size_t thread;  ///< running thread
  /// Threads that have come to the barrier at hand, and barriers so far.
  size_t waiting = 0, barriers = 0;
  std::function<void(size_t)> work;

  void run();
  /// Runs the thread until it leaves.
  void enter();
  void leave(Fiber &from);
  void wait(Fiber &fiber);
};

Block *running = nullptr;

uint32_t answer(uint32_t value, uint32_t offset, Request request) {
  if (!running) {
    ADD_FAILURE() << "a thread that works alone asks others";
    return 0;
  }
  Block &block = *running;
  size_t thread = block.thread, lane = thread % lanes;
  Fiber &fiber = block.fibers[thread];
  if (request == Request::Barrier) {
    block.wait(fiber);
    return 0;
  }
  unsigned turn = fiber.exchanges++ % 2;
  fiber.values[turn] = value;
  block.leave(fiber);
  size_t other = request == Request::Number ? offset : lane ^ offset;
  return block.fibers[thread - lane + other].values[turn];
}

void startFiber() {
  Block &block = *running;
  size_t thread = block.thread;
  block.work(thread);
  block.fibers[thread].done = true;
  block.leave(block.fibers[thread]);
}

void Block::enter() {
  if (_setjmp(caller))
    return;
  Fiber &fiber = fibers[thread];
  if (fiber.started)
    _longjmp(fiber.place, 1);
  fiber.started = true;
  setcontext(&fiber.start);
}

void Block::leave(Fiber &from) {
  if (!_setjmp(from.place))
    _longjmp(caller, 1);
}

/// Leaves at least once, so that all threads of the last warp to come go on in one turn.
void Block::wait(Fiber &fiber) {
  size_t before = barriers;
  if (++waiting == fibers.size())
    waiting = 0, ++barriers;
  do
    leave(fiber);
  while (barriers == before);
}

void Block::run() {
  running = this;
  waiting = 0;
  for (Fiber &fiber : fibers) {
    fiber.done = fiber.started = false;
    fiber.exchanges = 0;
    getcontext(&fiber.start);
    fiber.start.uc_stack.ss_sp = fiber.stack.data();
    fiber.start.uc_stack.ss_size = fiber.stack.size();
    fiber.start.uc_link = nullptr;
    makecontext(&fiber.start, startFiber, 0);
  }
  auto isDone = [](const Fiber &fiber) { return fiber.done; };
  for (size_t done = 0; done < fibers.size(); done = llvm::count_if(fibers, isDone)) {
    for (thread = 0; thread < fibers.size(); ++thread)
      if (!fibers[thread].done)
        enter();
    bool isStuck = waiting > 0 && waiting + llvm::count_if(fibers, isDone) == fibers.size();
    EXPECT_FALSE(isStuck) << "not all threads of a block come to a barrier";
    if (isStuck)
      waiting = 0, ++barriers;
  }
  running = nullptr;
  for (size_t i = 0; i < fibers.size(); ++i)
    EXPECT_EQ(fibers[i].exchanges, fibers[i / lanes * lanes].exchanges)
        << "not all lanes of a warp exchange values";
}

} // namespace

bool EmulatedGpu::canRun(ModuleOp kernels) {
  WalkResult result = kernels.walk([](LLVM::LLVMFuncOp function) {
    return function.isExternal() ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

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
  int64_t threads = command.blockThreads;
  int64_t blocks = llvm::divideCeil(command.items * command.itemThreads, threads);
  Block block(command.itemThreads > 1 ? threads : 0);
  for (int64_t i = 0; i < blocks; ++i) {
    int64_t number = backwards ? blocks - 1 - i : i;
    block.work = [&](size_t thread) {
      kernel(buffers.data(), number, static_cast<int64_t>(thread),
             reinterpret_cast<void *>(answer));
    };
    if (command.itemThreads > 1) {
      block.run();
      continue;
    }
    for (int64_t thread = 0; thread < threads; ++thread)
      block.work(backwards ? threads - 1 - thread : thread);
  }
}

} // namespace reprise::test
