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
#include "reprise/Target/GivenNests.h"

using namespace mlir;

namespace reprise {

using namespace nests;

/// Returns what kernels depend on.
static Chip describeChip(StringRef name) {
  unsigned number = 0;
  StringRef digits = name;
  digits.consume_front("sm_");
  digits.consumeInteger(10, number);
  // Kibibytes of a multiprocessor by its compute capability (CUDA C++ Programming Guide).
  const std::pair<unsigned, int64_t> sizes[] = {{80, 164}, {86, 100}, {87, 164},
                                                {88, 100}, {90, 228}, {120, 100}};
  constexpr int64_t ofDriver = 4;
  int64_t size = sizes[0].second;
  for (auto [first, kibibytes] : sizes)
    if (first <= number)
      size = kibibytes;
  return {name.str(), (size - ofDriver) * 1024};
}

CudaBackend::CudaBackend(StringRef chips, Contractions contractions, bool hasCubins)
    : chips(chips), contractions(contractions), hasCubins(hasCubins) {
  for (StringRef chip : llvm::split(chips, '+'))
    capabilities.chips.push_back(describeChip(chip));
  capabilities.contractions = contractions;
  capabilities.hasTensorCores = contractions != Contractions::Exact;
  capabilities.callsLibraries = contractions == Contractions::Library;
  capabilities.addsBias = capabilities.callsLibraries;
  capabilities.prefersWholeRows = capabilities.hasTensorCores;
  // About what an A100 on PCIe 4 and an H100 on PCIe 5 move (docs/devices).
  capabilities.bytesBesideHost = 64;
  capabilities.bytesBesideLink = 16;
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
  bool isGiven = findGivenNests(body) != nullptr;
  if (!isGiven && findAttention(body))
    return {};
  if (!isGiven && isContractionLaunch(body))
    return findContractionInPlacePairs(body);
  return nests::findInPlacePairs(body, threadRules, [&](const Nest &nest) {
    return makeThreadSchedule(nest, capabilities.chips.front());
  });
}

namespace {
/// Emits the kernels of a program of nests.
struct NestProgram {
  NestProgramOp program;
  ModuleOp kernels;
  int64_t placeAlignment;
  ArrayRef<Chip> chips;

  FailureOr<EmittedLaunch> emit(StringRef name) const;

private:
  EmittedCommand emitNest(KernelOp kernel, StringRef name) const;
  EmittedCommand emitNest(const Nest &nest, const Schedule &schedule, StringRef name) const;
};
} // namespace

EmittedCommand NestProgram::emitNest(const Nest &nest, const Schedule &schedule,
                                     StringRef name) const {
  int64_t threads = schedule.blockThreads;
  ThreadKernel k(kernels, name, nest.buffers.size(), schedule.workerBytes, threads);
  int64_t rowBytes = threads / schedule.itemThreads * schedule.rowBytes;
  k.setBlocksTogether(schedule.blocksTogether);
  // Steps and blocks may lead a little beyond the end.
  constexpr int64_t mostNarrow = (int64_t(1) << 31) - (1 << 24);
  auto elements = static_cast<int64_t>(NestProgramOp(program).getElements());
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

/// A kernel with a schedule has it on every chip. Without one, a chip whose schedule differs from
/// that of the chip before has a kernel of its own.
EmittedCommand NestProgram::emitNest(KernelOp kernel, StringRef name) const {
  ScheduleAttr given = kernel.getScheduleAttr();
  EmittedCommand command;
  ScheduleAttr before;
  for (const Chip &chip : chips) {
    kernel.setScheduleAttr(given);
    Nest nest(kernel);
    Schedule schedule = makeThreadSchedule(nest, chip);
    if (kernel.getScheduleAttr() == before)
      continue;
    bool isFirst = !before;
    before = kernel.getScheduleAttr();
    if (isFirst) {
      command = emitNest(nest, schedule, name);
      continue;
    }
    std::string own = (name + "_" + chip.name).str();
    EmittedCommand other = emitNest(nest, schedule, own);
    assert(other.items == command.items && "items depend on the chip");
    auto module = ModuleOp(kernels).lookupSymbol<gpu::GPUModuleOp>(own);
    module->setAttr(kReplacedAttr, StringAttr::get(kernel.getContext(), name));
    module->setAttr(kChipAttr, StringAttr::get(kernel.getContext(), chip.name));
    command.chips.push_back({chip.name, own, other.itemThreads, other.blockThreads});
  }
  return command;
}

FailureOr<EmittedLaunch> NestProgram::emit(StringRef name) const {
  auto schedule = [&](const Nest &nest) { return makeThreadSchedule(nest, chips.front()); };
  if (failed(verifySchedules(program, schedule)))
    return failure();
  EmittedLaunch launch;
  launch.sharedBytes = NestProgramOp(program).getShared();
  ThreadCommands commands(name, kernels, launch);
  for (Operation &op : NestProgramOp(program).getBody().front()) {
    auto alone = dyn_cast<AloneOp>(op);
    if (alone)
      emitThreadAlone(commands, alone);
    else
      launch.commands.push_back(emitNest(cast<KernelOp>(op), nextKernelName(name, launch)));
  }
  return launch;
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
  return nests::formNests(body, threadRules, name, [&](const Nest &nest) {
    return nest.has<TileOp>() ? makeTileSchedule(nest)
                              : makeThreadSchedule(nest, capabilities.chips.front());
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
  if (llvm::all_of(body.getTerminator()->getOperands(), isEmpty))
    return EmittedLaunch();
  bool isGiven = findGivenNests(body) != nullptr;
  if (!isGiven && isContractionLaunch(body))
    return cuda::emitContractionLaunch(body, name, kernels, LaunchOperands(name, kernels, *this),
                                       contractions);
  if (Operation *pool = isGiven ? nullptr : findPool(body))
    return emitThreadPool(pool, name, kernels, LaunchOperands(name, kernels, *this));
  if (Operation *op = isGiven ? nullptr : findAttention(body))
    return emitAttention(op, name, kernels, LaunchOperands(name, kernels, *this), contractions);
  for (Operation &op : body.without_terminator())
    if (!isGiven && !isa<LoopOpInterface, AloneOpInterface>(op))
      return refuse(&op);
  FailureOr<OwningOpRef<NestProgramOp>> program = planProgram(body, threadRules);
  if (failed(program))
    return body.getParentOp()->emitError("the group holds an op that no loop nest computes");
  return NestProgram{**program, kernels, getPlaceAlignment(body), capabilities.chips}.emit(name);
}

FailureOr<EmittedLaunch> CudaBackend::emitNests(Operation *program, StringRef name,
                                                ModuleOp kernels) const {
  return NestProgram{cast<NestProgramOp>(program), kernels, widestAccess, capabilities.chips}.emit(
      name);
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
