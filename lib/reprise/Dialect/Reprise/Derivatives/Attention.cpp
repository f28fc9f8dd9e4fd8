// reprise: derivatives of attention, of its backward and of rotary position embedding.
#include "Pullback.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

/// Returns the cotangent of a bias [b or 1, h or 1, t or 1, s]: that of the scores, summed over
/// repeated dimensions.
static Value sumToBias(Pullback &p, Value scores, Value bias) {
  ArrayRef<int64_t> shape = tensorTypeOf(bias).getShape();
  SmallVector<int64_t> repeated;
  for (int64_t d = 0; d < 4; ++d)
    if (shape[d] != tensorTypeOf(scores).getDimSize(d))
      repeated.push_back(d);
  return p.reshape(p.sum(scores, repeated), shape);
}

/// The gradients come from one op that draws the same words again.
template <> void differentiate(AttentionOp op, Pullback &p) {
  bool wide =
      p.wantsWide(0, op.getQuery()) || p.wantsWide(1, op.getKey()) || p.wantsWide(2, op.getValue());
  auto fit = [&](Value x) { return wide ? p.widen(x) : x; };
  Value q = fit(op.getQuery()), k = fit(op.getKey()), v = fit(op.getValue());
  Value out = fit(op.getOut());
  // The backward op has no form without dout; a cotangent of lse without dout is rare.
  Value dout = p.getRaw(0) ? fit(p.getRaw(0)) : p.like(out, 0);
  Type dscore;
  if (op.getBias() && p.wants(3))
    dscore = tensorTypeOf(op.getBias()).clone(op.getDrawnShape());
  auto backward = AttentionBackwardOp::create(
      p.b, q.getType(), k.getType(), v.getType(), dscore, q, k, v, out, op.getLse(), dout,
      p.getRaw(1), op.getBias(), op.getMask(), op.getSeed(), op.getOffset(), op.getOrigin(),
      op.getScaleAttr(), op.getCausalAttr(), op.getRateAttr(), op.getStreamAttr(),
      op.getGlobalShapeAttr());
  for (unsigned i = 0; i < 3; ++i)
    p.give(i, backward.getResult(i));
  if (dscore)
    p.give(3, sumToBias(p, backward.getDscore(), op.getBias()));
}

namespace {
/// Parts of attention_backward as ops on whole score matrices. Query heads that share a key head
/// are neighbours and count as further queries of that head: scores are [b, g, h / g · t, s].
/// Masked scores are no terms: every value that leaves score space is masked.
struct Scores {
  Pullback &p;
  AttentionBackwardOp op;
  SmallVector<int64_t> whole = op.getDrawnShape(); // [b, h, t, s]
  SmallVector<int64_t> shape = folded(whole);
  Value mask = buildMask();

  /// [b, h, t, …] as [b, g, h / g · t, …].
  SmallVector<int64_t> folded(ArrayRef<int64_t> sizes) {
    int64_t keyHeads = tensorTypeOf(op.getKey()).getDimSize(1),
            group = sizes[1] / std::max<int64_t>(1, keyHeads);
    SmallVector<int64_t> result{sizes[0], keyHeads, group * sizes[2]};
    llvm::append_range(result, sizes.drop_front(3));
    return result;
  }
  Value fold(Value x) { return p.reshape(x, folded(tensorTypeOf(x).getShape())); }

  /// A bias or mask, folded.
  Value repeat(Value x) {
    SmallVector<int64_t> sizes, dims;
    for (auto [d, size] : llvm::enumerate(tensorTypeOf(x).getShape()))
      if (size == whole[d]) {
        sizes.push_back(size);
        dims.push_back(d);
      }
    return fold(p.broadcast(p.reshape(x, sizes), whole, dims));
  }

  /// Query i sees keys j ≤ i + (s - t).
  Value buildCausalMask() {
    auto type = RankedTensorType::get(ArrayRef(whole).take_back(2), p.b.getI64Type());
    Value query = IotaOp::create(p.b, type, 0), key = IotaOp::create(p.b, type, 1);
    Value limit = p.add(query, p.like(query, whole[3] - whole[2]));
    return fold(p.broadcast(p.compare(ComparePredicate::le, key, limit), whole, {2, 3}));
  }
  Value buildMask() {
    Value causal = op.getCausal() ? buildCausalMask() : Value();
    if (!op.getMask())
      return causal;
    Value given = repeat(op.getMask());
    return causal ? p.select(given, causal, p.like(causal, 0)) : given;
  }
  Value masked(Value x) { return mask ? p.select(mask, x, p.like(x, 0)) : x; }

  /// Applies the draw of attention, by index [b, h, t, s].
  Value dropout(Value x) {
    if (!op.draws())
      return x;
    Value unfolded = p.reshape(x, whole);
    return fold(DropoutOp::create(p.b, unfolded.getType(), unfolded, op.getSeed(), op.getOffset(),
                                  op.getOrigin(), op.getRateAttr(), op.getStreamAttr(),
                                  op.getGlobalShapeAttr()));
  }

  Value spread(Value row, ArrayRef<int64_t> to) { return p.spread(row, to, 3); }

  Value contract(Value x, Value y, int64_t xDim, int64_t yDim) {
    return DotGeneralOp::create(p.b, x, y, {0, 1}, {0, 1}, xDim, yDim,
                                tensorTypeOf(x).getElementType());
  }
  /// Σ_d x[t, d]·y[s, d].
  Value score(Value x, Value y) { return contract(x, y, 3, 3); }
  /// Σ_s scores[t, s]·y[s, d].
  Value overKeys(Value scores, Value y) { return contract(scores, y, 3, 2); }
  /// Σ_t scores[t, s]·x[t, d].
  Value overQueries(Value scores, Value x) { return contract(scores, x, 2, 2); }

  /// Gives the cotangent of an operand [b, h, t, …].
  void giveUnfolded(unsigned i, Value x, Value operand) {
    if (x)
      p.give(i, p.reshape(x, tensorTypeOf(operand).getShape()));
  }
};

/// The operands in the compute type, folded.
struct Operands {
  Value q, k, v, out, dout, lse;
};
} // namespace

/// Differentiates dv = Σ_t Pd·dout: returns P's cotangent and adds to dout's.
static Value throughValues(Scores &s, const Operands &x, Value p, Value dvBar, Value &doutBar) {
  doutBar = s.overKeys(s.dropout(p), dvBar);
  return s.dropout(s.score(x.dout, dvBar));
}

/// Differentiates through delta and dP, whose difference has the cotangent `w` (and its negative).
static void throughDifference(Pullback &p, Scores &s, const Operands &x, Value w, Value &doutBar) {
  Value undropped = s.dropout(w), row = p.sum(w, 3);
  Value spreadRow = s.spread(row, tensorTypeOf(x.out).getShape());
  Value fromDelta = p.mul(spreadRow, x.out);
  p.give(2, s.overQueries(undropped, x.dout));
  s.giveUnfolded(3, p.neg(p.mul(spreadRow, x.dout)), s.op.getOut());
  doutBar = p.addIfBoth(doutBar, p.sub(s.overKeys(undropped, x.v), fromDelta));
  if (s.op.getDlse())
    s.giveUnfolded(6, row, s.op.getDlse());
}

/// Differentiates the decomposition
///   P = exp(q·k·scale + bias - lse), Pd = dropout(P), delta = Σ_d dout·out - dlse,
///   dP = dropout(dout·v), dS = P·(dP - delta),
///   dq = Σ_s dS·k·scale, dk = Σ_t dS·q·scale, dv = Σ_t Pd·dout, dscore = dS
/// taken backwards, with out and lse as operands of their own.
template <> void differentiate(AttentionBackwardOp op, Pullback &p) {
  Scores s{p, op};
  Operands x{s.fold(p.widen(op.getQuery())), p.widen(op.getKey()),          p.widen(op.getValue()),
             s.fold(p.widen(op.getOut())),   s.fold(p.widen(op.getDout())), s.fold(op.getLse())};
  double factor = op.getScale();
  auto foldIfAny = [&](Value cotangent) { return cotangent ? s.fold(cotangent) : cotangent; };
  Value dqBar = foldIfAny(p.get(0)), dkBar = p.get(1), dvBar = p.get(2);
  Value dscoreBar = op.getDscore() ? foldIfAny(p.get(3)) : Value();
  Value score = p.scale(s.score(x.q, x.k), factor);
  if (op.getBias())
    score = p.add(score, s.repeat(op.getBias()));
  Value probability = s.masked(p.exp(p.sub(score, s.spread(x.lse, s.shape))));
  Value pBar, doutBar, qBar, kBar;
  if (dvBar)
    pBar = throughValues(s, x, probability, dvBar, doutBar);
  if (dqBar || dkBar || dscoreBar) {
    Value delta = p.sum(p.mul(x.dout, x.out), 3);
    if (op.getDlse())
      delta = p.sub(delta, s.fold(op.getDlse()));
    Value difference = p.sub(s.dropout(s.score(x.dout, x.v)), s.spread(delta, s.shape));
    Value ds = s.masked(p.mul(probability, difference));
    qBar = dkBar ? s.overKeys(ds, dkBar) : Value();
    kBar = dqBar ? s.overQueries(ds, dqBar) : Value();
    Value dsBar =
        p.addIfBoth(dqBar ? s.score(dqBar, x.k) : Value(), dkBar ? s.score(x.q, dkBar) : Value());
    dsBar = p.addIfBoth(dsBar ? p.scale(dsBar, factor) : dsBar, dscoreBar);
    pBar = p.addIfBoth(pBar, p.mul(dsBar, difference));
    throughDifference(p, s, x, s.masked(p.mul(dsBar, probability)), doutBar);
  }
  Value scoreBar = s.masked(p.mul(probability, pBar));
  Value fromScores = p.addIfBoth(qBar, s.overKeys(scoreBar, x.k));
  s.giveUnfolded(0, p.scale(fromScores, factor), op.getQuery());
  p.give(1, p.scale(p.addIfBoth(kBar, s.overQueries(scoreBar, x.q)), factor));
  s.giveUnfolded(4, p.neg(p.sum(scoreBar, 3)), op.getLse());
  s.giveUnfolded(5, doutBar, op.getDout());
  if (op.getBias())
    p.give(op.getDlse() ? 7 : 6, sumToBias(p, p.reshape(scoreBar, s.whole), op.getBias()));
}

/// The rotation back; with the halves x1, x2 and g1, g2 of the last dimension, dcosine = Σ (g1·x1 +
/// g2·x2) and dsine = Σ (g2·x1 - g1·x2).
template <> void differentiate(RotaryOp op, Pullback &p) {
  Value g = p.get(), x = p.widen(op.getOperand());
  p.give(0, RotaryOp::create(p.b, g.getType(), g, op.getCosine(), p.neg(op.getSine())));
  ArrayRef<int64_t> shape = tensorTypeOf(g).getShape();
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

} // namespace reprise
