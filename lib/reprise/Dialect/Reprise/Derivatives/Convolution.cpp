// reprise: derivatives of convolutions and pooling.
#include "Pullback.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

//===-- Convolutions --------------------------------------------------------------------------===//

// Image, filter and output of a convolution are linear in each other pair: each of the three ops
// maps two of them to the third. The cotangent of an operand is therefore another of the ops on the
// result's cotangent and the other operand.

/// Builds `To` on two values, with the windows of `op`, for its operand `i`. Computes in f32 if
/// that operand is a 16-bit parameter, whose cotangent is not rounded yet.
template <typename To, typename OpT>
static void giveConvolution(OpT op, Pullback &p, unsigned i, Value first, Value second) {
  if (!p.wants(i))
    return;
  Type element = p.getWanted(i).getElementType();
  p.give(i,
         To::create(p.b, p.getWanted(i), p.convert(first, element), p.convert(second, element),
                    op.getStrides(), op.getLow(), op.getHigh(), op.getDilation(), op.getGroups()));
}

template <> void differentiate(ConvolutionOp op, Pullback &p) {
  giveConvolution<ConvolutionTransposeOp>(op, p, 0, p.getRaw(), op.getFilter());
  giveConvolution<ConvolutionFilterOp>(op, p, 1, op.getImage(), p.getRaw());
}

template <> void differentiate(ConvolutionTransposeOp op, Pullback &p) {
  giveConvolution<ConvolutionOp>(op, p, 0, p.getRaw(), op.getFilter());
  giveConvolution<ConvolutionFilterOp>(op, p, 1, p.getRaw(), op.getOutput());
}

template <> void differentiate(ConvolutionFilterOp op, Pullback &p) {
  giveConvolution<ConvolutionTransposeOp>(op, p, 0, op.getOutput(), p.getRaw());
  giveConvolution<ConvolutionOp>(op, p, 1, op.getImage(), p.getRaw());
}

//===-- Pooling -------------------------------------------------------------------------------===//

/// [n, c, spatial…] with one spatial dimension.
static SmallVector<int64_t> flatShape(RankedTensorType type) {
  int64_t planes = type.getDimSize(0) * type.getDimSize(1);
  return {type.getDimSize(0), type.getDimSize(1), planes ? type.getNumElements() / planes : 0};
}

/// Each cotangent goes to where its window's maximum stands.
template <> void differentiate(MaxPoolOp op, Pullback &p) {
  if (!p.wants(0))
    return;
  auto from = tensorTypeOf(op.getOperand());
  Value g = p.convert(p.getRaw(), p.getWanted(0).getElementType());
  SmallVector<int64_t> windows = flatShape(tensorTypeOf(g)), image = flatShape(from);
  Value added =
      ScatterAddAlongOp::create(p.b, tensorTypeOf(g).clone(image),
                                p.reshape(op.getPositions(), windows), p.reshape(g, windows));
  p.give(0, p.reshape(added, from.getShape()));
}

template <typename To, typename OpT> static void giveAdjoint(OpT op, Pullback &p) {
  if (!p.wants(0))
    return;
  Type element = p.getWanted(0).getElementType();
  p.give(0, To::create(p.b, p.getWanted(0), p.convert(p.getRaw(), element), op.getWindow(),
                       op.getStrides(), op.getLow(), op.getHigh(), op.getAdaptive()));
}

template <> void differentiate(AveragePoolOp op, Pullback &p) {
  giveAdjoint<AveragePoolBackwardOp>(op, p);
}
template <> void differentiate(AveragePoolBackwardOp op, Pullback &p) {
  giveAdjoint<AveragePoolOp>(op, p);
}

} // namespace reprise
