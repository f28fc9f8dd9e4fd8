// reprise: factors of reductions, normalizations and losses
#include "FactorRule.h"
#include "reprise/Dialect/Reprise/IR/Groups.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

/// Results lack the reduced dimensions.
static void reduce(FactorRule &rule, ArrayRef<int64_t> reduced, FactorKind kind) {
  SmallVector<int> kept, all;
  for (auto [dim, size] : llvm::enumerate(rule.shapeOfOperand(0))) {
    bool isReduced = llvm::is_contained(reduced, static_cast<int64_t>(dim));
    all.push_back(rule.add(size, isReduced ? kind : FactorKind::Parallel));
    if (!isReduced)
      kept.push_back(all.back());
  }
  rule.setOperand(0, all);
  rule.setResult(0, kept);
}

template <> void findFactors(SumOp op, FactorRule &rule) {
  reduce(rule, op.getDims(), FactorKind::Summed);
}
template <> void findFactors(MeanOp op, FactorRule &rule) {
  reduce(rule, op.getDims(),
         op->hasAttr(kPerGroupAttr) ? FactorKind::Grouped : FactorKind::Averaged);
}
template <> void findFactors(ArgmaxOp op, FactorRule &rule) {
  reduce(rule, static_cast<int64_t>(op.getDim()), FactorKind::Coupled);
}
/// Max, min, prod and logsumexp: parts could be combined, but not by a sum.
template <typename OpT> static void reduceWhole(OpT op, FactorRule &rule) {
  reduce(rule, op.getDims(), FactorKind::Coupled);
}
template <> void findFactors(MaxOp op, FactorRule &rule) { reduceWhole(op, rule); }
template <> void findFactors(MinOp op, FactorRule &rule) { reduceWhole(op, rule); }
template <> void findFactors(ProdOp op, FactorRule &rule) { reduceWhole(op, rule); }
template <> void findFactors(LogSumExpOp op, FactorRule &rule) { reduceWhole(op, rule); }

template <> void findFactors(CumsumOp op, FactorRule &rule) {
  SmallVector<int> dims = rule.addAll(rule.shapeOfOperand(0));
  dims[op.getDim()] = -1;
  rule.setOperand(0, dims);
  rule.setResult(0, dims);
}

/// Rows are independent. Results have their dimensions, and perhaps one more.

static void normalizeRows(FactorRule &rule, unsigned results) {
  SmallVector<int> rows = rule.addAll(rule.shapeOfOperand(0).drop_back());
  rule.setOperand(0, rows);
  for (unsigned result = 0; result < results; ++result)
    rule.setResult(result, rows);
}

template <> void findFactors(SoftmaxOp, FactorRule &rule) { normalizeRows(rule, 1); }
template <> void findFactors(LogSoftmaxOp, FactorRule &rule) { normalizeRows(rule, 1); }
template <> void findFactors(LayerNormOp, FactorRule &rule) { normalizeRows(rule, 3); }
template <> void findFactors(RmsNormOp, FactorRule &rule) { normalizeRows(rule, 2); }

template <> void findFactors(CrossEntropyOp op, FactorRule &rule) {
  SmallVector<int> rows = rule.addAll(rule.shapeOfOperand(1));
  rule.setOperand(0, rows);
  rule.setOperand(1, rows);
  rule.setResult(0, rows);
}

template <> void findFactors(GroupNormOp op, FactorRule &rule) {
  int samples = rule.add(rule.shapeOfOperand(0)[0]);
  rule.setOperand(0, samples);
  for (unsigned result : {0, 1, 2})
    rule.setResult(result, samples);
}

/// Samples of a part have statistics of their own; channels are independent.
template <> void findFactors(BatchNormOp op, FactorRule &rule) {
  int samples = rule.add(rule.shapeOfOperand(0)[0], FactorKind::Grouped);
  int channels = rule.add(rule.shapeOfOperand(0)[1]);
  rule.setOperand(0, {samples, channels});
  rule.setResult(0, {samples, channels});
  for (unsigned other : {1, 2}) {
    rule.setOperand(other, channels);
    rule.setResult(other, channels);
  }
}

/// The count of the op is no dimension: it counts the samples of the statistics.
template <> void findFactors(BatchStatisticsOp, FactorRule &rule) {
  SmallVector<int> dims = rule.addAll(rule.shapeOfOperand(0));
  for (unsigned each : {0, 1}) {
    rule.setOperand(each, dims);
    rule.setResult(each, dims);
  }
}

template <> void findFactors(BatchNormInferenceOp op, FactorRule &rule) {
  SmallVector<int> dims = rule.addAll(rule.shapeOfOperand(0));
  rule.setOperand(0, dims);
  rule.setResult(0, dims);
  for (unsigned other : {1, 2, 3, 4})
    rule.setOperand(other, dims[1]);
}

} // namespace reprise
