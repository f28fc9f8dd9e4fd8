// reprise: softmax, losses and normalizations in the interpreter, row by row.
#include "Models.h"
#include "reprise/Reference/Elementary.h"
#include "reprise/Reference/Order.h"
#include <limits>

using namespace mlir;

namespace reprise::reference {
namespace {

template <typename T> T maximumOfRow(const T *row, int64_t n) {
  T best = -std::numeric_limits<T>::infinity();
  for (int64_t j = 0; j < n; ++j)
    best = maximum(best, row[j]);
  return best;
}

/// Runs `fn(row number, row, its length)` on copies of all rows of a tensor.
template <typename T, typename Fn> void forEachRow(const Tensor &operand, Fn fn) {
  Values<T> values(operand);
  int64_t n = operand.type.getShape().back();
  for (int64_t row = 0; row < operand.size() / n; ++row)
    fn(row, &values[row * n], n);
}

/// Row x - max x, and Σ exp of its elements.
template <typename T> struct ShiftedRow {
  std::vector<T> shifted;
  T sum;
  ShiftedRow(const T *row, int64_t n) {
    T largest = maximumOfRow(row, n);
    for (int64_t j = 0; j < n; ++j)
      shifted.push_back(row[j] - largest);
    sum = sumInLanes<T>(n, [&](int64_t j) { return exp(shifted[j]); });
  }
};

Results evaluateSoftmax(SoftmaxOp op, Operands operands) {
  return single(withFloat(op.getType().getElementType(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> result;
    forEachRow<T>(*operands[0], [&](int64_t, const T *row, int64_t n) {
      ShiftedRow<T> shift(row, n);
      for (T x : shift.shifted)
        result.push_back(exp(x) / shift.sum);
    });
    return round(op.getType(), result);
  }));
}

Results evaluateLogSoftmax(LogSoftmaxOp op, Operands operands) {
  return single(withFloat(op.getType().getElementType(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> result;
    forEachRow<T>(*operands[0], [&](int64_t, const T *row, int64_t n) {
      ShiftedRow<T> shift(row, n);
      for (T x : shift.shifted)
        result.push_back(x - log(shift.sum));
    });
    return round(op.getType(), result);
  }));
}

Results evaluateCrossEntropy(CrossEntropyOp op, Operands operands) {
  RankedTensorType type = resultType(op);
  std::vector<int64_t> labels = clampedIndices(*operands[1], operands[0]->type.getShape().back());
  return single(withFloat(type.getElementType(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> result;
    forEachRow<T>(*operands[0], [&](int64_t index, const T *row, int64_t n) {
      ShiftedRow<T> shift(row, n);
      result.push_back(log(shift.sum) - shift.shifted[labels[index]]);
    });
    return round(type, result);
  }));
}

template <typename T> Results evaluateLayerNormAs(LayerNormOp op, Operands operands) {
  Values<T> weight(*operands[1]), bias(*operands[2]);
  T epsilon = static_cast<T>(op.getEpsilon());
  std::vector<T> result, means, deviations;
  forEachRow<T>(*operands[0], [&](int64_t, const T *row, int64_t n) {
    T count = static_cast<T>(n);
    T mean = sumInLanes<T>(n, [&](int64_t j) { return row[j]; }) / count;
    T variance =
        sumInLanes<T>(n, [&](int64_t j) { return (row[j] - mean) * (row[j] - mean); }) / count;
    T inverse = rsqrt(variance + epsilon);
    for (int64_t j = 0; j < n; ++j)
      result.push_back(((row[j] - mean) * inverse) * weight[j] + bias[j]);
    means.push_back(mean);
    deviations.push_back(inverse);
  });
  return roundResults(op, result, means, deviations);
}

Results evaluateLayerNorm(LayerNormOp op, Operands operands) {
  return withFloat(operands[0]->type.getElementType(),
                   [&](auto zero) { return evaluateLayerNormAs<decltype(zero)>(op, operands); });
}

template <typename T> Results evaluateRmsNormAs(RmsNormOp op, Operands operands) {
  Values<T> weight(*operands[1]);
  std::vector<T> result, deviations;
  forEachRow<T>(*operands[0], [&](int64_t, const T *row, int64_t n) {
    T square = sumInLanes<T>(n, [&](int64_t j) { return row[j] * row[j]; }) / static_cast<T>(n);
    T inverse = rsqrt(square + static_cast<T>(op.getEpsilon()));
    for (int64_t j = 0; j < n; ++j)
      result.push_back((row[j] * inverse) * weight[j]);
    deviations.push_back(inverse);
  });
  return roundResults(op, result, deviations);
}

Results evaluateRmsNorm(RmsNormOp op, Operands operands) {
  return withFloat(operands[0]->type.getElementType(),
                   [&](auto zero) { return evaluateRmsNormAs<decltype(zero)>(op, operands); });
}

} // namespace

REPRISE_EVALUATE(SoftmaxOp, evaluateSoftmax)
REPRISE_EVALUATE(LogSoftmaxOp, evaluateLogSoftmax)
REPRISE_EVALUATE(CrossEntropyOp, evaluateCrossEntropy)
REPRISE_EVALUATE(LayerNormOp, evaluateLayerNorm)
REPRISE_EVALUATE(RmsNormOp, evaluateRmsNorm)

} // namespace reprise::reference
