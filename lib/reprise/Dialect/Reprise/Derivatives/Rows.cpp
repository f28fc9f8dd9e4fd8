// reprise: derivatives of softmax, cross entropy and normalizations.
#include "Pullback.h"
#include "reprise/Dialect/Reprise/IR/Groups.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

namespace {
/// Reductions of the last dimension of one shape, and broadcasts back.
struct Row {
  Pullback &p;
  ArrayRef<int64_t> shape;
  int64_t last = static_cast<int64_t>(shape.size()) - 1;

  Value sum(Value x) { return p.sum(x, last); }
  Value mean(Value x) { return MeanOp::create(p.b, x, ArrayRef<int64_t>{last}); }
  Value spread(Value row) { return p.spread(row, shape, last); }
  /// Repeats one row in all rows.
  Value repeat(Value row) { return p.broadcast(row, shape, last); }
  /// The sum of all rows.
  Value sumRows(Value x) { return p.sum(x, llvm::to_vector(llvm::seq<int64_t>(0, last))); }
};

/// Reductions of [n, c, spatial…] to [c], and broadcasts back.
struct Channels {
  Pullback &p;
  ArrayRef<int64_t> shape;

  Value sum(Value x) {
    SmallVector<int64_t> dims{0};
    llvm::append_range(dims, llvm::seq<int64_t>(2, shape.size()));
    return p.sum(x, dims);
  }
  Value spread(Value channel) { return p.broadcast(channel, shape, 1); }
  /// Elements of a channel.
  int64_t count() const { return ShapedType::getNumElements(shape) / shape[1]; }
};
} // namespace

/// y·(g - Σ g·y).
template <> void differentiate(SoftmaxOp op, Pullback &p) {
  Row row{p, op.getType().getShape()};
  Value g = p.get(), y = p.widen(op.getResult());
  p.give(0, p.mul(y, p.sub(g, row.spread(row.sum(p.mul(g, y))))));
}

/// g - exp(y)·Σ g.
template <> void differentiate(LogSoftmaxOp op, Pullback &p) {
  Row row{p, op.getType().getShape()};
  Value g = p.get(), y = p.widen(op.getResult());
  p.give(0, p.sub(g, p.mul(p.exp(y), row.spread(row.sum(g)))));
}

/// (softmax(logits) - 1 at the label)·g.
template <> void differentiate(CrossEntropyOp op, Pullback &p) {
  Value logits = p.widen(op.getLogits()), labels = op.getLabels();
  Row row{p, tensorTypeOf(logits).getShape()};
  Value first = p.like(labels, 0), last = p.like(labels, row.shape.back() - 1);
  Value clamped = MinimumOp::create(p.b, MaximumOp::create(p.b, labels, first), last);
  Value isLabel = isAt(p, clamped, row.shape, row.last);
  Value probability = SoftmaxOp::create(p.b, logits.getType(), logits);
  Value one = p.convert(isLabel, tensorTypeOf(logits).getElementType());
  p.give(0, p.mul(p.sub(probability, one), row.spread(p.get())));
}

namespace {
/// Rows x with their normalized values `normal`: (x - mean)·rstd, or x·rstd without centring.
struct NormalizedRows {
  Row row;
  Value rstd, spreadRstd, normal;
  bool centred;

  NormalizedRows(Pullback &p, Value x, Value mean, Value rstd)
      : row{p, tensorTypeOf(x).getShape()}, rstd(rstd), spreadRstd(row.spread(rstd)),
        centred(static_cast<bool>(mean)) {
    normal = p.mul(centred ? p.sub(x, row.spread(mean)) : x, spreadRstd);
  }

  /// Returns x's cotangent from the cotangent h of `normal`: rstd·(h - Σh/n -
  /// normal·Σ(h·normal)/n); without centring, the first Σ is left out.
  Value fromNormal(Value h) {
    Pullback &p = row.p;
    Value along = p.mul(normal, row.spread(row.mean(p.mul(h, normal))));
    Value across = centred ? p.sub(h, row.spread(row.mean(h))) : h;
    return p.mul(spreadRstd, p.sub(across, along));
  }
  /// Adds to x's cotangent `dx` (null for zero) the term of mean = Σx/n with cotangent g.
  Value addMean(Value dx, Value g) {
    Pullback &p = row.p;
    return g ? p.addIfBoth(dx, row.spread(p.div(g, p.like(g, row.shape.back())))) : dx;
  }
  /// Adds to x's cotangent the term of rstd, whose derivative is -rstd²·normal/n.
  Value addRstd(Value dx, Value g) {
    Pullback &p = row.p;
    if (!g)
      return dx;
    Value each = p.div(g, p.like(g, -static_cast<double>(row.shape.back())));
    return p.addIfBoth(dx, p.mul(normal, row.spread(p.mul(each, p.mul(rstd, rstd)))));
  }
};
} // namespace

/// With g·weight the cotangent of the normalized rows: dweight = Σ g·normal, dbias = Σ g.
template <> void differentiate(LayerNormOp op, Pullback &p) {
  NormalizedRows rows(p, p.widen(op.getOperand()), op.getMean(), op.getRstd());
  Value dx;
  if (Value g = p.get(0)) {
    p.give(1, rows.row.sumRows(p.mul(g, rows.normal)));
    p.give(2, rows.row.sumRows(g));
    dx = rows.fromNormal(p.mul(g, rows.row.repeat(p.widen(op.getWeight()))));
  }
  p.give(0, rows.addRstd(rows.addMean(dx, p.get(1)), p.get(2)));
}

template <> void differentiate(RmsNormOp op, Pullback &p) {
  NormalizedRows rows(p, p.widen(op.getOperand()), Value(), op.getRstd());
  Value dx;
  if (Value g = p.get(0)) {
    p.give(1, rows.row.sumRows(p.mul(g, rows.normal)));
    dx = rows.fromNormal(p.mul(g, rows.row.repeat(p.widen(op.getWeight()))));
  }
  p.give(0, rows.addRstd(dx, p.get(1)));
}

//===-- Normalizations of channels ------------------------------------------------------------===//

/// Returns 1/√(variance + epsilon), with the bits of the op.
template <typename OpT> static Value rstdOf(OpT op, Pullback &p) {
  Value variance = op.getVariance();
  return RsqrtOp::create(p.b, p.add(variance, p.like(variance, op.getEpsilon())));
}

/// Differentiates with m elements per channel and normal = (x - mean)·rstd: dbias = Σ g, dweight =
/// Σ g·normal,
///   dx = weight·rstd·(g - dbias/m - normal·dweight/m);
/// mean = Σx/m adds dmean/m, and variance = Σ(x - mean)²/m adds 2·dvariance·(x - mean)/m.
template <> void differentiate(BatchNormOp op, Pullback &p) {
  Value x = p.widen(op.getOperand()), rstd = rstdOf(op, p);
  Channels channels{p, tensorTypeOf(x).getShape()};
  double count = static_cast<double>(channels.count());
  Value centred = p.sub(x, channels.spread(op.getMean())), dx;
  auto each = [&](Value sum, double by) {
    Value mean = p.div(sum, p.like(sum, by));
    mean.getDefiningOp()->setDiscardableAttr(kPerGroupAttr, p.b.getUnitAttr());
    return channels.spread(mean);
  };
  if (Value g = p.get(0)) {
    Value normal = p.mul(centred, channels.spread(rstd));
    Value dweight = channels.sum(p.mul(g, normal)), dbias = channels.sum(g);
    p.give(1, dweight);
    p.give(2, dbias);
    Value rest = p.sub(p.sub(g, each(dbias, count)), p.mul(normal, each(dweight, count)));
    dx = p.mul(channels.spread(p.mul(p.widen(op.getWeight()), rstd)), rest);
  }
  if (Value g = p.get(1))
    dx = p.addIfBoth(dx, each(g, count));
  if (Value g = p.get(2))
    dx = p.addIfBoth(dx, p.mul(centred, each(g, count / 2)));
  p.give(0, dx);
}

/// The op multiplies by numbers, and its derivative multiplies by the same numbers.
template <> void differentiate(BatchStatisticsOp op, Pullback &p) {
  auto cotangent = [&](unsigned i) {
    Value g = p.get(i);
    return g ? g : p.like(p.widen(op->getOperand(i)), 0.0);
  };
  auto back =
      BatchStatisticsOp::create(p.b, cotangent(0), cotangent(1), op.getCount(), op.getDeferred());
  p.give(0, p.get(0) ? back.getWholeMean() : Value());
  p.give(1, p.get(1) ? back.getUnbiasedVariance() : Value());
}

/// Differentiates with normal = (x - mean)·rstd and factor = weight·rstd: dx = g·factor, dweight =
/// Σ g·normal, dbias = Σ g, dmean = -dbias·factor, and dvariance = -dweight·factor·rstd/2, as
/// normal' = -normal·rstd²/2.
template <> void differentiate(BatchNormInferenceOp op, Pullback &p) {
  Value x = p.widen(op.getOperand()), g = p.get(), rstd = rstdOf(op, p);
  Channels channels{p, tensorTypeOf(x).getShape()};
  Value normal = p.mul(p.sub(x, channels.spread(op.getMean())), channels.spread(rstd));
  Value factor = p.mul(p.widen(op.getWeight()), rstd);
  Value dweight = channels.sum(p.mul(g, normal)), dbias = channels.sum(g);
  p.give(0, p.mul(g, channels.spread(factor)));
  p.give(1, dweight);
  p.give(2, dbias);
  p.give(3, p.neg(p.mul(dbias, factor)));
  p.give(4, p.mul(p.mul(dweight, factor), p.scale(rstd, -0.5)));
}

namespace {
/// Values [n, groups] of a group norm over [n, c, spatial…], and their broadcasts to channels.
struct Groups {
  Pullback &p;
  ArrayRef<int64_t> shape;
  int64_t count;

  /// Broadcasts a value per group to the channels [n, c] and their positions.
  Value spread(Value groups) {
    int64_t n = shape[0], c = shape[1];
    Value each = p.broadcast(groups, {n, count, c / count}, {0, 1});
    return p.broadcast(p.reshape(each, {n, c}), shape, {0, 1});
  }
  /// Sums [n, c, spatial…] to [n, c], and those sums to groups, divided by the elements of a group.
  Value sumPositions(Value x) {
    return p.sum(x, llvm::to_vector(llvm::seq<int64_t>(2, shape.size())));
  }
  Value mean(Value channels) {
    Value sum = p.sum(p.reshape(channels, {shape[0], count, shape[1] / count}), 2);
    return p.div(sum, p.like(sum, size()));
  }
  double size() const {
    return static_cast<double>(ShapedType::getNumElements(shape) / (shape[0] * count));
  }
};
} // namespace

/// With h = g·weight and m elements per group, dx = rstd·(h - Σh/m - normal·Σ(h·normal)/m), where
/// the sums over a group are made of those over channels, which weight and bias need; the
/// statistics add what they add to a row.
template <> void differentiate(GroupNormOp op, Pullback &p) {
  Value x = p.widen(op.getOperand()), rstd = op.getRstd();
  ArrayRef<int64_t> shape = tensorTypeOf(x).getShape();
  Groups groups{p, shape, static_cast<int64_t>(op.getGroups())};
  Value spreadRstd = groups.spread(rstd);
  Value normal = p.mul(p.sub(x, groups.spread(op.getMean())), spreadRstd);
  Value dx, across, along; // dx + across + along·normal
  if (Value g = p.get(0)) {
    Value sums = groups.sumPositions(g), products = groups.sumPositions(p.mul(g, normal));
    p.give(1, p.sum(products, 0));
    p.give(2, p.sum(sums, 0));
    Value weight = p.widen(op.getWeight()),
          perChannel = p.broadcast(weight, shape.take_front(2), 1);
    Value h = p.mul(g, p.broadcast(weight, shape, 1));
    dx = p.mul(h, spreadRstd);
    across = p.neg(p.mul(rstd, groups.mean(p.mul(sums, perChannel))));
    along = p.neg(p.mul(rstd, groups.mean(p.mul(products, perChannel))));
  }
  if (Value g = p.get(1))
    across = p.addIfBoth(across, p.div(g, p.like(g, groups.size())));
  if (Value g = p.get(2))
    along = p.addIfBoth(along, p.mul(p.div(g, p.like(g, -groups.size())), p.mul(rstd, rstd)));
  if (across)
    dx = p.addIfBoth(dx, groups.spread(across));
  if (along)
    dx = p.addIfBoth(dx, p.mul(normal, groups.spread(along)));
  p.give(0, dx);
}

} // namespace reprise
