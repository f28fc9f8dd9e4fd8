// reprise: convolutions and pooling: types, work.
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;
using namespace reprise;

static RankedTensorType tensor(Value value) { return cast<RankedTensorType>(value.getType()); }

//===-- Convolutions --------------------------------------------------------------------------===//

RankedTensorType ConvolutionOp::getImageType() { return tensor(getImage()); }
RankedTensorType ConvolutionOp::getFilterType() { return tensor(getFilter()); }
RankedTensorType ConvolutionOp::getOutputType() { return tensor(getResult()); }
RankedTensorType ConvolutionTransposeOp::getImageType() { return tensor(getResult()); }
RankedTensorType ConvolutionTransposeOp::getFilterType() { return tensor(getFilter()); }
RankedTensorType ConvolutionTransposeOp::getOutputType() { return tensor(getOutput()); }
RankedTensorType ConvolutionFilterOp::getImageType() { return tensor(getImage()); }
RankedTensorType ConvolutionFilterOp::getFilterType() { return tensor(getResult()); }
RankedTensorType ConvolutionFilterOp::getOutputType() { return tensor(getOutput()); }

/// The product and the sum of window and image attributes stay far from overflow below this.
static constexpr int64_t largestWindowNumber = int64_t(1) << 31;

/// Verifies one number per spatial dimension, each at least `least`.
static LogicalResult verifyNumbers(Operation *op, StringRef name, ArrayRef<int64_t> numbers,
                                   size_t spatial, int64_t least) {
  bool good = numbers.size() == spatial && llvm::all_of(numbers, [&](int64_t n) {
                return n >= least && n < largestWindowNumber;
              });
  if (!good)
    return op->emitOpError("expected ") << spatial << " " << name << " of at least " << least;
  return success();
}

/// Returns the number of steps of a window of `span` positions over `size` positions; 0 if it never
/// fits.
static int64_t countSteps(int64_t size, int64_t span, int64_t stride) {
  return size < span ? 0 : (size - span) / stride + 1;
}

template <typename OpT> static LogicalResult verifyConvolution(OpT op) {
  auto image = op.getImageType(), filter = op.getFilterType(), output = op.getOutputType();
  int64_t spatial = image.getRank() - 2;
  if (spatial < 1 || spatial > 2 || filter.getRank() != image.getRank() ||
      output.getRank() != image.getRank())
    return op.emitOpError("expected image [n, c, spatial…], filter [o, c / groups, window…] and "
                          "output [n, o, spatial…] with one or two spatial dimensions");
  if (image.getElementType() != filter.getElementType() ||
      image.getElementType() != output.getElementType())
    return op.emitOpError("expected image, filter and output of one element type");
  if (failed(verifyNumbers(op, "strides", op.getStrides(), spatial, 1)) ||
      failed(verifyNumbers(op, "low paddings", op.getLow(), spatial, 0)) ||
      failed(verifyNumbers(op, "high paddings", op.getHigh(), spatial, 0)) ||
      failed(verifyNumbers(op, "dilations", op.getDilation(), spatial, 1)))
    return failure();
  int64_t groups = op.getGroups(), channels = image.getDimSize(1), outputs = filter.getDimSize(0);
  if (groups < 1 || channels % groups != 0 || outputs % groups != 0 ||
      filter.getDimSize(1) != channels / groups || output.getDimSize(1) != outputs ||
      output.getDimSize(0) != image.getDimSize(0))
    return op.emitOpError("expected ")
           << groups << " groups of channels that fit image, filter and output, got " << image
           << ", " << filter << " and " << output;
  for (int64_t d = 0; d < spatial; ++d) {
    int64_t window = filter.getDimSize(d + 2);
    if (window < 1)
      return op.emitOpError("expected a non-empty window");
    int64_t span = (window - 1) * op.getDilation()[d] + 1;
    int64_t steps = countSteps(image.getDimSize(d + 2) + op.getLow()[d] + op.getHigh()[d], span,
                               op.getStrides()[d]);
    if (output.getDimSize(d + 2) != steps)
      return op.emitOpError("expected ") << steps << " output positions in spatial dimension " << d
                                         << ", got " << output.getDimSize(d + 2);
  }
  return success();
}

LogicalResult ConvolutionOp::verify() { return verifyConvolution(*this); }
LogicalResult ConvolutionTransposeOp::verify() { return verifyConvolution(*this); }
LogicalResult ConvolutionFilterOp::verify() { return verifyConvolution(*this); }

/// Returns the FLOPs of a convolution or its gradients: every output element is a sum over a
/// filter, and the gradients sum the same products in another order.
template <typename OpT> static int64_t countConvolutionFlops(OpT op) {
  int64_t terms =
      op.getFilterType().getNumElements() / std::max<int64_t>(1, op.getFilterType().getDimSize(0));
  return 2 * op.getOutputType().getNumElements() * terms;
}
int64_t ConvolutionOp::getFlops() { return countConvolutionFlops(*this); }
int64_t ConvolutionTransposeOp::getFlops() { return countConvolutionFlops(*this); }
int64_t ConvolutionFilterOp::getFlops() { return countConvolutionFlops(*this); }

//===-- Pooling -------------------------------------------------------------------------------===//

WindowRange reprise::getWindowRange(Operation *op, size_t dim, int64_t size, int64_t steps,
                                    int64_t i) {
  if (op->hasAttr("adaptive"))
    return {i * size / steps, ((i + 1) * size + steps - 1) / steps};
  auto number = [&](StringRef name) { return op->getAttrOfType<DenseI64ArrayAttr>(name)[dim]; };
  int64_t begin = i * number("strides") - number("low");
  return {std::max<int64_t>(begin, 0), std::min(begin + number("window"), size)};
}

int64_t reprise::countWindowTerms(Operation *op) {
  int64_t terms = 1;
  for (int64_t n : op->getAttrOfType<DenseI64ArrayAttr>("window").asArrayRef())
    terms *= n;
  return terms * countResultElements(op);
}

template <typename OpT>
static LogicalResult verifyPool(OpT op, RankedTensorType image, RankedTensorType output) {
  int64_t spatial = image.getRank() - 2;
  if (spatial < 1 || spatial > 2 || output.getRank() != image.getRank() ||
      image.getElementType() != output.getElementType() ||
      image.getShape().take_front(2) != output.getShape().take_front(2))
    return op.emitOpError("expected [n, c, spatial…] on both sides, with one or two spatial "
                          "dimensions, but got ")
           << image << " and " << output;
  size_t numbers = op.getAdaptive() ? 0 : spatial;
  if (failed(verifyNumbers(op, "window sizes", op.getWindow(), numbers, 1)) ||
      failed(verifyNumbers(op, "strides", op.getStrides(), numbers, 1)) ||
      failed(verifyNumbers(op, "low paddings", op.getLow(), numbers, 0)) ||
      failed(verifyNumbers(op, "high paddings", op.getHigh(), numbers, 0)))
    return failure();
  for (int64_t d = 0; d < spatial; ++d) {
    int64_t size = image.getDimSize(d + 2), steps = output.getDimSize(d + 2);
    if (size < 1)
      return op.emitOpError("expected a non-empty image, got ") << image;
    if (!op.getAdaptive()) {
      int64_t expected = countSteps(size + op.getLow()[d] + op.getHigh()[d], op.getWindow()[d],
                                    op.getStrides()[d]);
      if (steps != expected)
        return op.emitOpError("expected ")
               << expected << " output positions in spatial dimension " << d << ", got " << steps;
    }
    for (int64_t i : {int64_t(0), steps - 1})
      if (WindowRange range = getWindowRange(op, d, size, steps, i);
          steps > 0 && range.begin >= range.end)
        return op.emitOpError("expected no window outside of the image in spatial dimension ") << d;
  }
  return success();
}

LogicalResult MaxPoolOp::verify() {
  if (tensor(getPositions()).getShape() != tensor(getResult()).getShape())
    return emitOpError("expected one position per result");
  return verifyPool(*this, tensor(getOperand()), tensor(getResult()));
}
LogicalResult AveragePoolOp::verify() {
  return verifyPool(*this, tensor(getOperand()), tensor(getResult()));
}
LogicalResult AveragePoolBackwardOp::verify() {
  return verifyPool(*this, tensor(getResult()), tensor(getOutput()));
}
