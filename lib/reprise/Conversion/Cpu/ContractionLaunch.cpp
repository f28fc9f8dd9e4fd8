// reprise: a launch whose leader is a contraction
#include "ContractionLaunch.h"
#include "../LoopNest/TileNest.h"
#include "CpuOperands.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

std::optional<TileGroup> tileGroupOf(Block &body, Operation *leader, const CpuTarget &target) {
  auto [batch, rows, columns] = matrixOf(leader);
  return TileGroup::get(body, leader, batch, rows, columns, target);
}

void addContraction(EmittedLaunch &launch, int64_t keptBytes, ModuleOp kernels, StringRef name,
                    ContractionSpec spec, const CpuTarget &target, const LaunchOperand &lhs,
                    const LaunchOperand &rhs, const std::optional<TileGroup> &group,
                    EpilogueFn store, const LaunchOperand *sums) {
  auto epilogue = [&](KernelBuilder &k, const ContractionBlock &block) { group->emit(k, block); };
  auto prefetch = [&](KernelBuilder &k, const ContractionBlock &block) {
    group->prefetch(k, block);
  };
  ContractionHooks hooks;
  hooks.epilogue = store;
  SmallVector<BufferSlot> extra = {{BufferSlot::Output, 0, 0}};
  if (group) {
    hooks.epilogue = epilogue;
    hooks.prefetch = prefetch;
    extra = llvm::to_vector(group->buffers());
  }
  if (sums)
    extra.push_back(sums->slot);
  spec.extraBuffers = extra.size();
  keptBytes = static_cast<int64_t>(llvm::alignTo(keptBytes, 64));
  for (const KernelCommand &command : emitContraction(kernels, name, spec, target, hooks)) {
    EmittedCommand emitted{command.kernel, command.items, {}, command.workerBytes};
    emitted.bytes = command.packedBytes;
    emitted.buffers = {lhs.slot, rhs.slot};
    emitted.buffers.append(extra);
    if (command.sharedBytes) {
      emitted.buffers.push_back({BufferSlot::Shared, 0, keptBytes});
      launch.sharedBytes = std::max(launch.sharedBytes, keptBytes + command.sharedBytes);
    }
    launch.commands.push_back(emitted);
  }
}

/// Emits a contraction that continues sums, which no other op joins.
static FailureOr<EmittedLaunch> emitAccumulateLaunch(DotAccumulateOp dot, StringRef name,
                                                     ModuleOp kernels, const CpuTarget &target) {
  LaunchOperands operands = makeCpuOperands(name, kernels, target);
  FailureOr<LaunchOperand> lhs = operands.find(dot.getLhs()), rhs = operands.find(dot.getRhs());
  FailureOr<LaunchOperand> sums = operands.find(dot.getSums(), /*dense=*/true);
  if (failed(lhs) || failed(rhs) || failed(sums))
    return failure();
  addContraction(operands.launch, operands.launch.sharedBytes, kernels, name,
                 ContractionSpec::of(dot, lhs->strides, rhs->strides), target, *lhs, *rhs,
                 /*group=*/std::nullopt, /*store=*/nullptr, &*sums);
  return operands.launch;
}

FailureOr<EmittedLaunch> emitContractionLaunch(Block &body, StringRef name, ModuleOp kernels,
                                               const CpuTarget &target) {
  Operation *leader = findLeader(body);
  if (auto dot = dyn_cast<DotAccumulateOp>(leader))
    return emitAccumulateLaunch(dot, name, kernels, target);
  auto dot = dyn_cast<DotGeneralOp>(leader);
  if (!dot)
    return emitConvolutionLaunch(body, leader, name, kernels, target);
  LaunchOperands operands = makeCpuOperands(name, kernels, target);
  FailureOr<LaunchOperand> lhs = operands.find(dot.getLhs()), rhs = operands.find(dot.getRhs());
  if (failed(lhs) || failed(rhs))
    return failure();
  std::optional<TileGroup> group;
  if (!isAlone(body, dot)) {
    group = tileGroupOf(body, dot, target);
    if (!group)
      return dot.emitError("the ops beside this contraction do not fit its blocks");
  }
  addContraction(operands.launch, operands.launch.sharedBytes, kernels, name,
                 ContractionSpec::of(dot, lhs->strides, rhs->strides), target, *lhs, *rhs, group);
  return operands.launch;
}

} // namespace reprise
