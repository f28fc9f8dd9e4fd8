// reprise: reductions and contractions in the interpreter.
#include "Chains.h"
#include "Models.h"
#include "reprise/Reference/Elementary.h"
#include "reprise/Support/StableSort.h"
#include <limits>
#include <numeric>

using namespace mlir;

namespace reprise::reference {
namespace {

//===-- Reductions ----------------------------------------------------------------------------===//

struct Sum {
  template <typename T> static T identity() { return T(0); }
  template <typename T> T operator()(T x, T y) const { return wrappingAdd(x, y); }
};
struct Product {
  template <typename T> static T identity() { return T(1); }
  template <typename T> T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
    else
      return x * y;
  }
};
struct Max {
  template <typename T> static T identity() {
    return std::is_integral_v<T> ? std::numeric_limits<T>::min()
                                 : -std::numeric_limits<T>::infinity();
  }
  template <typename T> T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return std::max(x, y);
    else
      return maximum(x, y);
  }
};
struct Min {
  template <typename T> static T identity() {
    return std::is_integral_v<T> ? std::numeric_limits<T>::max()
                                 : std::numeric_limits<T>::infinity();
  }
  template <typename T> T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return std::min(x, y);
    else
      return minimum(x, y);
  }
};

/// The sizes and row-major strides of some dimensions of a type.
struct Dims {
  SmallVector<int64_t> sizes, strides;
  Dims(RankedTensorType type, ArrayRef<int64_t> dims) {
    SmallVector<int64_t> all = stridesOf(type.getShape());
    for (int64_t dim : dims) {
      sizes.push_back(type.getDimSize(dim));
      strides.push_back(all[dim]);
    }
  }
  std::vector<int64_t> positions() const { return reference::positions(sizes, strides); }
};

SmallVector<int64_t> dimsExcept(int64_t rank, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> others;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(dims, d))
      others.push_back(d);
  return others;
}

/// Reduces to one result per kept index: `element(kept, start + place)` for all places of the
/// reduced dimensions, in row-major order.
template <typename T, typename Kind, typename Element>
std::vector<T> reduceElements(RankedTensorType type, ArrayRef<int64_t> dims, Element element) {
  std::vector<int64_t> reduced = Dims(type, dims).positions();
  bool lanes = dims.back() == type.getRank() - 1;
  int64_t n = static_cast<int64_t>(reduced.size());
  T identity = Kind::template identity<T>();
  std::vector<T> results;
  for (int64_t start : Dims(type, dimsExcept(type.getRank(), dims)).positions()) {
    auto at = [&](int64_t j) { return element(results.size(), start + reduced[j]); };
    results.push_back(lanes ? reduceInLanes(n, identity, Kind(), at)
                            : reduceInOrder(n, identity, Kind(), at));
  }
  return results;
}

template <typename T, typename Kind>
std::vector<T> reduce(const Tensor &operand, ArrayRef<int64_t> dims) {
  Values<T> values(operand);
  return reduceElements<T, Kind>(operand.type, dims, [&](size_t, int64_t i) { return values[i]; });
}

template <typename OpT, typename Kind> Results evaluateReduction(OpT op, Operands operands) {
  return single(withNumber(op.getType().getElementType(), [&](auto zero) {
    return round(op.getType(), reduce<decltype(zero), Kind>(*operands[0], op.getDims()));
  }));
}

Results evaluateMean(MeanOp op, Operands operands) {
  return single(withFloat(op.getType().getElementType(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> results = reduce<T, Sum>(*operands[0], op.getDims());
    int64_t count = 1;
    for (int64_t dim : op.getDims())
      count *= operands[0]->type.getDimSize(dim);
    for (T &result : results)
      result /= static_cast<T>(count);
    return round(op.getType(), results);
  }));
}

Results evaluateLogSumExp(LogSumExpOp op, Operands operands) {
  return single(withFloat(op.getType().getElementType(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> values(*operands[0]);
    std::vector<T> shifts = reduce<T, Max>(*operands[0], op.getDims());
    for (T &shift : shifts)
      if (std::isinf(shift))
        shift = 0;
    std::vector<T> results =
        reduceElements<T, Sum>(operands[0]->type, op.getDims(), [&](size_t kept, int64_t i) {
          return exp(values[i] - shifts[kept]);
        });
    for (auto [result, shift] : llvm::zip_equal(results, shifts))
      result = log(result) + shift;
    return round(op.getType(), results);
  }));
}

Results evaluateCumsum(CumsumOp op, Operands operands) {
  RankedTensorType type = op.getType();
  int64_t dim = op.getDim();
  std::vector<int64_t> along = Dims(type, dim).positions();
  if (op.getReverse())
    std::reverse(along.begin(), along.end());
  return single(withNumber(type.getElementType(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> values(*operands[0]);
    std::vector<T> sums(type.getNumElements());
    for (int64_t start : Dims(type, dimsExcept(type.getRank(), dim)).positions())
      for (auto [i, at] : llvm::enumerate(along))
        sums[start + at] = i == 0 ? values[start + at]
                                  : wrappingAdd(sums[start + along[i - 1]], values[start + at]);
    return round(type, sums);
  }));
}

Results evaluateTopK(TopKOp op, Operands operands) {
  const Tensor &operand = *operands[0];
  int64_t n = operand.type.getShape().back(), k = op.getValues().getType().getShape().back();
  std::vector<int64_t> places, indices;
  withNumber(operand.type.getElementType(), [&](auto zero) {
    Values<decltype(zero)> values(operand);
    for (int64_t row = 0; row < operand.size(); row += n) {
      std::vector<int64_t> order(n);
      std::iota(order.begin(), order.end(), 0);
      sortStably(order, [&](int64_t i, int64_t j) {
        auto x = values[row + i], y = values[row + j];
        return x > y || (x != x && y == y);
      });
      for (int64_t i = 0; i < k; ++i) {
        indices.push_back(order[i]);
        places.push_back(row + order[i]);
      }
    }
  });
  Results results = single(gatherElements(resultType(op, 0), operand, places));
  if (resultType(op, 1).getElementType().isInteger(64))
    results.push_back(round(resultType(op, 1), indices));
  else
    results.push_back(
        round(resultType(op, 1), std::vector<int32_t>(indices.begin(), indices.end())));
  return results;
}

Results evaluateArgmax(ArgmaxOp op, Operands operands) {
  const Tensor &operand = *operands[0];
  int64_t dim = op.getDim();
  std::vector<int64_t> along = Dims(operand.type, dim).positions(), best;
  withNumber(operand.type.getElementType(), [&](auto zero) {
    Values<decltype(zero)> values(operand);
    for (int64_t start : Dims(operand.type, dimsExcept(operand.type.getRank(), dim)).positions()) {
      int64_t first = 0;
      for (int64_t j = 1; j < static_cast<int64_t>(along.size()); ++j) {
        auto leader = values[start + along[first]], x = values[start + along[j]];
        bool leaderIsNumber = leader == leader;
        if (leaderIsNumber && (x > leader || x != x))
          first = j;
      }
      best.push_back(first);
    }
  });
  if (op.getType().getElementType().isInteger(64))
    return single(round(op.getType(), best));
  return single(round(op.getType(), std::vector<int32_t>(best.begin(), best.end())));
}

//===-- dot_general ---------------------------------------------------------------------------===//

/// A matrix of rows, gathered from one batch of an operand.
template <typename T>
std::vector<T> gatherMatrix(const Values<T> &values, int64_t start, ArrayRef<int64_t> rows,
                            ArrayRef<int64_t> columns) {
  std::vector<T> matrix;
  matrix.reserve(rows.size() * columns.size());
  for (int64_t row : rows)
    for (int64_t column : columns)
      matrix.push_back(values[start + row + column]);
  return matrix;
}

/// Appends a row of sums that start from those of the row before, in one chain.
template <typename T>
void continueRow(int64_t size, int64_t n, const T *left, const T *right, const Tensor &sums,
                 std::vector<T> &results) {
  Values<T> before(sums);
  size_t first = results.size();
  for (int64_t j = 0; j < n; ++j)
    results.push_back(before[static_cast<int64_t>(results.size())]);
  for (int64_t k = 0; k < size; ++k)
    addRow(left[k], right + k * n, results.data() + first, n);
}

/// Appends a row of sums of lanes, which meet in the tree of neighbours. The lane of term k is
/// `lanes[k]`.
template <typename T>
void contractLanes(ArrayRef<int64_t> lanes, int64_t count, int64_t n, const T *left, const T *right,
                   std::vector<T> &results) {
  std::vector<std::vector<T>> sums(count);
  for (int64_t lane = 0; lane < count; ++lane) {
    std::vector<T> ownLeft, ownRight;
    for (auto [k, own] : llvm::enumerate(lanes))
      if (own == lane) {
        ownLeft.push_back(left[k]);
        ownRight.insert(ownRight.end(), right + k * n, right + (k + 1) * n);
      }
    contractRow(static_cast<int64_t>(ownLeft.size()), n, ownLeft.data(), ownRight.data(),
                sums[lane]);
  }
  for (; count > 1; count /= 2)
    for (int64_t lane = 0; lane < count / 2; ++lane)
      for (int64_t j = 0; j < n; ++j)
        sums[lane][j] = sums[2 * lane][j] + sums[2 * lane + 1][j];
  llvm::append_range(results, sums[0]);
}

/// Returns the lane of each term, row-major over the contracted dimensions.
std::vector<int64_t> findLanes(DotLanesOp op) {
  std::vector<int64_t> lanes;
  int64_t inner = 1, size = op.getLhs().getType().getDimSize(op.getLhsCut());
  for (int64_t dim : op.getLhsContracting().drop_front(op.getAlong() + 1))
    inner *= op.getLhs().getType().getDimSize(dim);
  for (int64_t k = 0, terms = op.getContractedSize(); k < terms; ++k)
    lanes.push_back(k / inner % size / (size / static_cast<int64_t>(op.getLanes())));
  return lanes;
}

template <typename T, typename OpT> Tensor evaluateDotAs(OpT op, Operands operands) {
  RankedTensorType leftType = operands[0]->type, rightType = operands[1]->type;
  Values<T> left(*operands[0]), right(*operands[1]);
  std::vector<int64_t> leftBatch = Dims(leftType, op.getLhsBatch()).positions();
  std::vector<int64_t> rightBatch = Dims(rightType, op.getRhsBatch()).positions();
  std::vector<int64_t> rows = Dims(leftType, op.getLhsFree()).positions();
  std::vector<int64_t> columns = Dims(rightType, op.getRhsFree()).positions();
  std::vector<int64_t> leftTerms = Dims(leftType, op.getLhsContracting()).positions();
  std::vector<int64_t> rightTerms = Dims(rightType, op.getRhsContracting()).positions();
  int64_t size = static_cast<int64_t>(leftTerms.size()), n = static_cast<int64_t>(columns.size());
  std::vector<int64_t> lanes;
  if constexpr (std::is_same_v<OpT, DotLanesOp>)
    lanes = findLanes(op);
  std::vector<T> results;
  for (size_t batch = 0; batch < leftBatch.size(); ++batch) {
    std::vector<T> a = gatherMatrix(left, leftBatch[batch], rows, leftTerms);
    std::vector<T> b = gatherMatrix(right, rightBatch[batch], rightTerms, columns);
    for (size_t row = 0; row < rows.size(); ++row)
      if constexpr (std::is_same_v<OpT, DotAccumulateOp>)
        continueRow(size, n, a.data() + row * size, b.data(), *operands[2], results);
      else if constexpr (std::is_same_v<OpT, DotLanesOp>)
        contractLanes(lanes, op.getLanes(), n, a.data() + row * size, b.data(), results);
      else
        contractRow(size, n, a.data() + row * size, b.data(), results);
  }
  return round(op.getType(), results);
}

template <typename OpT> Tensor contract(OpT op, Operands operands) {
  return withFloat(operands[0]->type.getElementType(),
                   [&](auto zero) { return evaluateDotAs<decltype(zero)>(op, operands); });
}

Results evaluateDot(DotGeneralOp op, Operands operands) { return single(contract(op, operands)); }

Results evaluateDotLanes(DotLanesOp op, Operands operands) {
  return single(contract(op, operands));
}

Results evaluateDotAccumulate(DotAccumulateOp op, Operands operands) {
  return single(contract(op, operands));
}

Results evaluateDotBias(DotBiasOp op, Operands operands) {
  Tensor dot = contract(op, operands);
  return single(withFloat(op.getType().getElementType(), [&](auto zero) {
    Values<decltype(zero)> sums(dot), bias(*operands[2]);
    std::vector<decltype(zero)> results;
    for (int64_t i = 0; i < dot.size(); ++i)
      results.push_back(sums[i] + bias[i % operands[2]->size()]);
    return round(op.getType(), results);
  }));
}

} // namespace

REPRISE_EVALUATE(SumOp, evaluateReduction<SumOp, Sum>)
REPRISE_EVALUATE(ProdOp, evaluateReduction<ProdOp, Product>)
REPRISE_EVALUATE(MaxOp, evaluateReduction<MaxOp, Max>)
REPRISE_EVALUATE(MinOp, evaluateReduction<MinOp, Min>)
REPRISE_EVALUATE(MeanOp, evaluateMean)
REPRISE_EVALUATE(LogSumExpOp, evaluateLogSumExp)
REPRISE_EVALUATE(CumsumOp, evaluateCumsum)
REPRISE_EVALUATE(TopKOp, evaluateTopK)
REPRISE_EVALUATE(ArgmaxOp, evaluateArgmax)
REPRISE_EVALUATE(DotGeneralOp, evaluateDot)
REPRISE_EVALUATE(DotAccumulateOp, evaluateDotAccumulate)
REPRISE_EVALUATE(DotLanesOp, evaluateDotLanes)
REPRISE_EVALUATE(DotBiasOp, evaluateDotBias)

} // namespace reprise::reference
