// reprise: factors of constants and data movement
#include "FactorRule.h"

#include <numeric>

using namespace mlir;
using namespace reprise;

namespace reprise {

/// Made whole, and cut behind: its elements are no function of their place.
template <> void findFactors(ConstantOp, FactorRule &) {}

/// Along the other dimensions it repeats.
template <> void findFactors(IotaOp op, FactorRule &rule) {
  SmallVector<int> dims = rule.addAll(rule.shapeOfResult(0));
  dims[op.getDim()] = -1;
  rule.setResult(0, dims);
}

template <> void findFactors(BroadcastOp op, FactorRule &rule) {
  SmallVector<int> dims = rule.addAll(rule.shapeOfResult(0));
  rule.setResult(0, dims);
  for (auto [from, to] : llvm::enumerate(op.getDims()))
    rule.setOperand(0, from, {dims[to]});
}

template <> void findFactors(TransposeOp op, FactorRule &rule) {
  SmallVector<int> dims = rule.addAll(rule.shapeOfOperand(0));
  rule.setOperand(0, dims);
  for (auto [to, from] : llvm::enumerate(op.getPermutation()))
    rule.setResult(0, to, {dims[from]});
}

namespace {
/// Factors of a reshape: dimensions of operand and result with the same elements, slowest first, as
/// products of common factors. Each factor is the greatest common divisor of the rest of both
/// sides. If neither side is used up, the rest of both is coupled.
class ReshapeFactors {
public:
  ReshapeFactors(FactorRule &rule) : rule(rule) {}

  void run() {
    ArrayRef<int64_t> from = rule.shapeOfOperand(0), to = rule.shapeOfResult(0);
    if (llvm::is_contained(from, 0))
      return;
    operand.rest = from;
    result.rest = to;
    while (operand.next() && result.next())
      if (!share())
        return;
  }

private:
  /// Side of a reshape: the current dimension, its rest, and its factors so far.
  struct Side {
    ArrayRef<int64_t> rest;
    int64_t dim = -1, left = 1;
    OpFactors::Dim factors;

    /// Goes on to the next dimension of more than one index, if this one is used up.
    bool next() {
      while (left == 1 && !rest.empty()) {
        left = rest.front();
        rest = rest.drop_front();
        factors.clear();
        ++dim;
      }
      return left > 1;
    }
  };

  /// Adds a common factor. Returns false if there is none.
  bool share() {
    int64_t size = std::gcd(operand.left, result.left);
    int factor = size > 1 ? rule.add(size) : -1;
    for (Side *side : {&operand, &result})
      if (size > 1) {
        side->factors.push_back(factor);
        side->left /= size;
      }
    bool goesOn = size > 1 && (operand.left == 1 || result.left == 1);
    for (Side *side : {&operand, &result})
      if (!goesOn)
        side->factors.push_back(rule.add(side->left, FactorKind::Coupled));
    if (!goesOn || operand.left == 1)
      rule.setOperand(0, operand.dim, operand.factors);
    if (!goesOn || result.left == 1)
      rule.setResult(0, result.dim, result.factors);
    return goesOn;
  }

  FactorRule &rule;
  Side operand, result;
};
} // namespace

template <> void findFactors(ReshapeOp, FactorRule &rule) { ReshapeFactors(rule).run(); }

/// Gives whole dimensions a factor each; all others are coupled.
static void shareWhole(FactorRule &rule, function_ref<bool(int64_t)> isWhole) {
  for (auto [dim, size] : llvm::enumerate(rule.shapeOfOperand(0)))
    if (isWhole(dim)) {
      int factor = rule.add(size);
      rule.setOperand(0, dim, {factor});
      rule.setResult(0, dim, {factor});
    }
}

static bool isWhole(SliceOp op, int64_t dim) {
  return op.getStarts()[dim] == 0 && op.getStrides()[dim] == 1 &&
         op.getLimits()[dim] == op.getOperand().getType().getDimSize(dim);
}

template <> void findFactors(SliceOp op, FactorRule &rule) {
  shareWhole(rule, [&](int64_t dim) { return isWhole(op, dim); });
}

/// The window of a dimension that was whole ends where its part ends.
template <> void adjust(SliceOp op) {
  SmallVector<int64_t> limits(op.getLimits());
  for (auto [dim, limit] : llvm::enumerate(limits))
    limit = std::min(limit, op.getOperand().getType().getDimSize(dim));
  op.setLimits(limits);
}

template <> void findFactors(PadOp op, FactorRule &rule) {
  shareWhole(rule, [&](int64_t dim) {
    return op.getLow()[dim] == 0 && op.getHigh()[dim] == 0 && op.getInterior()[dim] == 0;
  });
}

template <> void findFactors(ConcatenateOp op, FactorRule &rule) {
  SmallVector<int> dims = rule.addAll(rule.shapeOfResult(0));
  dims[op.getDim()] = -1;
  rule.setResult(0, dims);
  for (unsigned operand = 0; operand < op.getNumOperands(); ++operand)
    rule.setOperand(operand, dims);
}

/// A window as large as its dimension lies at 0, wherever it should start.
template <> void findFactors(DynamicSliceOp op, FactorRule &rule) {
  shareWhole(
      rule, [&](int64_t dim) { return rule.shapeOfOperand(0)[dim] == rule.shapeOfResult(0)[dim]; });
}

template <> void findFactors(DynamicUpdateOp op, FactorRule &rule) {
  for (auto [dim, size] : llvm::enumerate(rule.shapeOfResult(0)))
    if (rule.shapeOfOperand(1)[dim] == size) {
      int factor = rule.add(size);
      rule.setOperand(0, dim, {factor});
      rule.setOperand(1, dim, {factor});
      rule.setResult(0, dim, {factor});
    }
}

} // namespace reprise
