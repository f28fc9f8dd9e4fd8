// reprise: a convolution, or one of its gradients, as contractions of strided operands
#include "ConvolutionParts.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;

namespace reprise {
namespace {

//===-- Shapes --------------------------------------------------------------------------------===//

/// Spatial dimension; a convolution over one dimension has another dimension of size 1 before it.
struct Axis {
  int64_t image = 1, output = 1, window = 1, stride = 1, low = 0, dilation = 1;
};

struct ConvolutionShape {
  int64_t samples, groups, channels, outputs; // channels and outputs per group
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

/// Positions along one axis whose sums use the same part of the window. All are arithmetic
/// sequences; result i and window position j read position source + i · sourceStep + j ·
/// sourcePerWindow of the operand.
struct Phase {
  int64_t first, step, count;              // positions of the result
  int64_t window, windowStep, windowCount; // positions of the window
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

/// Returns the output positions, which read the image.
Phase forwardPhase(const Axis &axis) {
  return {0, 1, axis.output, 0, 1, axis.window, -axis.low, axis.stride, axis.dilation};
}

/// Returns the image positions `remainder`, `remainder` + stride, … , which read the output.
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

//===-- Operands and parts --------------------------------------------------------------------===//

/// Strides in elements of [first, second, y, x], from the strides of [first, second, spatial…].
struct Strides {
  int64_t first, second, axes[2];

  explicit Strides(ArrayRef<int64_t> strides)
      : first(strides[0]), second(strides[1]),
        axes{strides.size() == 4 ? strides[2] : 0, strides.back()} {}
};

class Convolution {
public:
  explicit Convolution(Operation *op) {
    TypeSwitch<Operation *>(op).Case<ConvolutionOp, ConvolutionTransposeOp, ConvolutionFilterOp>(
        [&](auto convolution) {
          shape = shapeOf(convolution);
          type = convolution.getType().getElementType();
          describe(convolution);
        });
    findFrame();
  }

  ConvolutionOperands operands;
  std::vector<ConvolutionPart> parts(const Strides &lhs, const Strides &rhs) const;

private:
  void describe(ConvolutionOp op) {
    operands = {op.getFilter(), op.getImage(), {}};
    rows = shape.outputs;
    terms = shape.channels;
    for (int d : {0, 1}) {
      phases[d] = {forwardPhase(shape.axes[d])};
      size[d] = shape.axes[d].output;
    }
  }
  void describe(ConvolutionTransposeOp op) {
    operands = {op.getFilter(), op.getOutput(), {}};
    isTransposed = true;
    rows = shape.channels;
    terms = shape.outputs;
    for (int d : {0, 1}) {
      for (int64_t remainder = 0; remainder < shape.axes[d].stride; ++remainder)
        phases[d].push_back(backwardPhase(shape.axes[d], remainder));
      size[d] = shape.axes[d].image;
    }
  }
  void describe(ConvolutionFilterOp op) {
    operands = {op.getOutput(), op.getImage(), {}};
    sumsPositions = true;
    for (int d : {0, 1})
      phases[d] = {forwardPhase(shape.axes[d])};
  }

  void findFrame();
  ContractionSpec startSpec() const {
    ContractionSpec spec;
    spec.lhsType = spec.rhsType = spec.resultType = type;
    return spec;
  }
  ConvolutionPart filterPart(const Strides &output, const Strides &image) const;
  ConvolutionPart phasePart(const Phase &y, const Phase &x, Strides filter,
                            const Strides &source) const;

  ConvolutionShape shape;
  Type type;
  SmallVector<Phase> phases[2];
  // Fields below are unused for a filter's gradient, which sums over samples and positions.
  bool sumsPositions = false;
  bool isTransposed =
      // True if the filter's dimensions are [source channels, result channels, …].
      false;
  int64_t rows = 0, terms = 0; // channels per group of the result, and of the source
  int64_t size[2] = {0, 0};    // positions of the result
};

/// Finds the widths of zeros that the phases read around the image.
void Convolution::findFrame() {
  auto source = cast<RankedTensorType>(operands.rhs.getType());
  Frame &frame = operands.frame;
  for (int64_t i = 2; i < source.getRank(); ++i) {
    int64_t d = 4 - source.getRank() + i - 2;
    frame.size[d] = source.getDimSize(i);
    for (const Phase &phase : phases[d])
      if (phase.reads()) {
        frame.low[d] = std::max(frame.low[d], -phase.begin());
        frame.high[d] = std::max(frame.high[d], phase.end() - frame.size[d]);
      }
  }
}

ConvolutionPart Convolution::filterPart(const Strides &output, const Strides &image) const {
  ContractionSpec spec = startSpec();
  spec.batch = {{shape.groups, shape.outputs * output.second, shape.channels * image.second}};
  spec.rows = {{shape.outputs, output.second}};
  spec.contracted = {{shape.samples, output.first, image.first}};
  spec.columns = {{shape.channels, image.second}};
  for (int d : {0, 1}) {
    const Phase &phase = phases[d].front();
    spec.contracted.push_back({phase.count, output.axes[d], phase.sourceStep * image.axes[d]});
    spec.columns.push_back({phase.windowCount, phase.sourcePerWindow * image.axes[d]});
    spec.rhsOffset += (phase.source + operands.frame.low[d]) * image.axes[d];
  }
  // Window positions are not adjacent in the image, but outputs are. Lanes along outputs need a
  // transposition of the results, which pays off for many terms.
  spec.lanesAlongRows =
      phases[0].front().count * phases[1].front().count * shape.samples > shape.outputs;
  return {spec, ResultStrides::rowMajor(spec), true};
}

ConvolutionPart Convolution::phasePart(const Phase &y, const Phase &x, Strides filter,
                                       const Strides &source) const {
  int64_t perGroup = shape.outputs * filter.first;
  if (isTransposed)
    std::swap(filter.first, filter.second);
  ContractionSpec spec = startSpec();
  spec.batch = {{shape.groups, perGroup, terms * source.second}};
  spec.rows = {{rows, filter.first}};
  spec.contracted = {{terms, filter.second, source.second}};
  spec.columns = {{shape.samples, source.first}};
  int64_t plane = size[0] * size[1];
  ResultStrides result{y.first * size[1] + x.first,
                       {rows * plane},
                       {plane},
                       {shape.groups * rows * plane, y.step * size[1], x.step}};
  const Phase *const both[] = {&y, &x};
  for (auto [d, phase] : llvm::enumerate(both)) {
    spec.contracted.push_back({phase->windowCount, phase->windowStep * filter.axes[d],
                               phase->sourcePerWindow * source.axes[d]});
    spec.columns.push_back({phase->count, phase->sourceStep * source.axes[d]});
    spec.lhsOffset += phase->window * filter.axes[d];
    spec.rhsOffset += (phase->source + operands.frame.low[d]) * source.axes[d];
  }
  bool isWhole = phases[0].size() == 1 && phases[1].size() == 1;
  spec.columnGroups = shape.samples * (isWhole ? 1 : y.count);
  return {spec, result, isWhole};
}

std::vector<ConvolutionPart> Convolution::parts(const Strides &lhs, const Strides &rhs) const {
  if (sumsPositions)
    return {filterPart(lhs, rhs)};
  std::vector<ConvolutionPart> parts;
  for (const Phase &y : phases[0])
    for (const Phase &x : phases[1])
      if (y.count > 0 && x.count > 0)
        parts.push_back(phasePart(y, x, lhs, rhs));
  return parts;
}

} // namespace

Frame Frame::none(Value tensor) {
  Frame frame;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t d = 2; d < type.getRank(); ++d)
    frame.size[4 - type.getRank() + d - 2] = type.getDimSize(d);
  return frame;
}

ConvolutionOperands operandsOf(Operation *convolution) { return Convolution(convolution).operands; }

std::vector<ConvolutionPart> partsOf(Operation *convolution, ArrayRef<int64_t> lhsStrides,
                                     ArrayRef<int64_t> rhsStrides) {
  return Convolution(convolution).parts(Strides(lhsStrides), Strides(rhsStrides));
}

} // namespace reprise
