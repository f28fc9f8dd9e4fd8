// reprise: attention: types, effects, work.
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;
using namespace reprise;

static RankedTensorType tensor(Value value) { return cast<RankedTensorType>(value.getType()); }

/// [b, h, t, d], [b, h, s, d], [b, h, s, d] of one element type.
static LogicalResult checkShapes(std::optional<Location> location, Type q, Type k, Type v) {
  auto query = dyn_cast<RankedTensorType>(q), key = dyn_cast<RankedTensorType>(k),
       value = dyn_cast<RankedTensorType>(v);
  bool good =
      query && key && value && query.getRank() == 4 && key.getRank() == 4 && key == value &&
      query.getElementType() == key.getElementType() && query.getDimSize(0) == key.getDimSize(0) &&
      query.getDimSize(1) == key.getDimSize(1) && query.getDimSize(3) == key.getDimSize(3) &&
      key.getDimSize(2) > 0 && query.getDimSize(3) > 0;
  if (!good)
    return emitOptionalError(location,
                             "expected query [b, h, t, d], key and value [b, h, s, d] but got ", q,
                             ", ", k, " and ", v);
  return success();
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type q = adaptor.getQuery().getType();
  if (failed(checkShapes(location, q, adaptor.getKey().getType(), adaptor.getValue().getType())))
    return failure();
  auto query = cast<RankedTensorType>(q);
  results.push_back(query);
  results.push_back(
      RankedTensorType::get(query.getShape().drop_back(), getComputeType(query.getElementType())));
  return success();
}

template <typename OpT> static LogicalResult verifyAttention(OpT op) {
  auto query = tensor(op.getQuery()), key = tensor(op.getKey());
  if (op.getCausal() && query.getDimSize(2) > key.getDimSize(2))
    return op.emitOpError("expected at least as many keys as queries under a causal mask, got ")
           << key.getDimSize(2) << " and " << query.getDimSize(2);
  if (!(op.getRate() >= 0.0 && op.getRate() < 1.0))
    return op.emitOpError("expected a dropout rate in [0, 1), got ") << op.getRate();
  return verifyDraw(op);
}

LogicalResult AttentionOp::verify() { return verifyAttention(*this); }

LogicalResult AttentionBackwardOp::verify() {
  if (failed(checkShapes(getLoc(), getQuery().getType(), getKey().getType(), getValue().getType())))
    return failure();
  auto query = tensor(getQuery());
  auto statistics =
      RankedTensorType::get(query.getShape().drop_back(), getComputeType(query.getElementType()));
  if (getOut().getType() != query || getDout().getType() != query ||
      getLse().getType() != statistics || (getDlse() && getDlse().getType() != statistics))
    return emitOpError("expected out and dout of the query's type and lse and dlse of type ")
           << statistics;
  if (getDquery().getType() != query || getDkey().getType() != getKey().getType() ||
      getDvalue().getType() != getValue().getType())
    return emitOpError("expected gradients of the operands' types");
  return verifyAttention(*this);
}

//===-- Randomness and work -------------------------------------------------------------------===//

template <typename OpT> static SmallVector<int64_t> scoreShape(OpT op) {
  auto query = tensor(op.getQuery());
  return {query.getDimSize(0), query.getDimSize(1), query.getDimSize(2),
          tensor(op.getKey()).getDimSize(2)};
}

/// The number of scores that are terms at all.
template <typename OpT> static int64_t countScores(OpT op) {
  SmallVector<int64_t> shape = scoreShape(op);
  int64_t perHead = shape[2] * shape[3];
  if (op.getCausal())
    perHead -= shape[2] * (shape[2] - 1) / 2;
  return shape[0] * shape[1] * perHead;
}

bool AttentionOp::draws() { return getRate() != 0.0; }
bool AttentionBackwardOp::draws() { return getRate() != 0.0; }
SmallVector<int64_t> AttentionOp::getDrawnShape() { return scoreShape(*this); }
SmallVector<int64_t> AttentionBackwardOp::getDrawnShape() { return scoreShape(*this); }

int64_t AttentionOp::getFlops() {
  return countScores(*this) * (4 * tensor(getQuery()).getDimSize(3) + 20);
}
int64_t AttentionBackwardOp::getFlops() {
  return countScores(*this) * (10 * tensor(getQuery()).getDimSize(3) + 30);
}

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;
void AttentionOp::getEffects(Effects &effects) { addDrawEffects(*this, effects); }
void AttentionBackwardOp::getEffects(Effects &effects) { addDrawEffects(*this, effects); }
