// reprise: a launch whose leader is a contraction
#include "LaunchOperands.h"
#include "reprise/Conversion/Cpu/Contraction.h"
#include "reprise/Conversion/Cpu/TileGroup.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

/// True for what needs no arithmetic: operands are read where they lie, or copied first.
static bool isMoved(Operation *op) {
  return isa<ViewOpInterface, IotaOp>(op) || op->hasTrait<OpTrait::ConstantLike>();
}

static bool isMoved(Value value) {
  Operation *op = value.getDefiningOp();
  return !op || (isMoved(op) &&
                 llvm::all_of(op->getOperands(), [](Value operand) { return isMoved(operand); }));
}

/// True if the body holds nothing but the contraction and its operands, and stores its result.
static bool isAlone(Block &body, DotGeneralOp dot) {
  return body.getTerminator()->getOperands() == ValueRange(dot.getResult()) &&
         llvm::all_of(body.without_terminator(),
                      [&](Operation &op) { return isMoved(&op) || &op == dot; });
}

static std::optional<TileGroup> tileGroupOf(Block &body, DotGeneralOp dot,
                                            const CpuTarget &target) {
  auto sizeOf = [](Value value, ArrayRef<int64_t> dims) {
    int64_t size = 1;
    for (int64_t dim : dims)
      size *= cast<RankedTensorType>(value.getType()).getDimSize(dim);
    return size;
  };
  return TileGroup::get(body, dot, sizeOf(dot.getLhs(), dot.getLhsBatch()),
                        sizeOf(dot.getLhs(), dot.getLhsFree()),
                        sizeOf(dot.getRhs(), dot.getRhsFree()), target);
}

bool isContractionLaunch(Block &body) {
  auto dots = body.getOps<DotGeneralOp>();
  if (!llvm::hasSingleElement(dots))
    return false;
  DotGeneralOp dot = *dots.begin();
  return isAlone(body, dot) ||
         (isMoved(dot.getLhs()) && isMoved(dot.getRhs()) && tileGroupOf(body, dot, CpuTarget()));
}

SmallVector<std::pair<unsigned, unsigned>> findContractionInPlacePairs(Block &body) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  DotGeneralOp dot = *body.getOps<DotGeneralOp>().begin();
  if (isAlone(body, dot))
    return pairs;
  auto isOperand = [&](unsigned argument) {
    return llvm::any_of(dot->getOperands(), [&](Value operand) {
      auto view = viewOfArgument(operand);
      return view && view->argument == argument;
    });
  };
  std::optional<TileGroup> group = tileGroupOf(body, dot, CpuTarget());
  for (auto [output, result] : llvm::enumerate(body.getTerminator()->getOperands()))
    for (BlockArgument argument : body.getArguments()) {
      unsigned number = argument.getArgNumber();
      if (argument.getType() == result.getType() && !isOperand(number) && group->mayShare(number))
        pairs.push_back({output, number});
    }
  return pairs;
}

static ContractionSpec specOf(DotGeneralOp dot, ArrayRef<int64_t> lhsStrides,
                              ArrayRef<int64_t> rhsStrides) {
  ArrayRef<int64_t> lhsSizes = dot.getLhs().getType().getShape(),
                    rhsSizes = dot.getRhs().getType().getShape();
  ContractionSpec spec;
  spec.lhsType = dot.getLhs().getType().getElementType();
  spec.rhsType = dot.getRhs().getType().getElementType();
  spec.resultType = dot.getType().getElementType();
  for (auto [l, r] : llvm::zip(dot.getLhsBatch(), dot.getRhsBatch()))
    spec.batch.push_back({lhsSizes[l], lhsStrides[l], rhsStrides[r]});
  for (auto [l, r] : llvm::zip(dot.getLhsContracting(), dot.getRhsContracting()))
    spec.contracted.push_back({lhsSizes[l], lhsStrides[l], rhsStrides[r]});
  for (int64_t dim : dot.getLhsFree())
    spec.rows.push_back({lhsSizes[dim], lhsStrides[dim]});
  for (int64_t dim : dot.getRhsFree())
    spec.columns.push_back({rhsSizes[dim], rhsStrides[dim]});
  return spec;
}

FailureOr<EmittedLaunch> emitContractionLaunch(Block &body, StringRef name, ModuleOp kernels,
                                               const CpuTarget &target) {
  DotGeneralOp dot = *body.getOps<DotGeneralOp>().begin();
  LaunchOperands operands(name, kernels, target);
  FailureOr<LaunchOperand> lhs = operands.find(dot.getLhs()), rhs = operands.find(dot.getRhs());
  if (failed(lhs) || failed(rhs))
    return failure();
  std::optional<TileGroup> group;
  if (!isAlone(body, dot)) {
    group = tileGroupOf(body, dot, target);
    if (!group)
      return dot.emitError("the ops beside this contraction do not fit its blocks");
  }
  ContractionSpec spec = specOf(dot, lhs->strides, rhs->strides);
  auto epilogue = [&](KernelBuilder &k, const ContractionBlock &block) { group->emit(k, block); };
  auto prefetch = [&](KernelBuilder &k, const ContractionBlock &block) {
    group->prefetch(k, block);
  };
  ContractionHooks hooks;
  SmallVector<BufferSlot> extra = {{BufferSlot::Output, 0, 0}};
  if (group) {
    hooks.epilogue = epilogue;
    hooks.prefetch = prefetch;
    extra = llvm::to_vector(group->buffers());
    spec.extraBuffers = extra.size();
  }
  EmittedLaunch launch = std::move(operands.launch);
  int64_t copies = launch.sharedBytes;
  for (const KernelCommand &command : emitContraction(kernels, name, spec, target, hooks)) {
    EmittedCommand emitted{command.kernel, command.items, {}, command.workerBytes};
    emitted.buffers = {lhs->slot, rhs->slot};
    emitted.buffers.append(extra);
    if (command.sharedBytes)
      emitted.buffers.push_back({BufferSlot::Shared, 0, copies});
    launch.sharedBytes = std::max(launch.sharedBytes, copies + command.sharedBytes);
    launch.commands.push_back(emitted);
  }
  return launch;
}

} // namespace reprise
