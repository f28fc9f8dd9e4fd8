// reprise: a launch whose leader is a contraction
#include "reprise/Conversion/Cpu/Contraction.h"
#include "reprise/Conversion/Cpu/EmitLaunch.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

bool isContractionLaunch(Block &body) {
  auto ops = llvm::make_filter_range(body.without_terminator(), [](Operation &op) { return !isa<ViewOpInterface>(op); });
  return llvm::hasSingleElement(ops) && isa<DotGeneralOp>(*ops.begin());
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
  EmittedLaunch launch;
  for (const KernelCommand &command : emitContraction(kernels, name, specOf(dot, lhs->view, rhs->view), target)) {
    EmittedCommand emitted{command.kernel, command.items, {}, command.workerBytes};
    int64_t lhsBytes = elementBytes(dot.getLhs().getType().getElementType());
    int64_t rhsBytes = elementBytes(dot.getRhs().getType().getElementType());
    emitted.buffers.push_back({BufferSlot::Input, lhs->argument, lhs->view.offset * lhsBytes});
    emitted.buffers.push_back({BufferSlot::Input, rhs->argument, rhs->view.offset * rhsBytes});
    emitted.buffers.push_back({BufferSlot::Output, 0, 0});
    if (command.sharedBytes)
      emitted.buffers.push_back({BufferSlot::Shared, 0, 0});
    launch.sharedBytes = std::max(launch.sharedBytes, command.sharedBytes);
    launch.commands.push_back(emitted);
  }
  return launch;
}

} // namespace reprise
