// reprise: attention: types, effects, work.
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;
using namespace reprise;

static RankedTensorType tensor(Value value) { return cast<RankedTensorType>(value.getType()); }

/// [b, h, t, d], [b, g, s, d], [b, g, s, e] of one element type, g dividing h.
static LogicalResult checkShapes(std::optional<Location> location, Type q, Type k, Type v) {
  auto query = dyn_cast<RankedTensorType>(q), key = dyn_cast<RankedTensorType>(k),
       value = dyn_cast<RankedTensorType>(v);
  bool good = query && key && value && query.getRank() == 4 && key.getRank() == 4 &&
              value.getRank() == 4 && key.getShape().drop_back() == value.getShape().drop_back() &&
              query.getElementType() == key.getElementType() &&
              key.getElementType() == value.getElementType() &&
              query.getDimSize(0) == key.getDimSize(0) &&
              (key.getDimSize(1) > 0 ? query.getDimSize(1) % key.getDimSize(1) == 0
                                     : query.getDimSize(1) == 0) &&
              query.getDimSize(3) == key.getDimSize(3) && key.getDimSize(2) > 0 &&
              query.getDimSize(3) > 0 && value.getDimSize(3) > 0;
  if (!good)
    return emitOptionalError(location,
                             "expected query [b, h, t, d], key [b, g, s, d] and value [b, g, s, e] "
                             "with g dividing h but got ",
                             q, ", ", k, " and ", v);
  return success();
}

/// [b, h, t, e] of the query's element type.
static RankedTensorType outType(Type q, Type v) {
  auto query = cast<RankedTensorType>(q);
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = cast<RankedTensorType>(v).getShape().back();
  return query.clone(shape);
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type q = adaptor.getQuery().getType();
  if (failed(checkShapes(location, q, adaptor.getKey().getType(), adaptor.getValue().getType())))
    return failure();
  auto query = cast<RankedTensorType>(q);
  results.push_back(outType(q, adaptor.getValue().getType()));
  results.push_back(
      RankedTensorType::get(query.getShape().drop_back(), getComputeType(query.getElementType())));
  return success();
}

template <typename OpT> static SmallVector<int64_t> scoreShape(OpT op) {
  auto query = tensor(op.getQuery());
  return {query.getDimSize(0), query.getDimSize(1), query.getDimSize(2),
          tensor(op.getKey()).getDimSize(2)};
}

/// [b or 1, h or 1, t or 1, s].
static LogicalResult verifyScoreOperand(Operation *op, StringRef name, Value value,
                                        ArrayRef<int64_t> scores) {
  if (!value)
    return success();
  ArrayRef<int64_t> shape = tensor(value).getShape();
  bool good = shape.size() == 4 && shape[3] == scores[3];
  for (size_t d = 0; good && d < 3; ++d)
    good = shape[d] == 1 || shape[d] == scores[d];
  if (!good)
    return op->emitOpError("expected a ") << name << " [b or 1, h or 1, t or 1, s] of scores ["
                                          << scores << "] but got " << value.getType();
  return success();
}

template <typename OpT> static LogicalResult verifyAttention(OpT op) {
  auto query = tensor(op.getQuery()), key = tensor(op.getKey());
  Type compute = getComputeType(query.getElementType());
  if (failed(verifyScoreOperand(op, "bias", op.getBias(), scoreShape(op))) ||
      failed(verifyScoreOperand(op, "mask", op.getMask(), scoreShape(op))))
    return failure();
  if (op.getBias() && tensor(op.getBias()).getElementType() != compute)
    return op.emitOpError("expected a bias of ")
           << compute << " but got " << op.getBias().getType();
  if (op.getCausal() && query.getDimSize(2) > key.getDimSize(2))
    return op.emitOpError("expected at least as many keys as queries under a causal mask, got ")
           << key.getDimSize(2) << " and " << query.getDimSize(2);
  if (!(op.getRate() >= 0.0 && op.getRate() < 1.0))
    return op.emitOpError("expected a dropout rate in [0, 1), got ") << op.getRate();
  return verifyDraw(op);
}

LogicalResult AttentionOp::verify() {
  // Shapes that do not fit are an error of the inferred types, which are verified later.
  bool good = succeeded(
      checkShapes(std::nullopt, getQuery().getType(), getKey().getType(), getValue().getType()));
  return good ? verifyAttention(*this) : success();
}

LogicalResult AttentionBackwardOp::verify() {
  if (failed(checkShapes(getLoc(), getQuery().getType(), getKey().getType(), getValue().getType())))
    return failure();
  auto query = tensor(getQuery());
  auto out = outType(query, getValue().getType());
  auto statistics =
      RankedTensorType::get(query.getShape().drop_back(), getComputeType(query.getElementType()));
  if (getOut().getType() != out || getDout().getType() != out || getLse().getType() != statistics ||
      (getDlse() && getDlse().getType() != statistics))
    return emitOpError("expected out and dout of type ")
           << out << " and lse and dlse of type " << statistics;
  if (getDquery().getType() != query || getDkey().getType() != getKey().getType() ||
      getDvalue().getType() != getValue().getType())
    return emitOpError("expected gradients of the operands' types");
  auto scores = RankedTensorType::get(scoreShape(*this), statistics.getElementType());
  if (getDscore() && getDscore().getType() != scores)
    return emitOpError("expected a dscore of type ") << scores;
  return verifyAttention(*this);
}

LogicalResult RotaryOp::verify() {
  auto type = tensor(getOperand()), table = tensor(getCosine());
  int64_t rank = type.getRank();
  if (rank < 2 || type.getDimSize(rank - 1) % 2 != 0)
    return emitOpError("expected an operand [b…, t, d] with an even d but got ") << type;
  auto half = RankedTensorType::get({type.getDimSize(rank - 2), type.getDimSize(rank - 1) / 2},
                                    getComputeType(type.getElementType()));
  if (table != half)
    return emitOpError("expected cosine and sine of type ") << half << " but got " << table;
  return success();
}

SmallVector<Value> RotaryOp::decompose(ImplicitLocOpBuilder &b, ValueRange operands) {
  auto type = tensor(operands[0]);
  int64_t last = type.getRank() - 1, half = type.getDimSize(last) / 2;
  auto part = [&](int64_t from) -> Value {
    SmallVector<int64_t> starts(type.getRank(), 0), strides(type.getRank(), 1);
    SmallVector<int64_t> limits = llvm::to_vector(type.getShape());
    starts[last] = from;
    limits[last] = from + half;
    return SliceOp::create(b, operands[0], starts, limits, strides);
  };
  Value first = part(0), second = part(half);
  auto spread = [&](Value table) -> Value {
    return BroadcastOp::create(b, first.getType(), table, ArrayRef<int64_t>{last - 1, last});
  };
  Value cosine = spread(operands[1]), sine = spread(operands[2]);
  auto mul = [&](Value x, Value y) -> Value { return MulOp::create(b, x, y); };
  Value low = SubOp::create(b, mul(first, cosine), mul(second, sine));
  Value high = AddOp::create(b, mul(second, cosine), mul(first, sine));
  return {ConcatenateOp::create(b, ValueRange{low, high}, last)};
}

//===-- Randomness and work -------------------------------------------------------------------===//

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

template <typename OpT> static std::pair<int64_t, int64_t> widths(OpT op) {
  return {tensor(op.getQuery()).getDimSize(3), tensor(op.getValue()).getDimSize(3)};
}

int64_t AttentionOp::getFlops() {
  auto [depth, valueDepth] = widths(*this);
  return countScores(*this) * (2 * depth + 2 * valueDepth + 20);
}
/// Counts five products of the scores: three are as wide as a query, two as a value.
int64_t AttentionBackwardOp::getFlops() {
  auto [depth, valueDepth] = widths(*this);
  return countScores(*this) * (6 * depth + 4 * valueDepth + 30);
}

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;
void AttentionOp::getEffects(Effects &effects) { addDrawEffects(*this, effects); }
void AttentionBackwardOp::getEffects(Effects &effects) { addDrawEffects(*this, effects); }
