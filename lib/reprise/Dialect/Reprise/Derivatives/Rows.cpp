// reprise: derivatives of softmax, cross entropy and layer norm.
#include "Pullback.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

namespace {
/// Reductions of the last dimension of one shape and their way back.
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
} // namespace

/// y·(g - Σ g·y).
static void differentiate(SoftmaxOp op, Pullback &p) {
  Row row{p, op.getType().getShape()};
  Value g = p.get(), y = p.widen(op.getResult());
  p.give(0, p.mul(y, p.sub(g, row.spread(row.sum(p.mul(g, y))))));
}

/// g - exp(y)·Σ g.
static void differentiate(LogSoftmaxOp op, Pullback &p) {
  Row row{p, op.getType().getShape()};
  Value g = p.get(), y = p.widen(op.getResult());
  p.give(0, p.sub(g, p.mul(p.exp(y), row.spread(row.sum(g)))));
}

/// (softmax(logits) - 1 at the label)·g.
static void differentiate(CrossEntropyOp op, Pullback &p) {
  Value logits = p.widen(op.getLogits()), labels = op.getLabels();
  Row row{p, p.typeOf(logits).getShape()};
  Value first = p.like(labels, 0), last = p.like(labels, row.shape.back() - 1);
  Value clamped = MinimumOp::create(p.b, MaximumOp::create(p.b, labels, first), last);
  Value isLabel = p.isAt(clamped, row.shape, row.last);
  Value probability = SoftmaxOp::create(p.b, logits.getType(), logits);
  Value one = p.convert(isLabel, p.typeOf(logits).getElementType());
  p.give(0, p.mul(p.sub(probability, one), row.spread(p.get())));
}

/// With n elements per row, xhat = (x - mean)·rstd and h = g·weight:
///   dx = rstd·(h - Σh/n - xhat·Σ(h·xhat)/n), dweight = Σ g·xhat, dbias = Σ g over the rows;
/// the statistics add dmean/n, as mean = Σx/n, and -drstd·rstd²·xhat/n, as rstd' = -rstd²·xhat/n.
static void differentiate(LayerNormOp op, Pullback &p) {
  Value x = p.widen(op.getOperand()), rstd = op.getRstd();
  Row row{p, p.typeOf(x).getShape()};
  double n = row.shape.back();
  Value spreadRstd = row.spread(rstd);
  Value normal = p.mul(p.sub(x, row.spread(op.getMean())), spreadRstd);
  Value dx;
  if (Value g = p.get(0)) {
    p.give(1, row.sumRows(p.mul(g, normal)));
    p.give(2, row.sumRows(g));
    Value h = p.mul(g, row.repeat(p.widen(op.getWeight())));
    Value along = p.mul(normal, row.spread(row.mean(p.mul(h, normal))));
    dx = p.mul(spreadRstd, p.sub(p.sub(h, row.spread(row.mean(h))), along));
  }
  if (Value g = p.get(1))
    dx = p.addIfBoth(dx, row.spread(p.div(g, p.like(g, n))));
  if (Value g = p.get(2)) {
    Value factor = p.mul(p.div(g, p.like(g, -n)), p.mul(rstd, rstd));
    dx = p.addIfBoth(dx, p.mul(normal, row.spread(factor)));
  }
  p.give(0, dx);
}

void attachRowRules(MLIRContext *context) {
  attachRules<SoftmaxOp, LogSoftmaxOp, CrossEntropyOp, LayerNormOp>(context);
}

} // namespace reprise
