// reprise: reductions and contractions in the interpreter.
#include "Models.h"
#include "reprise/Reference/Elementary.h"
#include "reprise/Reference/Order.h"
#include <limits>

using namespace mlir;

namespace reprise::reference {
namespace {

//===-- Reductions ----------------------------------------------------------------------------===//

struct Sum {
  template <typename T> static T identity() { return T(0); }
  template <typename T> T operator()(T x, T y) const { return wrappingAdd(x, y); }
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

template <typename T, typename Kind>
std::vector<T> reduce(const Tensor &operand, ArrayRef<int64_t> dims) {
  int64_t rank = operand.type.getRank();
  Values<T> values(operand);
  std::vector<int64_t> reduced = Dims(operand.type, dims).positions();
  bool lanes = dims.back() == rank - 1;
  int64_t n = static_cast<int64_t>(reduced.size());
  std::vector<T> results;
  for (int64_t start : Dims(operand.type, dimsExcept(rank, dims)).positions()) {
    auto element = [&](int64_t j) { return values[start + reduced[j]]; };
    T identity = Kind::template identity<T>();
    results.push_back(lanes ? reduceInLanes(n, identity, Kind(), element)
                            : reduceInOrder(n, identity, Kind(), element));
  }
  return results;
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

/// sums[j] = fma(x, row[j], sums[j]).
template <typename T> void addRow(T x, const T *row, T *__restrict sums, int64_t n) {
  for (int64_t j = 0; j < n; ++j)
    sums[j] = std::fma(x, row[j], sums[j]);
}

#ifdef __x86_64__
/// The same where the compiler may use the instruction: elsewhere each fma is a call.
template <typename T>
__attribute__((target("avx2,fma"))) void addRowInline(T x, const T *row, T *__restrict sums,
                                                      int64_t n) {
  for (int64_t j = 0; j < n; ++j)
    sums[j] = std::fma(x, row[j], sums[j]);
}
#endif

template <typename T> auto chooseAddRow() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return addRowInline<T>;
#endif
  return addRow<T>;
}

/// results[j] = Σ_k left[k] · right[k][j]: `contract` for n results side by side.
template <typename T>
void contractRow(int64_t size, int64_t n, const T *left, const T *right, std::vector<T> &results) {
  static const auto add = chooseAddRow<T>();
  std::vector<std::vector<T>> parts;
  for (int64_t begin = 0; begin < size; begin += chainBlock) {
    std::vector<T> &part = parts.emplace_back(n, T(0));
    for (int64_t k = begin; k < std::min(size, begin + chainBlock); ++k)
      add(left[k], right + k * n, part.data(), n);
  }
  for (int64_t j = 0; j < n; ++j) {
    std::vector<T> column;
    for (const std::vector<T> &part : parts)
      column.push_back(part[j]);
    results.push_back(foldTree(std::move(column), T(0), reference::add<T>));
  }
}

template <typename T> Tensor evaluateDotAs(DotGeneralOp op, Operands operands) {
  RankedTensorType leftType = operands[0]->type, rightType = operands[1]->type;
  Values<T> left(*operands[0]), right(*operands[1]);
  std::vector<int64_t> leftBatch = Dims(leftType, op.getLhsBatch()).positions();
  std::vector<int64_t> rightBatch = Dims(rightType, op.getRhsBatch()).positions();
  std::vector<int64_t> rows = Dims(leftType, op.getLhsFree()).positions();
  std::vector<int64_t> columns = Dims(rightType, op.getRhsFree()).positions();
  std::vector<int64_t> leftTerms = Dims(leftType, op.getLhsContracting()).positions();
  std::vector<int64_t> rightTerms = Dims(rightType, op.getRhsContracting()).positions();
  int64_t size = static_cast<int64_t>(leftTerms.size()), n = static_cast<int64_t>(columns.size());
  std::vector<T> results;
  for (size_t batch = 0; batch < leftBatch.size(); ++batch) {
    std::vector<T> a = gatherMatrix(left, leftBatch[batch], rows, leftTerms);
    std::vector<T> b = gatherMatrix(right, rightBatch[batch], rightTerms, columns);
    for (size_t row = 0; row < rows.size(); ++row)
      contractRow(size, n, a.data() + row * size, b.data(), results);
  }
  return round(op.getType(), results);
}

Results evaluateDot(DotGeneralOp op, Operands operands) {
  return single(withFloat(operands[0]->type.getElementType(),
                          [&](auto zero) { return evaluateDotAs<decltype(zero)>(op, operands); }));
}

} // namespace

void attachReductions(MLIRContext *context) {
  attach<evaluateReduction<SumOp, Sum>>(context);
  attach<evaluateReduction<MaxOp, Max>>(context);
  attach<evaluateReduction<MinOp, Min>>(context);
  attach<evaluateMean>(context);
  attach<evaluateArgmax>(context);
  attach<evaluateDot>(context);
}

} // namespace reprise::reference
