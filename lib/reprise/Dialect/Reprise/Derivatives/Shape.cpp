// reprise: derivatives of data movement.
#include "Pullback.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

using Indices = SmallVector<int64_t>;

/// The sum over the repetitions, in the precision that the operand asks for.
template <> void differentiate(BroadcastOp op, Pullback &p) {
  if (!p.wants(0))
    return;
  Indices repeated;
  for (int64_t d = 0; d < op.getType().getRank(); ++d)
    if (!llvm::is_contained(op.getDims(), d))
      repeated.push_back(d);
  Value g = repeated.empty() ? p.getRaw() : p.convert(p.getRaw(), p.getWanted(0).getElementType());
  p.give(0, p.sum(g, repeated));
}

template <> void differentiate(ReshapeOp op, Pullback &p) {
  p.give(0, p.reshape(p.getRaw(), tensorTypeOf(op.getOperand()).getShape()));
}

template <> void differentiate(TransposeOp op, Pullback &p) {
  p.give(0, p.transpose(p.getRaw(), invertPermutationVector(op.getPermutation())));
}

/// Back to where the elements came from; zeros elsewhere.
template <> void differentiate(SliceOp op, Pullback &p) {
  Value g = p.getRaw();
  auto from = tensorTypeOf(op.getOperand()), to = tensorTypeOf(g);
  Indices high, interior;
  for (int64_t d = 0; d < from.getRank(); ++d) {
    int64_t covered = to.getDimSize(d) ? (to.getDimSize(d) - 1) * op.getStrides()[d] + 1 : 0;
    high.push_back(from.getDimSize(d) - op.getStarts()[d] - covered);
    interior.push_back(op.getStrides()[d] - 1);
  }
  auto zero = cast<TypedAttr>(p.b.getFloatAttr(to.getElementType(), 0.0));
  p.give(0, PadOp::create(p.b, from, g, zero, op.getStarts(), high, interior));
}

template <> void differentiate(PadOp op, Pullback &p) {
  auto from = tensorTypeOf(op.getOperand());
  Indices limits, strides;
  for (int64_t d = 0; d < from.getRank(); ++d) {
    strides.push_back(op.getInterior()[d] + 1);
    int64_t covered = from.getDimSize(d) ? (from.getDimSize(d) - 1) * strides[d] + 1 : 0;
    limits.push_back(op.getLow()[d] + covered);
  }
  p.give(0, SliceOp::create(p.b, p.getRaw(), op.getLow(), limits, strides));
}

template <> void differentiate(ConcatenateOp op, Pullback &p) {
  Value g = p.getRaw();
  Indices starts(op.getType().getRank(), 0), strides(starts.size(), 1);
  Indices limits = llvm::to_vector(op.getType().getShape());
  int64_t dim = op.getDim(), end = 0;
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    starts[dim] = end;
    limits[dim] = end += tensorTypeOf(operand).getDimSize(dim);
    if (p.wants(i))
      p.give(i, SliceOp::create(p.b, g, starts, limits, strides));
  }
}

/// The late values are what comes through. The early ones are only looked at.
/// Pulls stand in programs that are differentiated already; an argument has no operands.
template <> void differentiate(PullOp, Pullback &) {}

template <> void differentiate(PauseOp op, Pullback &p) {
  for (unsigned i = 0, first = op.getEarly().size(); i < op.getNumResults(); ++i)
    p.give(first + i, p.getRaw(i));
}

} // namespace reprise
