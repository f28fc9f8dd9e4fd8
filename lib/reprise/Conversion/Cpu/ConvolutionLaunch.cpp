// reprise: a launch whose leader is a convolution or one of its gradients, as contractions
//
// An image with a frame of zeros around it makes every operand strided: an output position moves
// the window's first element by a fixed distance, a window position by another. What a strided
// convolution's gradient computes is cut into phases, image positions with the same remainders by
// the strides: each sums over its own part of the window, without holes.
#include "ContractionLaunch.h"
#include "ConvolutionFrame.h"
#include "CpuOperands.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/ByteSize.h"

#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;

namespace reprise {
namespace {

//===-- Shapes --------------------------------------------------------------------------------===//

/// One spatial dimension; a convolution over one has another of size 1 before it.
struct Axis {
  int64_t image = 1, output = 1, window = 1, stride = 1, low = 0, dilation = 1;
};

struct ConvolutionShape {
  int64_t samples, groups, channels, outputs; // channels and outputs of one group
  Axis axes[2];
};

template <typename OpT> ConvolutionShape shapeOf(OpT op) {
  auto image = op.getImageType(), filter = op.getFilterType(), output = op.getOutputType();
  int64_t groups = op.getGroups(), spatial = image.getRank() - 2;
  ConvolutionShape shape{
      image.getDimSize(0), groups, filter.getDimSize(1), filter.getDimSize(0) / groups, {}};
  for (int64_t d = 0; d < spatial; ++d)
    shape.axes[2 - spatial + d] = {image.getDimSize(d + 2),  output.getDimSize(d + 2),
                                   filter.getDimSize(d + 2), op.getStrides()[d],
                                   op.getLow()[d],           op.getDilation()[d]};
  return shape;
}

/// Positions along one axis that sum over the same part of the window. All are arithmetic
/// sequences; result i and window position j read position source + i · sourceStep + j ·
/// sourcePerWindow of the operand.
struct Phase {
  int64_t first, step, count;              // of the result
  int64_t window, windowStep, windowCount; // of the window
  int64_t source, sourceStep, sourcePerWindow;

  bool reads() const { return count > 0 && windowCount > 0; }
  /// The positions that are read lie in [begin, end), some outside of the operand.
  int64_t begin() const {
    return source + std::min<int64_t>(0, (windowCount - 1) * sourcePerWindow);
  }
  int64_t end() const {
    return source + (count - 1) * sourceStep +
           std::max<int64_t>(0, (windowCount - 1) * sourcePerWindow) + 1;
  }
};

/// Output positions, which read the image.
Phase forwardPhase(const Axis &axis) {
  return {0, 1, axis.output, 0, 1, axis.window, -axis.low, axis.stride, axis.dilation};
}

/// Image positions `remainder`, `remainder` + stride, … , which read the output.
Phase backwardPhase(const Axis &axis, int64_t remainder) {
  Phase phase{remainder, axis.stride, 0, 0, 0, 0, 0, 1, 0};
  if (remainder < axis.image)
    phase.count = llvm::divideCeil(axis.image - remainder, axis.stride);
  phase.windowStep = axis.stride / std::gcd(axis.stride, axis.dilation);
  auto distance = [&](int64_t r) { return remainder + axis.low - r * axis.dilation; };
  while (phase.window < std::min(axis.window, phase.windowStep) &&
         distance(phase.window) % axis.stride != 0)
    ++phase.window;
  if (phase.window < std::min(axis.window, phase.windowStep))
    phase.windowCount = llvm::divideCeil(axis.window - phase.window, phase.windowStep);
  if (phase.windowCount)
    phase.source = distance(phase.window) / axis.stride;
  phase.sourcePerWindow = -phase.windowStep * axis.dilation / axis.stride;
  return phase;
}

//===-- The launch ----------------------------------------------------------------------------===//

/// Distances in elements of [first, second, y, x] from those of [first, second, spatial…].
struct Strides {
  int64_t first, second, axes[2];

  explicit Strides(const LaunchOperand &operand)
      : first(operand.strides[0]), second(operand.strides[1]),
        axes{operand.strides.size() == 4 ? operand.strides[2] : 0, operand.strides.back()} {}
};

/// A convolution, or its transpose, as sums over a source's channels and the window.
struct Sums {
  Value source, filter;
  bool transposed;     // the filter's second dimension is the result's, and its first the source's
  int64_t rows, terms; // channels of a group of the result, of the source
  int64_t size[2];     // positions of the result
  SmallVector<Phase> phases[2];
};

class ConvolutionLaunch {
public:
  ConvolutionLaunch(Operation *op, StringRef name, ModuleOp kernels, const CpuTarget &target)
      : op(op), name(name), kernels(kernels), target(target),
        operands(makeCpuOperands(name, kernels, target)) {}

  FailureOr<EmittedLaunch> emit(Block &body) {
    if (!isAlone(body, op)) {
      group = tileGroupOf(body, op, target);
      if (!group)
        return op->emitError("the ops beside this convolution do not fit its blocks");
    }
    auto convolve = [&](auto convolution) { return emitOp(convolution); };
    LogicalResult done =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case<ConvolutionOp, ConvolutionTransposeOp, ConvolutionFilterOp>(convolve)
            .Default([](Operation *) { return failure(); });
    if (failed(done))
      return failure();
    return operands.launch;
  }

private:
  LogicalResult emitOp(ConvolutionOp convolution) {
    shape = shapeOf(convolution);
    Sums sums{convolution.getImage(),
              convolution.getFilter(),
              false,
              shape.outputs,
              shape.channels,
              {shape.axes[0].output, shape.axes[1].output},
              {}};
    for (int d : {0, 1})
      sums.phases[d] = {forwardPhase(shape.axes[d])};
    return emitSums(sums);
  }

  LogicalResult emitOp(ConvolutionTransposeOp convolution) {
    shape = shapeOf(convolution);
    Sums sums{convolution.getOutput(),
              convolution.getFilter(),
              true,
              shape.channels,
              shape.outputs,
              {shape.axes[0].image, shape.axes[1].image},
              {}};
    for (int d : {0, 1})
      for (int64_t remainder = 0; remainder < shape.axes[d].stride; ++remainder)
        sums.phases[d].push_back(backwardPhase(shape.axes[d], remainder));
    return emitSums(sums);
  }

  LogicalResult emitOp(ConvolutionFilterOp convolution) {
    shape = shapeOf(convolution);
    SmallVector<Phase> phases[2] = {{forwardPhase(shape.axes[0])}, {forwardPhase(shape.axes[1])}};
    FailureOr<LaunchOperand> output = operands.find(convolution.getOutput());
    FailureOr<LaunchOperand> image = frame(convolution.getImage(), phases);
    if (failed(output) || failed(image))
      return failure();
    Strides o(*output), i(*image);
    ContractionSpec spec = startSpec();
    spec.batch = {{shape.groups, shape.outputs * o.second, shape.channels * i.second}};
    spec.rows = {{shape.outputs, o.second}};
    spec.contracted = {{shape.samples, o.first, i.first}};
    spec.columns = {{shape.channels, i.second}};
    for (int d : {0, 1}) {
      const Phase &phase = phases[d].front();
      spec.contracted.push_back({phase.count, o.axes[d], phase.sourceStep * i.axes[d]});
      spec.columns.push_back({phase.windowCount, phase.sourcePerWindow * i.axes[d]});
      spec.rhsOffset += (phase.source + low[d]) * i.axes[d];
    }
    // Window positions are no neighbours in the image, but outputs are; then the results must be
    // brought into their order, which pays for many terms.
    spec.lanesAlongRows =
        phases[0].front().count * phases[1].front().count * shape.samples > shape.outputs;
    int64_t kept = operands.launch.sharedBytes;
    addContraction(operands.launch, kept, kernels, name, spec, target, *output, *image, group);
    return success();
  }

  /// One contraction per phase.
  LogicalResult emitSums(const Sums &sums) {
    FailureOr<LaunchOperand> filter = operands.find(sums.filter);
    FailureOr<LaunchOperand> source = frame(sums.source, sums.phases);
    if (failed(filter) || failed(source))
      return failure();
    int64_t kept = operands.launch.sharedBytes, number = 0;
    for (const Phase &y : sums.phases[0])
      for (const Phase &x : sums.phases[1])
        if (y.count > 0 && x.count > 0)
          emitPhase(sums, y, x, *filter, *source, kept, number++);
    return success();
  }

  void emitPhase(const Sums &sums, const Phase &y, const Phase &x, const LaunchOperand &filter,
                 const LaunchOperand &source, int64_t kept, int64_t number) {
    Strides f(filter), s(source);
    if (sums.transposed)
      std::swap(f.first, f.second);
    ContractionSpec spec = startSpec();
    spec.batch = {{shape.groups, shape.outputs * (sums.transposed ? f.second : f.first),
                   sums.terms * s.second}};
    spec.rows = {{sums.rows, f.first}};
    spec.contracted = {{sums.terms, f.second, s.second}};
    spec.columns = {{shape.samples, s.first}};
    const Phase *const phases[] = {&y, &x};
    for (auto [d, phase] : llvm::enumerate(phases)) {
      spec.contracted.push_back(
          {phase->windowCount, phase->windowStep * f.axes[d], phase->sourcePerWindow * s.axes[d]});
      spec.columns.push_back({phase->count, phase->sourceStep * s.axes[d]});
      spec.lhsOffset += phase->window * f.axes[d];
      spec.rhsOffset += (phase->source + low[d]) * s.axes[d];
    }
    if (sums.phases[0].size() == 1 && sums.phases[1].size() == 1) {
      spec.columnGroups = shape.samples;
      addContraction(operands.launch, kept, kernels, name, spec, target, filter, source, group);
      return;
    }
    spec.columnGroups = shape.samples * y.count;
    auto store = [&](KernelBuilder &k, const ContractionBlock &block) {
      storePhase(k, block, spec, sums, y, x);
    };
    addContraction(operands.launch, kept, kernels, name.str() + "_" + std::to_string(number), spec,
                   target, filter, source, std::nullopt, store);
  }

  /// Stores a block of a phase, whose columns lie in one line of the result.
  void storePhase(KernelBuilder &k, const ContractionBlock &block, const ContractionSpec &spec,
                  const Sums &sums, const Phase &y, const Phase &x) const {
    Value line = k.div(block.batch, shape.groups);
    Value sample = k.div(line, y.count);
    Value channel0 =
        k.mul(k.add(k.mul(sample, shape.groups), k.rem(block.batch, shape.groups)), sums.rows);
    Value top = k.add(k.mul(k.rem(line, y.count), y.step), y.first);
    k.forLoop(block.row0, block.row1, k.i64(1), [&](Value row) {
      Value from = k.mul(k.sub(row, block.row0), block.ld);
      Value position = k.add(k.mul(k.add(channel0, row), sums.size[0]), top);
      Value to = k.add(k.mul(position, sums.size[1]), x.first);
      k.forLoop(block.column0, block.column1, k.i64(1), [&](Value column) {
        Value at = k.add(from, k.sub(column, block.column0));
        Value sum = k.load(spec.accumulatorType(), block.scratch, at);
        k.storeCompute(spec.resultType, sum, k.buffer(2), k.add(to, k.mul(column, x.step)));
      });
    });
  }

  ContractionSpec startSpec() const {
    ContractionSpec spec;
    spec.lhsType = spec.rhsType = spec.resultType =
        cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
    return spec;
  }

  /// Finds an image with as many zeros around it as the phases read.
  FailureOr<LaunchOperand> frame(Value image, const SmallVector<Phase> (&phases)[2]) {
    auto type = cast<RankedTensorType>(image.getType());
    Frame frame;
    for (int64_t i = 2; i < type.getRank(); ++i) {
      int64_t d = 4 - type.getRank() + i - 2;
      frame.size[d] = type.getDimSize(i);
      for (const Phase &phase : phases[d])
        if (phase.reads()) {
          frame.low[d] = std::max(frame.low[d], -phase.begin());
          frame.high[d] = std::max(frame.high[d], phase.end() - frame.size[d]);
        }
      low[d] = frame.low[d];
    }
    if (frame.isEmpty())
      return operands.find(image);
    FailureOr<LaunchOperand> plain = operands.find(image, true);
    if (failed(plain))
      return failure();
    return addFrame(*plain, type, frame);
  }

  LaunchOperand addFrame(const LaunchOperand &plain, RankedTensorType type, const Frame &frame) {
    std::string own = name.str() + "_frame";
    emitFrame(kernels, own, type.getElementType(), frame);
    EmittedLaunch &launch = operands.launch;
    int64_t planes = type.getDimSize(0) * type.getDimSize(1), plane = frame.lines() * frame.width();
    int64_t framed = planes * plane * KernelBuilder::bytesOf(type.getElementType());
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
  std::optional<TileGroup> group;
  ConvolutionShape shape;
  /// Zeros before the framed image.
  int64_t low[2] = {0, 0};
};

} // namespace

FailureOr<EmittedLaunch> emitConvolutionLaunch(Block &body, Operation *leader, StringRef name,
                                               ModuleOp kernels, const CpuTarget &target) {
  return ConvolutionLaunch(leader, name, kernels, target).emit(body);
}

} // namespace reprise
