// reprise: a launch whose leader is a contraction
#include "ContractionLaunch.h"
#include "CpuOperands.h"

#include "reprise/Conversion/BodyView.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

/// [batch, rows, columns] of a result of which each group has `rows`: [samples, groups, rows,
/// columns…], or without samples.
static std::array<int64_t, 3> matrixOf(Value result, int64_t groups, bool hasSamples) {
  auto type = cast<RankedTensorType>(result.getType());
  int64_t rows = type.getDimSize(hasSamples) / groups;
  int64_t batch = groups * (hasSamples ? type.getDimSize(0) : 1);
  return {batch, rows, type.getNumElements() / std::max<int64_t>(1, batch * rows)};
}

static std::array<int64_t, 3> matrixOf(Operation *leader) {
  if (auto image = dyn_cast<ConvolutionTransposeOp>(leader))
    return matrixOf(image.getResult(), image.getGroups(), true);
  if (auto output = dyn_cast<ConvolutionOp>(leader))
    return matrixOf(output.getResult(), output.getGroups(), true);
  if (auto filter = dyn_cast<ConvolutionFilterOp>(leader))
    return matrixOf(filter.getResult(), filter.getGroups(), false);
  auto dot = cast<DotGeneralOp>(leader);
  auto sizeOf = [](Value value, ArrayRef<int64_t> dims) {
    int64_t size = 1;
    for (int64_t dim : dims)
      size *= cast<RankedTensorType>(value.getType()).getDimSize(dim);
    return size;
  };
  return {sizeOf(dot.getLhs(), dot.getLhsBatch()), sizeOf(dot.getLhs(), dot.getLhsFree()),
          sizeOf(dot.getRhs(), dot.getRhsFree())};
}

std::optional<TileGroup> tileGroupOf(Block &body, Operation *leader, const CpuTarget &target) {
  auto [batch, rows, columns] = matrixOf(leader);
  return TileGroup::get(body, leader, batch, rows, columns, target);
}

bool isContractionLaunch(Block &body) {
  Operation *leader = findLeader(body);
  return leader && (isAlone(body, leader) ||
                    (llvm::all_of(leader->getOperands(), [](Value v) { return isMoved(v); }) &&
                     tileGroupOf(body, leader, CpuTarget())));
}

SmallVector<std::pair<unsigned, unsigned>> findContractionInPlacePairs(Block &body) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  Operation *leader = findLeader(body);
  if (isAlone(body, leader))
    return pairs;
  auto isOperand = [&](unsigned argument) {
    return llvm::any_of(leader->getOperands(), [&](Value operand) {
      auto view = viewOfArgument(operand);
      return view && view->argument == argument;
    });
  };
  std::optional<TileGroup> group = tileGroupOf(body, leader, CpuTarget());
  for (auto [output, result] : llvm::enumerate(body.getTerminator()->getOperands()))
    for (BlockArgument argument : body.getArguments()) {
      unsigned number = argument.getArgNumber();
      if (argument.getType() == result.getType() && !isOperand(number) && group->mayShare(number))
        pairs.push_back({output, number});
    }
  return pairs;
}

void addContraction(EmittedLaunch &launch, int64_t keptBytes, ModuleOp kernels, StringRef name,
                    ContractionSpec spec, const CpuTarget &target, const LaunchOperand &lhs,
                    const LaunchOperand &rhs, const std::optional<TileGroup> &group,
                    EpilogueFn store) {
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

FailureOr<EmittedLaunch> emitContractionLaunch(Block &body, StringRef name, ModuleOp kernels,
                                               const CpuTarget &target) {
  Operation *leader = findLeader(body);
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
