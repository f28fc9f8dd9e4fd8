// reprise: factors of contractions, convolutions, pooling and attention
#include "FactorRule.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

/// Terms are of this kind. Returns the factors of the result.
template <typename OpT>
static SmallVector<int> contract(OpT op, FactorRule &rule, FactorKind kind) {
  ArrayRef<int64_t> lhs = rule.shapeOfOperand(0), rhs = rule.shapeOfOperand(1);
  SmallVector<int> result;
  for (auto [left, right] : llvm::zip(op.getLhsBatch(), op.getRhsBatch())) {
    int factor = rule.add(lhs[left]);
    rule.setOperand(0, left, {factor});
    rule.setOperand(1, right, {factor});
    result.push_back(factor);
  }
  for (auto [left, right] : llvm::zip(op.getLhsContracting(), op.getRhsContracting())) {
    int factor = rule.add(lhs[left], kind);
    rule.setOperand(0, left, {factor});
    rule.setOperand(1, right, {factor});
  }
  auto addFree = [&](unsigned operand, ArrayRef<int64_t> shape, ArrayRef<int64_t> free) {
    for (int64_t own : free) {
      result.push_back(rule.add(shape[own]));
      rule.setOperand(operand, own, {result.back()});
    }
  };
  addFree(0, lhs, op.getLhsFree());
  addFree(1, rhs, op.getRhsFree());
  rule.setResult(0, result);
  return result;
}
template <> void findFactors(DotGeneralOp op, FactorRule &rule) {
  contract(op, rule, FactorKind::Summed);
}
/// Each part of a sum would have the bias once more, so its terms stay together.
template <> void findFactors(DotBiasOp op, FactorRule &rule) {
  SmallVector<int> result = contract(op, rule, FactorKind::Coupled);
  rule.setOperand(2, ArrayRef(result).take_back(op.getRhsFree().size()));
}
/// Lanes are those of all terms, so the terms of a part have no lanes of their own.
template <> void findFactors(DotLanesOp op, FactorRule &rule) {
  contract(op, rule, FactorKind::Coupled);
}
/// The terms of a part continue the sums of the part before, so they stay together.
template <> void findFactors(DotAccumulateOp op, FactorRule &rule) {
  rule.setOperand(2, contract(op, rule, FactorKind::Coupled));
}

/// Samples are independent.
template <> void findFactors(ConvolutionOp, FactorRule &rule) {
  int samples = rule.add(rule.shapeOfOperand(0)[0]);
  rule.setOperand(0, samples);
  rule.setResult(0, samples);
}

template <> void findFactors(ConvolutionTransposeOp, FactorRule &rule) {
  int samples = rule.add(rule.shapeOfOperand(0)[0]);
  rule.setOperand(0, samples);
  rule.setResult(0, samples);
}

template <> void findFactors(ConvolutionFilterOp, FactorRule &rule) {
  int samples = rule.add(rule.shapeOfOperand(0)[0], FactorKind::Summed);
  rule.setOperand(0, samples);
  rule.setOperand(1, samples);
}

/// Pools: samples and channels are independent.
static void poolSamples(Operation *op, FactorRule &rule) {
  SmallVector<int> dims = rule.addAll(rule.shapeOfOperand(0).take_front(2));
  rule.setOperand(0, dims);
  for (unsigned result = 0; result < op->getNumResults(); ++result)
    rule.setResult(result, dims);
}
template <> void findFactors(MaxPoolOp op, FactorRule &rule) { poolSamples(op, rule); }
template <> void findFactors(AveragePoolOp op, FactorRule &rule) { poolSamples(op, rule); }
template <> void findFactors(AveragePoolBackwardOp op, FactorRule &rule) { poolSamples(op, rule); }

/// Finds the factors of attention: samples are independent, and so are heads. The heads of queries
/// form a group for each head of keys, and groups are cut. A bias or a mask may have one row for
/// all samples or heads.
template <typename OpT> static void attend(OpT op, FactorRule &rule) {
  int64_t size = rule.shapeOfOperand(0)[0], heads = rule.shapeOfOperand(0)[1];
  int64_t keyHeads = rule.shapeOfOperand(1)[1];
  int samples = rule.add(size), groups = rule.add(keyHeads);
  OpFactors::Dim ofQuery = {groups};
  if (heads != keyHeads)
    ofQuery.push_back(rule.add(heads / keyHeads));
  auto isOfKey = [&](Value value) { return value == op.getKey() || value == op.getValue(); };
  SmallVector<Value> drawn{op.getSeed(), op.getOffset(), op.getOrigin()};
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    if (llvm::is_contained(drawn, operand))
      continue;
    ArrayRef<int64_t> shape = rule.shapeOfOperand(number);
    if (shape[0] == size)
      rule.setOperand(number, samples);
    if (isOfKey(operand))
      rule.setOperand(number, 1, {groups});
    else if (shape[1] == heads)
      rule.setOperand(number, 1, ofQuery);
  }
  constexpr bool isBackward = std::is_same_v<OpT, AttentionBackwardOp>;
  for (unsigned result = 0; result < op->getNumResults(); ++result) {
    rule.setResult(result, samples);
    rule.setResult(result, 1,
                   isBackward && (result == 1 || result == 2) ? OpFactors::Dim{groups} : ofQuery);
  }
}
template <> void findFactors(AttentionOp op, FactorRule &rule) { attend(op, rule); }
template <> void findFactors(AttentionBackwardOp op, FactorRule &rule) { attend(op, rule); }

/// Rows of positions meet the sines of their position.
template <> void findFactors(RotaryOp, FactorRule &rule) {
  SmallVector<int> dims = rule.addAll(rule.shapeOfOperand(0).drop_back());
  rule.setOperand(0, dims);
  rule.setResult(0, dims);
  rule.setOperand(1, dims.back());
  rule.setOperand(2, dims.back());
}

} // namespace reprise
