// reprise: the layout of convolution operands for the tensor cores of a GPU
#include "ConvolutionLayout.h"

#include "ContractionIndex.h"
#include "TensorContraction.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

/// Channels that a copy of 16 bytes brings.
constexpr int64_t channelsTogether = 8;

static SmallVector<int64_t> rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size() - 1; i > 0; --i)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::vector<ConvolutionPart> densePartsOf(Operation *convolution,
                                          const ConvolutionOperands &operands) {
  SmallVector<int64_t> framed(cast<RankedTensorType>(operands.rhs.getType()).getShape());
  framed.back() = operands.frame.width();
  if (framed.size() == 4)
    framed[2] = operands.frame.lines();
  ArrayRef<int64_t> lhs = cast<RankedTensorType>(operands.lhs.getType()).getShape();
  return partsOf(convolution, rowMajor(lhs), rowMajor(framed));
}

void putChannelsLast(Operation *convolution, ContractionSpec &spec, ResultStrides &result) {
  auto turn = [](auto &dims) { std::rotate(dims.begin(), dims.begin() + 1, dims.end()); };
  if (!isa<ConvolutionFilterOp>(convolution))
    return turn(spec.contracted);
  turn(spec.columns);
  turn(result.columns);
}

ConvolutionLayout chooseLayout(Operation *convolution, const ConvolutionOperands &operands,
                               Contractions contractions) {
  ConvolutionLayout layout;
  auto isWide = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getDimSize(1) % channelsTogether == 0;
  };
  for (ConvolutionPart &part : densePartsOf(convolution, operands)) {
    if (!suitsTensorCores(part.spec, contractions) || part.spec.lhsType.isF32())
      continue;
    putChannelsLast(convolution, part.spec, part.result);
    layout.lhs |= isWide(operands.lhs) && !isCopiedByThreads(part.spec, true);
    layout.rhs |= isWide(operands.rhs) && !isCopiedByThreads(part.spec, false);
  }
  return layout;
}

} // namespace reprise
