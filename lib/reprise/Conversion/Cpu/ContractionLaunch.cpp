// reprise: a launch whose leader is a contraction
#include "reprise/Conversion/Cpu/Contraction.h"
#include "reprise/Conversion/Cpu/EmitLaunch.h"
#include "reprise/Conversion/Cpu/TileGroup.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

/// True if the body holds nothing but the contraction and views for it, and stores its result.
static bool isAlone(Block &body, DotGeneralOp dot) {
  return body.getTerminator()->getOperands() == ValueRange(dot.getResult()) &&
         llvm::all_of(body.without_terminator(), [&](Operation &op) { return isa<ViewOpInterface>(op) || &op == dot; });
}

static std::optional<TileGroup> tileGroupOf(Block &body, DotGeneralOp dot, const CpuTarget &target) {
  auto sizeOf = [](Value value, ArrayRef<int64_t> dims) {
    int64_t size = 1;
    for (int64_t dim : dims)
      size *= cast<RankedTensorType>(value.getType()).getDimSize(dim);
    return size;
  };
  return TileGroup::get(body, dot, sizeOf(dot.getLhs(), dot.getLhsBatch()), sizeOf(dot.getLhs(), dot.getLhsFree()),
                        sizeOf(dot.getRhs(), dot.getRhsFree()), target);
}

bool isContractionLaunch(Block &body) {
  auto dots = body.getOps<DotGeneralOp>();
  if (!llvm::hasSingleElement(dots))
    return false;
  DotGeneralOp dot = *dots.begin();
  if (isAlone(body, dot))
    return true;
  return viewOfArgument(dot.getLhs()) && viewOfArgument(dot.getRhs()) && tileGroupOf(body, dot, CpuTarget());
}

SmallVector<std::pair<unsigned, unsigned>> findContractionInPlacePairs(Block &body) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  DotGeneralOp dot = *body.getOps<DotGeneralOp>().begin();
  if (isAlone(body, dot))
    return pairs;
  auto lhs = viewOfArgument(dot.getLhs()), rhs = viewOfArgument(dot.getRhs());
  std::optional<TileGroup> group = tileGroupOf(body, dot, CpuTarget());
  for (auto [output, result] : llvm::enumerate(body.getTerminator()->getOperands()))
    for (BlockArgument argument : body.getArguments()) {
      unsigned number = argument.getArgNumber();
      if (argument.getType() == result.getType() && number != lhs->argument && number != rhs->argument &&
          group->mayShare(number))
        pairs.push_back({output, number});
    }
  return pairs;
}

static FreeDim freeDim(const StridedView &view, int64_t dim) { return {view.sizes[dim], view.strides[dim]}; }

static ContractionSpec specOf(DotGeneralOp dot, const StridedView &lhs, const StridedView &rhs) {
  ContractionSpec spec;
  spec.lhsType = dot.getLhs().getType().getElementType();
  spec.rhsType = dot.getRhs().getType().getElementType();
  spec.resultType = dot.getType().getElementType();
  for (auto [l, r] : llvm::zip(dot.getLhsBatch(), dot.getRhsBatch()))
    spec.batch.push_back({lhs.sizes[l], lhs.strides[l], rhs.strides[r]});
  for (auto [l, r] : llvm::zip(dot.getLhsContracting(), dot.getRhsContracting()))
    spec.contracted.push_back({lhs.sizes[l], lhs.strides[l], rhs.strides[r]});
  for (int64_t dim : dot.getLhsFree())
    spec.rows.push_back(freeDim(lhs, dim));
  for (int64_t dim : dot.getRhsFree())
    spec.columns.push_back(freeDim(rhs, dim));
  return spec;
}

FailureOr<EmittedLaunch> emitContractionLaunch(Block &body, StringRef name, ModuleOp kernels, const CpuTarget &target) {
  DotGeneralOp dot = *body.getOps<DotGeneralOp>().begin();
  auto lhs = viewOfArgument(dot.getLhs()), rhs = viewOfArgument(dot.getRhs());
  if (!lhs || !rhs)
    return dot.emitError("an operand of this contraction is no strided view of a buffer");
  std::optional<TileGroup> group;
  if (!isAlone(body, dot)) {
    group = tileGroupOf(body, dot, target);
    if (!group)
      return dot.emitError("the ops beside this contraction do not fit its blocks");
  }
  ContractionSpec spec = specOf(dot, lhs->view, rhs->view);
  auto epilogue = [&](KernelBuilder &k, const ContractionBlock &block) { group->emit(k, block); };
  ContractionHooks hooks;
  SmallVector<BufferSlot> extra = {{BufferSlot::Output, 0, 0}};
  if (group) {
    hooks.epilogue = epilogue;
    extra = llvm::to_vector(group->buffers());
    spec.extraBuffers = extra.size();
  }
  EmittedLaunch launch;
  for (const KernelCommand &command : emitContraction(kernels, name, spec, target, hooks)) {
    EmittedCommand emitted{command.kernel, command.items, {}, command.workerBytes};
    int64_t lhsBytes = elementBytes(dot.getLhs().getType().getElementType());
    int64_t rhsBytes = elementBytes(dot.getRhs().getType().getElementType());
    emitted.buffers.push_back({BufferSlot::Input, lhs->argument, lhs->view.offset * lhsBytes});
    emitted.buffers.push_back({BufferSlot::Input, rhs->argument, rhs->view.offset * rhsBytes});
    emitted.buffers.append(extra);
    if (command.sharedBytes)
      emitted.buffers.push_back({BufferSlot::Shared, 0, 0});
    launch.sharedBytes = std::max(launch.sharedBytes, command.sharedBytes);
    launch.commands.push_back(emitted);
  }
  return launch;
}

} // namespace reprise
