// reprise: NVIDIA GPUs as a target of the phases: kernels of groups that loop nests compute
#include "reprise/Conversion/Cuda/CudaBackend.h"

#include "../LoopNest/AttentionLaunch.h"
#include "../LoopNest/ContractionGroup.h"
#include "../LoopNest/InPlace.h"
#include "../LoopNest/NestEmitter.h"
#include "../LoopNest/Program.h"
#include "../LoopNest/RowGroup.h"
#include "../Pooling.h"
#include "Attention.h"
#include "ContractionLaunch.h"
#include "ThreadAlone.h"
#include "ThreadKernel.h"
#include "ThreadPool.h"
#include "ThreadSchedule.h"
#include "reprise/Conversion/LoopNest/ContractionLaunch.h"
#include "reprise/Dialect/Reprise/IR/Casts.h"
#include "reprise/Support/ByteSize.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace reprise {

using namespace nests;

std::optional<Contractions> CudaBackend::parseContractions(StringRef name) {
  return llvm::StringSwitch<std::optional<Contractions>>(name)
      .Case("", Contractions::TensorCores)
      .Case("exact", Contractions::Exact)
      .Case("tf32", Contractions::Tf32)
      .Case("library", Contractions::Library)
      .Default(std::nullopt);
}

std::string CudaBackend::getContractions() const {
  switch (contractions) {
  case Contractions::Exact:
    return "exact";
  case Contractions::Tf32:
    return "tf32";
  case Contractions::Library:
    return "library";
  case Contractions::TensorCores:
    break;
  }
  return "tensor-cores";
}

std::string CudaBackend::getName() const {
  bool isUsual = contractions == Contractions::TensorCores;
  return "cuda:" + chips + (hasCubins ? ":cubin" : "") + (isUsual ? "" : ":" + getContractions());
}

/// A library's call holds no other ops.
bool CudaBackend::canHold(ArrayRef<Operation *> ops) const {
  auto isCalled = [&] {
    return contractions == Contractions::Library && isHalf(ops.front()->getOperand(0).getType());
  };
  return isRowGroup(ops) || (isContractionGroup(ops) && !isCalled());
}

static FailureOr<EmittedLaunch> emitAttention(Operation *op, StringRef name, ModuleOp kernels,
                                              LaunchOperands operands, Contractions contractions) {
  return emitAttentionLaunch(op, std::move(operands), [&](const AttentionSpec &spec) {
    return isa<AttentionOp>(op) ? cuda::emitAttention(kernels, name, spec, contractions)
                                : cuda::emitAttentionBackward(kernels, name, spec, contractions);
  });
}

Target::InPlacePairs CudaBackend::findInPlacePairs(Block &body) const {
  if (findAttention(body))
    return {};
  if (isContractionLaunch(body))
    return findContractionInPlacePairs(body);
  return nests::findInPlacePairs(body, threadRules, makeThreadSchedule);
}

/// Returns how many blocks a multiprocessor should hold together. By default ptxas unrolls loops
/// until a block has all registers, or spills to fit one more block; random words may use many
/// registers. Blocks with rows are limited by shared memory, with 80 registers per thread.
static int64_t countBlocksTogether(const Graph &graph, const Schedule &schedule, int64_t rowBytes) {
  constexpr int64_t threadsTogether = 512, rowThreads = 768;
  constexpr int64_t sharedTogether = 224 * 1024, ownOfBlock = 1024;
  int64_t threads = schedule.blockThreads;
  if (rowBytes)
    return std::min(rowThreads / threads, sharedTogether / (rowBytes + ownOfBlock));
  bool hasLoops = graph.hasReductions() || schedule.rowsPerItem > 1;
  return hasLoops || !graph.has(Node::Draw) ? threadsTogether / threads : 1;
}

static EmittedCommand emitNest(const Graph &graph, StringRef name, ModuleOp kernels,
                               int64_t elements, int64_t placeAlignment) {
  Schedule schedule = makeThreadSchedule(graph);
  int64_t threads = schedule.blockThreads;
  ThreadKernel k(kernels, name, graph.buffers.size(), schedule.workerBytes, threads);
  int64_t rowBytes = threads / schedule.itemThreads * schedule.rowBytes;
  k.setBlocksTogether(countBlocksTogether(graph, schedule, rowBytes));
  // Steps and blocks may lead a little beyond the end.
  constexpr int64_t mostNarrow = (int64_t(1) << 31) - (1 << 24);
  if (std::max(elements, schedule.items * schedule.itemThreads) <= mostNarrow)
    k.narrowIndices();
  Value item = k.threadNumber(), lane, rowMemory;
  if (rowBytes) {
    Value row = k.div(k.numberInBlock(), schedule.itemThreads);
    rowMemory =
        emitAddress(k.b, k.b.getI8Type(), k.shared(rowBytes), k.mul(row, schedule.rowBytes));
  }
  if (schedule.itemThreads > 1) {
    lane = k.rem(item, schedule.itemThreads);
    item = k.div(item, schedule.itemThreads);
  }
  NestEmitter(k, graph, schedule).emitThread(item, lane, rowMemory, placeAlignment);
  return {name.str(), schedule.items, graph.buffers, 0, schedule.itemThreads, threads};
}

/// Accesses of global memory ask for no more than the places have; elements are aligned always.
static void limitAccesses(gpu::GPUModuleOp kernel, int64_t alignment) {
  auto limit = [&](auto access, Type type) {
    auto pointer = cast<LLVM::LLVMPointerType>(access.getAddr().getType());
    if (pointer.getAddressSpace() != globalMemory)
      return;
    auto least = std::max<uint64_t>(alignment, bytesOf(getElementTypeOrSelf(type)));
    access.setAlignment(std::min<uint64_t>(access.getAlignment().value_or(1), least));
  };
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LLVM::LoadOp>(op))
      limit(load, load.getType());
    else if (auto store = dyn_cast<LLVM::StoreOp>(op))
      limit(store, store.getValue().getType());
  });
}

FailureOr<EmittedLaunch> CudaBackend::emitLaunch(Block &body, StringRef name,
                                                 ModuleOp kernels) const {
  auto present = kernels.getOps<gpu::GPUModuleOp>();
  auto count = std::distance(present.begin(), present.end());
  FailureOr<EmittedLaunch> launch = emitKernels(body, name, kernels);
  int64_t alignment = getPlaceAlignment(body);
  if (alignment < widestAccess)
    for (gpu::GPUModuleOp kernel : llvm::drop_begin(kernels.getOps<gpu::GPUModuleOp>(), count))
      limitAccesses(kernel, alignment);
  return launch;
}

FailureOr<EmittedLaunch> CudaBackend::emitKernels(Block &body, StringRef name,
                                                  ModuleOp kernels) const {
  auto isEmpty = [](Value value) { return getByteSize(value.getType()) == 0; };
  auto refuse = [&](Operation *op) {
    return op->emitError("cannot be compiled for ")
           << getName() << " yet: '" << op->getName() << "' has no kernel there";
  };
  EmittedLaunch launch;
  if (llvm::all_of(body.getTerminator()->getOperands(), isEmpty))
    return launch;
  if (isContractionLaunch(body))
    return cuda::emitContractionLaunch(body, name, kernels, LaunchOperands(name, kernels, *this),
                                       contractions);
  if (Operation *pool = findPool(body))
    return emitThreadPool(pool, name, kernels, LaunchOperands(name, kernels, *this));
  if (Operation *op = findAttention(body))
    return emitAttention(op, name, kernels, LaunchOperands(name, kernels, *this), contractions);
  for (Operation &op : body.without_terminator())
    if (!isLoopOp(&op) && !runsAlone(&op))
      return refuse(&op);
  FailureOr<Program> program = planProgram(body, threadRules);
  if (failed(program))
    return body.getParentOp()->emitError("the group holds an op that no loop nest computes");
  launch.sharedBytes = program->sharedBytes;
  int64_t elements = program->body.countMostElements(), alignment = getPlaceAlignment(body);
  ThreadCommands commands(name, kernels, launch);
  for (const Nest &nest : program->nests) {
    if (nest.alone)
      emitThreadAlone(commands, nest);
    else
      launch.commands.push_back(
          emitNest(nest.graph, nextKernelName(name, launch), kernels, elements, alignment));
  }
  return launch;
}

Target::LibraryChoice CudaBackend::findLibrary(Block &body) const {
  if (contractions != Contractions::Library || !isContractionLaunch(body))
    return {};
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(body.getParentOp()->getLoc());
  FailureOr<EmittedLaunch> launch = emitLaunch(body, "kernel", *kernels);
  LibraryChoice choice;
  if (failed(launch))
    return choice;
  choice.whyOwn = launch->whyOwn;
  for (const EmittedCommand &command : launch->commands)
    if (!command.function.empty())
      choice.function = command.function;
  return choice;
}

FailureOr<Scratch> CudaBackend::findScratch(Block &body) const {
  if (!isContractionLaunch(body) && !findPool(body) && !findAttention(body) &&
      failed(planProgram(body, threadRules)))
    return Scratch();
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(body.getParentOp()->getLoc());
  FailureOr<EmittedLaunch> emitted = emitLaunch(body, "kernel", *kernels);
  if (failed(emitted))
    return failure();
  return Scratch{emitted->sharedBytes, 0};
}

} // namespace reprise
