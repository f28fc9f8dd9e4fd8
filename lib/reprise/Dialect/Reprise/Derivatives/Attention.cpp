// reprise: derivatives of attention, of its backward and of rotary position embedding.
#include "Pullback.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

/// The gradients come from one op that draws the same words again.
static void differentiate(AttentionOp op, Pullback &p) {
  bool wide =
      p.wantsWide(0, op.getQuery()) || p.wantsWide(1, op.getKey()) || p.wantsWide(2, op.getValue());
  auto fit = [&](Value x) { return wide ? p.widen(x) : x; };
  Value q = fit(op.getQuery()), k = fit(op.getKey()), v = fit(op.getValue());
  Value out = fit(op.getOut());
  // The backward op has no form without dout; a cotangent of lse alone is a rarity.
  Value dout = p.getRaw(0) ? fit(p.getRaw(0)) : p.like(out, 0);
  auto backward = AttentionBackwardOp::create(
      p.b, q.getType(), k.getType(), v.getType(), Type(), q, k, v, out, op.getLse(), dout,
      p.getRaw(1), op.getBias(), op.getMask(), op.getSeed(), op.getOffset(), op.getOrigin(),
      op.getScaleAttr(), op.getCausalAttr(), op.getRateAttr(), op.getStreamAttr(),
      op.getGlobalShapeAttr());
  for (unsigned i = 0; i < 3; ++i)
    p.give(i, backward.getResult(i));
}

namespace {
/// The parts of attention_backward as ops on whole score matrices [b, h, t, s]. Masked scores are
/// no terms: whatever leaves score space is masked.
struct Scores {
  Pullback &p;
  AttentionBackwardOp op;
  ArrayRef<int64_t> shape;
  Value mask = buildMask();

  /// Query i sees keys j ≤ i + (s - t).
  Value buildMask() {
    if (!op.getCausal())
      return {};
    auto type = RankedTensorType::get(shape.take_back(2), p.b.getI64Type());
    Value query = IotaOp::create(p.b, type, 0), key = IotaOp::create(p.b, type, 1);
    Value limit = p.add(query, p.like(query, shape[3] - shape[2]));
    return p.broadcast(p.compare(ComparePredicate::le, key, limit), shape, {2, 3});
  }
  Value masked(Value x) { return mask ? p.select(mask, x, p.like(x, 0)) : x; }

  /// The same draw as attention's, by index [b, h, t, s].
  Value dropout(Value x) {
    if (!op.draws())
      return x;
    return DropoutOp::create(p.b, x.getType(), x, op.getSeed(), op.getOffset(), op.getOrigin(),
                             op.getRateAttr(), op.getStreamAttr(), op.getGlobalShapeAttr());
  }

  Value spread(Value row, ArrayRef<int64_t> to) { return p.spread(row, to, 3); }

  Value contract(Value x, Value y, int64_t xDim, int64_t yDim) {
    return DotGeneralOp::create(p.b, x, y, {0, 1}, {0, 1}, xDim, yDim,
                                p.typeOf(x).getElementType());
  }
  /// Σ_d x[t, d]·y[s, d].
  Value score(Value x, Value y) { return contract(x, y, 3, 3); }
  /// Σ_s scores[t, s]·y[s, d].
  Value overKeys(Value scores, Value y) { return contract(scores, y, 3, 2); }
  /// Σ_t scores[t, s]·x[t, d].
  Value overQueries(Value scores, Value x) { return contract(scores, x, 2, 2); }
};

/// The operands in the compute type.
struct Operands {
  Value q, k, v, out, dout;
};
} // namespace

/// Through dv = Σ_t Pd·dout: gives P's cotangent and adds to dout's.
static Value throughValues(Scores &s, const Operands &x, Value p, Value dvBar, Value &doutBar) {
  doutBar = s.overKeys(s.dropout(p), dvBar);
  return s.dropout(s.score(x.dout, dvBar));
}

/// Through delta and dP, whose difference has the cotangent `w` (and its negative).
static void throughDifference(Pullback &p, Scores &s, const Operands &x, Value w, Value &doutBar) {
  Value undropped = s.dropout(w), row = p.sum(w, 3);
  Value spreadRow = s.spread(row, p.typeOf(x.out).getShape());
  Value fromDelta = p.mul(spreadRow, x.out);
  p.give(2, s.overQueries(undropped, x.dout));
  p.give(3, p.neg(p.mul(spreadRow, x.dout)));
  doutBar = p.addIfBoth(doutBar, p.sub(s.overKeys(undropped, x.v), fromDelta));
  if (s.op.getDlse())
    p.give(6, row);
}

/// The decomposition
///   P = exp(q·k·scale - lse), Pd = dropout(P), delta = Σ_d dout·out - dlse,
///   dP = dropout(dout·v), dS = P·(dP - delta),
///   dq = Σ_s dS·k·scale, dk = Σ_t dS·q·scale, dv = Σ_t Pd·dout
/// taken backwards, with out and lse as operands of their own.
static void differentiate(AttentionBackwardOp op, Pullback &p) {
  Operands x{p.widen(op.getQuery()), p.widen(op.getKey()), p.widen(op.getValue()),
             p.widen(op.getOut()), p.widen(op.getDout())};
  SmallVector<int64_t> shape = op.getDrawnShape();
  Scores s{p, op, shape};
  double factor = op.getScale();
  Value dqBar = p.get(0), dkBar = p.get(1), dvBar = p.get(2);
  Value score = p.scale(s.score(x.q, x.k), factor);
  Value probability = s.masked(p.exp(p.sub(score, s.spread(op.getLse(), shape))));
  Value pBar, doutBar, qBar, kBar;
  if (dvBar)
    pBar = throughValues(s, x, probability, dvBar, doutBar);
  if (dqBar || dkBar) {
    Value delta = p.sum(p.mul(x.dout, x.out), 3);
    if (op.getDlse())
      delta = p.sub(delta, op.getDlse());
    Value difference = p.sub(s.dropout(s.score(x.dout, x.v)), s.spread(delta, shape));
    Value ds = s.masked(p.mul(probability, difference));
    qBar = dkBar ? s.overKeys(ds, dkBar) : Value();
    kBar = dqBar ? s.overQueries(ds, dqBar) : Value();
    Value dsBar =
        p.addIfBoth(dqBar ? s.score(dqBar, x.k) : Value(), dkBar ? s.score(x.q, dkBar) : Value());
    dsBar = p.scale(dsBar, factor);
    pBar = p.addIfBoth(pBar, p.mul(dsBar, difference));
    throughDifference(p, s, x, s.masked(p.mul(dsBar, probability)), doutBar);
  }
  Value scoreBar = s.masked(p.mul(probability, pBar));
  p.give(0, p.scale(p.addIfBoth(qBar, s.overKeys(scoreBar, x.k)), factor));
  p.give(1, p.scale(p.addIfBoth(kBar, s.overQueries(scoreBar, x.q)), factor));
  p.give(4, p.neg(p.sum(scoreBar, 3)));
  p.give(5, doutBar);
}

/// The rotation back; with the halves x1, x2 and g1, g2 of the last dimension, dcosine = Σ (g1·x1 +
/// g2·x2) and dsine = Σ (g2·x1 - g1·x2).
static void differentiate(RotaryOp op, Pullback &p) {
  Value g = p.get(), x = p.widen(op.getOperand());
  p.give(0, RotaryOp::create(p.b, g.getType(), g, op.getCosine(), p.neg(op.getSine())));
  ArrayRef<int64_t> shape = p.typeOf(g).getShape();
  int64_t rank = shape.size(), half = shape.back() / 2;
  auto part = [&](Value of, int64_t from) -> Value {
    SmallVector<int64_t> starts(rank, 0), limits(shape), strides(rank, 1);
    starts.back() = from;
    limits.back() = from + half;
    return SliceOp::create(p.b, of, starts, limits, strides);
  };
  Value g1 = part(g, 0), g2 = part(g, half), x1 = part(x, 0), x2 = part(x, half);
  auto leading = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  p.give(1, p.sum(p.add(p.mul(g1, x1), p.mul(g2, x2)), leading));
  p.give(2, p.sum(p.sub(p.mul(g2, x1), p.mul(g1, x2)), leading));
}

void attachAttentionRules(MLIRContext *context) {
  attachRules<AttentionOp, AttentionBackwardOp, RotaryOp>(context);
}

} // namespace reprise
