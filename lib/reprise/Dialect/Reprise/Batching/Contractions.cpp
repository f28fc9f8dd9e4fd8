// reprise: factors of contractions, convolutions, pooling and attention
#include "FactorRule.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

static void findFactors(DotGeneralOp op, FactorRule &rule) {
  ArrayRef<int64_t> lhs = rule.shapeOfOperand(0), rhs = rule.shapeOfOperand(1);
  int64_t dim = 0; // of the result
  for (auto [left, right] : llvm::zip(op.getLhsBatch(), op.getRhsBatch())) {
    int factor = rule.add(lhs[left]);
    rule.setOperand(0, left, {factor});
    rule.setOperand(1, right, {factor});
    rule.setResult(0, dim++, {factor});
  }
  for (auto [left, right] : llvm::zip(op.getLhsContracting(), op.getRhsContracting())) {
    int factor = rule.add(lhs[left], FactorKind::Summed);
    rule.setOperand(0, left, {factor});
    rule.setOperand(1, right, {factor});
  }
  auto addFree = [&](unsigned operand, ArrayRef<int64_t> shape, ArrayRef<int64_t> free) {
    for (int64_t own : free) {
      int factor = rule.add(shape[own]);
      rule.setOperand(operand, own, {factor});
      rule.setResult(0, dim++, {factor});
    }
  };
  addFree(0, lhs, op.getLhsFree());
  addFree(1, rhs, op.getRhsFree());
}

/// Samples are independent.
static void findFactors(ConvolutionOp, FactorRule &rule) {
  int samples = rule.add(rule.shapeOfOperand(0)[0]);
  rule.setOperand(0, samples);
  rule.setResult(0, samples);
}

static void findFactors(ConvolutionTransposeOp, FactorRule &rule) {
  int samples = rule.add(rule.shapeOfOperand(0)[0]);
  rule.setOperand(0, samples);
  rule.setResult(0, samples);
}

static void findFactors(ConvolutionFilterOp, FactorRule &rule) {
  int samples = rule.add(rule.shapeOfOperand(0)[0], FactorKind::Summed);
  rule.setOperand(0, samples);
  rule.setOperand(1, samples);
}

/// Pools: samples and channels are independent.
template <typename OpT> static void findFactors(OpT op, FactorRule &rule) {
  SmallVector<int> dims = rule.addAll(rule.shapeOfOperand(0).take_front(2));
  rule.setOperand(0, dims);
  for (unsigned result = 0; result < op->getNumResults(); ++result)
    rule.setResult(result, dims);
}

/// Samples are independent. A bias or a mask may have one row for all of them.
template <typename OpT> static void attend(OpT op, FactorRule &rule) {
  int64_t size = rule.shapeOfOperand(0)[0];
  int samples = rule.add(size);
  SmallVector<Value> drawn{op.getSeed(), op.getOffset(), op.getOrigin()};
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (!llvm::is_contained(drawn, operand) && rule.shapeOfOperand(number)[0] == size)
      rule.setOperand(number, samples);
  for (unsigned result = 0; result < op->getNumResults(); ++result)
    rule.setResult(result, samples);
}
static void findFactors(AttentionOp op, FactorRule &rule) { attend(op, rule); }
static void findFactors(AttentionBackwardOp op, FactorRule &rule) { attend(op, rule); }

/// Rows of positions meet the sines of their position.
static void findFactors(RotaryOp, FactorRule &rule) {
  SmallVector<int> dims = rule.addAll(rule.shapeOfOperand(0).drop_back());
  rule.setOperand(0, dims);
  rule.setResult(0, dims);
  rule.setOperand(1, dims.back());
  rule.setOperand(2, dims.back());
}

void attachContractionBatching(MLIRContext *context) {
  attachBatching<DotGeneralOp, ConvolutionOp, ConvolutionTransposeOp, ConvolutionFilterOp,
                 MaxPoolOp, AveragePoolOp, AveragePoolBackwardOp, AttentionOp, AttentionBackwardOp,
                 RotaryOp>(context);
}

} // namespace reprise
