// reprise: normalizations of [n, c, spatial…] in the interpreter, channel by channel.
#include "Models.h"
#include "reprise/Reference/Elementary.h"
#include "reprise/Reference/Order.h"

using namespace mlir;

namespace reprise::reference {
namespace {

/// Returns the sum of `element(j)` over the elements that share statistics, in their row-major
/// order. The last dimension is among them if there are spatial dimensions.
template <typename T, typename Element> T sumOf(int64_t n, bool lastReduced, Element element) {
  return lastReduced ? reduceInLanes(n, T(0), add<T>, element)
                     : reduceInOrder(n, T(0), add<T>, element);
}

/// The elements at `members` of `x` that share statistics.
template <typename T> struct Statistics {
  T mean, variance;
  Statistics(const Values<T> &x, const std::vector<int64_t> &members, bool lastReduced) {
    int64_t n = static_cast<int64_t>(members.size());
    T count = static_cast<T>(n);
    mean = sumOf<T>(n, lastReduced, [&](int64_t j) { return x[members[j]]; }) / count;
    variance = sumOf<T>(n, lastReduced,
                        [&](int64_t j) {
                          T centred = x[members[j]] - mean;
                          return centred * centred;
                        }) /
               count;
  }
};

/// The positions of channel `c`.
std::vector<int64_t> channelOf(RankedTensorType type, int64_t c) {
  SmallVector<int64_t> sizes(type.getShape()), strides = stridesOf(type.getShape());
  sizes[1] = 1;
  return positions(sizes, strides, c * strides[1]);
}

/// ((x - mean)·rstd)·weight + bias at `members`.
template <typename T>
void normalize(const Values<T> &x, const std::vector<int64_t> &members, T mean, T rstd, T weight,
               T bias, std::vector<T> &result) {
  for (int64_t at : members)
    result[at] = ((x[at] - mean) * rstd) * weight + bias;
}

template <typename T> Results evaluateBatchNormAs(BatchNormOp op, Operands operands) {
  RankedTensorType type = operands[0]->type;
  Values<T> x(*operands[0]), weight(*operands[1]), bias(*operands[2]);
  std::vector<T> result(operands[0]->size()), means, variances;
  for (int64_t c = 0; c < type.getDimSize(1); ++c) {
    std::vector<int64_t> members = channelOf(type, c);
    Statistics<T> statistics(x, members, type.getRank() > 2);
    T inverse = rsqrt(statistics.variance + static_cast<T>(op.getEpsilon()));
    normalize(x, members, statistics.mean, inverse, weight[c], bias[c], result);
    means.push_back(statistics.mean);
    variances.push_back(statistics.variance);
  }
  return roundResults(op, result, means, variances);
}

Results evaluateBatchNorm(BatchNormOp op, Operands operands) {
  return withFloat(operands[0]->type.getElementType(),
                   [&](auto zero) { return evaluateBatchNormAs<decltype(zero)>(op, operands); });
}

Results evaluateBatchStatistics(BatchStatisticsOp op, Operands operands) {
  RankedTensorType type = operands[1]->type;
  Results results;
  results.push_back(*operands[0]);
  results.push_back(withFloat(type.getElementType(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> variance(*operands[1]);
    T count = static_cast<T>(static_cast<int64_t>(op.getCount()));
    std::vector<T> unbiased(operands[1]->size());
    for (auto [i, each] : llvm::enumerate(unbiased))
      each = (variance[i] * count) / (count - 1);
    return round(type, unbiased);
  }));
  return results;
}

Results evaluateBatchNormInference(BatchNormInferenceOp op, Operands operands) {
  RankedTensorType type = operands[0]->type;
  return single(withFloat(type.getElementType(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> x(*operands[0]), weight(*operands[1]), bias(*operands[2]), mean(*operands[3]),
        variance(*operands[4]);
    std::vector<T> result(operands[0]->size());
    for (int64_t c = 0; c < type.getDimSize(1); ++c)
      normalize(x, channelOf(type, c), mean[c],
                rsqrt(variance[c] + static_cast<T>(op.getEpsilon())), weight[c], bias[c], result);
    return round(type, result);
  }));
}

template <typename T> Results evaluateGroupNormAs(GroupNormOp op, Operands operands) {
  ArrayRef<int64_t> shape = operands[0]->type.getShape();
  Values<T> x(*operands[0]), weight(*operands[1]), bias(*operands[2]);
  int64_t count = shape[0] * static_cast<int64_t>(op.getGroups());
  int64_t size = operands[0]->size() / count,
          channelSize = operands[0]->size() / shape[0] / shape[1];
  std::vector<T> result(operands[0]->size()), means, deviations;
  for (int64_t group = 0; group < count; ++group) {
    Statistics<T> statistics(x, positions(size, 1, group * size), true);
    T inverse = rsqrt(statistics.variance + static_cast<T>(op.getEpsilon()));
    for (int64_t at = group * size; at < (group + 1) * size; at += channelSize) {
      int64_t c = at / channelSize % shape[1];
      normalize(x, positions(channelSize, 1, at), statistics.mean, inverse, weight[c], bias[c],
                result);
    }
    means.push_back(statistics.mean);
    deviations.push_back(inverse);
  }
  return roundResults(op, result, means, deviations);
}

Results evaluateGroupNorm(GroupNormOp op, Operands operands) {
  return withFloat(operands[0]->type.getElementType(),
                   [&](auto zero) { return evaluateGroupNormAs<decltype(zero)>(op, operands); });
}

} // namespace

REPRISE_EVALUATE(BatchNormOp, evaluateBatchNorm)
REPRISE_EVALUATE(BatchStatisticsOp, evaluateBatchStatistics)
REPRISE_EVALUATE(BatchNormInferenceOp, evaluateBatchNormInference)
REPRISE_EVALUATE(GroupNormOp, evaluateGroupNorm)

} // namespace reprise::reference
