// reprise: a launch whose leader is a convolution or one of its gradients, as contractions
#include "../ConvolutionParts.h"
#include "ContractionLaunch.h"
#include "ConvolutionFrame.h"
#include "CpuOperands.h"
#include "reprise/Conversion/ControlFlow.h"
#include "reprise/Conversion/Elements.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;

namespace reprise {
namespace {

class ConvolutionLaunch {
public:
  ConvolutionLaunch(Operation *op, StringRef name, ModuleOp kernels, const CpuTarget &target)
      : op(op), name(name), kernels(kernels), target(target),
        operands(makeCpuOperands(name, kernels, target)) {}

  FailureOr<EmittedLaunch> emit(Block &body) {
    std::optional<TileGroup> group;
    if (!isAlone(body, op)) {
      group = tileGroupOf(body, op, target);
      if (!group)
        return op->emitError("the ops beside this convolution do not fit its blocks");
    }
    auto [lhsValue, rhsValue, around] = operandsOf(op);
    FailureOr<LaunchOperand> lhs = operands.find(lhsValue);
    FailureOr<LaunchOperand> rhs = frame(rhsValue, around);
    if (failed(lhs) || failed(rhs))
      return failure();
    int64_t kept = operands.launch.sharedBytes;
    std::vector<ConvolutionPart> parts = partsOf(op, lhs->strides, rhs->strides);
    for (size_t i = 0; i < parts.size(); ++i) {
      const ConvolutionPart &part = parts[i];
      auto store = [&](KernelBuilder &k, const ContractionBlock &block) {
        storePhase(k, block, part);
      };
      if (part.isWhole)
        addContraction(operands.launch, kept, kernels, name, part.spec, target, *lhs, *rhs, group);
      else
        addContraction(operands.launch, kept, kernels, name.str() + "_" + std::to_string(i),
                       part.spec, target, *lhs, *rhs, std::nullopt, store);
    }
    return operands.launch;
  }

private:
  /// Stores a block of a phase, whose columns lie in one line of the result.
  static void storePhase(KernelBuilder &k, const ContractionBlock &block,
                         const ConvolutionPart &part) {
    const ContractionSpec &spec = part.spec;
    const ResultStrides &result = part.result;
    int64_t groups = spec.batch.front().size, lines = spec.columns[1].size;
    Value line = k.div(block.batch, groups);
    Value start = k.add(k.mul(k.rem(block.batch, groups), result.batch.front()), result.offset);
    start = k.add(start, k.mul(k.div(line, lines), result.columns[0]));
    start = k.add(start, k.mul(k.rem(line, lines), result.columns[1]));
    forLoop(k, block.row0, block.row1, k.i64(1), [&](Value row) {
      Value from = k.mul(k.sub(row, block.row0), block.ld);
      Value to = k.add(start, k.mul(row, result.rows.front()));
      forLoop(k, block.column0, block.column1, k.i64(1), [&](Value column) {
        Value at = k.add(from, k.sub(column, block.column0));
        Value sum = emitLoad(k.b, spec.accumulatorType(), block.scratch, at);
        Value place = k.add(to, k.mul(column, result.columns[2]));
        emitStoreRounded(k.b, spec.resultType, sum, k.buffer(2), place);
      });
    });
  }

  FailureOr<LaunchOperand> frame(Value image, const Frame &around) {
    if (around.isEmpty())
      return operands.find(image);
    FailureOr<LaunchOperand> plain = operands.find(image, true);
    if (failed(plain))
      return failure();
    return addFrame(*plain, cast<RankedTensorType>(image.getType()), around);
  }

  LaunchOperand addFrame(const LaunchOperand &plain, RankedTensorType type, const Frame &frame) {
    std::string own = name.str() + "_frame";
    emitFrame(kernels, own, type.getElementType(), frame);
    EmittedLaunch &launch = operands.launch;
    int64_t planes = type.getDimSize(0) * type.getDimSize(1), plane = frame.lines() * frame.width();
    int64_t framed = planes * plane * bytesOf(type.getElementType());
    BufferSlot to{BufferSlot::Shared, 0, launch.addShared(framed)};
    EmittedCommand command{own, planes, {plain.slot, to}};
    command.bytes = framed + getByteSize(type);
    launch.commands.push_back(command);
    SmallVector<int64_t> strides = {type.getDimSize(1) * plane, plane};
    if (type.getRank() == 4)
      strides.push_back(frame.width());
    strides.push_back(1);
    return {to, strides};
  }

  Operation *op;
  StringRef name;
  ModuleOp kernels;
  const CpuTarget &target;
  LaunchOperands operands;
};

} // namespace

FailureOr<EmittedLaunch> emitConvolutionLaunch(Block &body, Operation *leader, StringRef name,
                                               ModuleOp kernels, const CpuTarget &target) {
  return ConvolutionLaunch(leader, name, kernels, target).emit(body);
}

} // namespace reprise
