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

using namespace mlir;

namespace reprise {

using namespace nests;

CudaBackend::CudaBackend(StringRef chips, Contractions contractions, bool hasCubins)
    : chips(chips), contractions(contractions), hasCubins(hasCubins) {
  capabilities.contractions = contractions;
  capabilities.hasTensorCores = contractions != Contractions::Exact;
  capabilities.callsLibraries = contractions == Contractions::Library;
  capabilities.addsBias = capabilities.callsLibraries;
  capabilities.prefersWholeRows = capabilities.hasTensorCores;
  // About what an A100 on PCIe 4 and an H100 on PCIe 5 move (docs/devices).
  capabilities.bytesBesideHost = 64;
  capabilities.usesPlaceAlignment = true;
  capabilities.canFail = true;
}

std::string CudaBackend::getName() const {
  bool isUsual = contractions == Contractions::TensorCores;
  return "cuda:" + chips + (hasCubins ? ":cubin" : "") +
         (isUsual ? "" : ":" + describe(contractions).name.str());
}

/// A library's call holds no other ops.
bool CudaBackend::canHold(ArrayRef<Operation *> ops) const {
  auto isCalled = [&] {
    return capabilities.callsLibraries && isHalf(ops.front()->getOperand(0).getType());
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

static EmittedCommand emitNest(const Nest &nest, StringRef name, ModuleOp kernels, int64_t elements,
                               int64_t placeAlignment) {
  Schedule schedule = makeThreadSchedule(nest);
  int64_t threads = schedule.blockThreads;
  ThreadKernel k(kernels, name, nest.buffers.size(), schedule.workerBytes, threads);
  int64_t rowBytes = threads / schedule.itemThreads * schedule.rowBytes;
  k.setBlocksTogether(schedule.blocksTogether);
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
  NestEmitter(k, nest, schedule).emitThread(item, lane, rowMemory, placeAlignment);
  return {name.str(), schedule.items, nest.buffers, 0, schedule.itemThreads, threads};
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

OwningOpRef<Operation *> CudaBackend::formNests(Block &body, StringRef name) const {
  return nests::formNests(body, threadRules, name, [](const Nest &nest) {
    return nest.has<TileOp>() ? makeTileSchedule(nest) : makeThreadSchedule(nest);
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
    if (!isa<LoopOpInterface, AloneOpInterface>(op))
      return refuse(&op);
  FailureOr<OwningOpRef<NestProgramOp>> program = planProgram(body, threadRules);
  if (failed(program))
    return body.getParentOp()->emitError("the group holds an op that no loop nest computes");
  launch.sharedBytes = (*program)->getShared();
  int64_t alignment = getPlaceAlignment(body);
  ThreadCommands commands(name, kernels, launch);
  for (Operation &op : (*program)->getBody().front()) {
    if (auto alone = dyn_cast<AloneOp>(op))
      emitThreadAlone(commands, alone);
    else
      launch.commands.push_back(emitNest(Nest(cast<KernelOp>(op)), nextKernelName(name, launch),
                                         kernels, (*program)->getElements(), alignment));
  }
  return launch;
}

Target::LibraryChoice CudaBackend::findLibrary(Block &body) const {
  if (!capabilities.callsLibraries || !isContractionLaunch(body))
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
