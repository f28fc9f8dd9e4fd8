// reprise: attention and its backward in the interpreter, score by score.
#include "Draws.h"
#include "reprise/Reference/Elementary.h"
#include "reprise/Reference/Order.h"
#include <limits>
#include <optional>

using namespace mlir;

namespace reprise::reference {
namespace {

/// Element [b, h, i, j] of scores.
struct Position {
  int64_t batch, head, query, key;
};

/// Sizes, keys that are terms, and the additional operands of a score.
template <typename T> struct Problem {
  int64_t batches, heads, keyHeads, queries, keys;
  int64_t depth, valueDepth; // columns of queries and keys; of values and results
  bool causal;
  T scale;
  double rate;
  std::optional<Draw> draw;
  std::vector<int64_t> indices; // index of each score's word, if there is a draw
  const Tensor *bias, *mask;    // null if there is none

  template <typename OpT> Problem(OpT op, Operands operands) {
    ArrayRef<int64_t> query = operands[0]->type.getShape(), key = operands[1]->type.getShape();
    batches = query[0], heads = query[1], queries = query[2], depth = query[3];
    keyHeads = key[1], keys = key[2], valueDepth = operands[2]->type.getShape()[3];
    causal = op.getCausal();
    scale = static_cast<T>(op.getScale());
    rate = op.getRate();
    auto find = [&](Value value) -> const Tensor * {
      if (!value)
        return nullptr;
      return operands[std::distance(op->operand_begin(), llvm::find(op->getOperands(), value))];
    };
    bias = find(op.getBias()), mask = find(op.getMask());
    if (op.draws()) {
      auto random = cast<RandomOpInterface>(op.getOperation());
      draw = drawOf(random, operands);
      indices = globalIndices(random, operands);
    }
  }

  /// The element of a tensor [b or 1, h or 1, t or 1, s].
  static int64_t indexIn(const Tensor &tensor, const Position &at) {
    ArrayRef<int64_t> shape = tensor.type.getShape();
    auto along = [&](int64_t d, int64_t i) { return shape[d] == 1 ? 0 : i; };
    return ((along(0, at.batch) * shape[1] + along(1, at.head)) * shape[2] + along(2, at.query)) *
               shape[3] +
           at.key;
  }

  bool isTerm(const Position &at) const {
    return !(causal && at.key > at.query + (keys - queries)) &&
           !(mask && !mask->data<uint8_t>()[indexIn(*mask, at)]);
  }

  int64_t headOf(const Position &at) const { return at.batch * heads + at.head; }
  int64_t keyHeadOf(const Position &at) const {
    return at.batch * keyHeads + at.head / (heads / keyHeads);
  }
  /// Return the row of a query, and the row of a key.
  int64_t queryRow(const Position &at) const { return headOf(at) * queries + at.query; }
  int64_t keyRow(const Position &at) const { return keyHeadOf(at) * keys + at.key; }

  T score(const Position &at, const T *query, const T *key) const {
    T product = dot(depth, query + queryRow(at) * depth, key + keyRow(at) * depth) * scale;
    return bias ? product + bias->data<T>()[indexIn(*bias, at)] : product;
  }
  T dropped(T x, const Position &at) const {
    return draw ? dropout(*draw, indices[queryRow(at) * keys + at.key], x, rate) : x;
  }
  /// Σ_d x[d]·y[d] in the contraction's order.
  static T dot(int64_t columns, const T *x, const T *y) {
    return contract<T>(columns, [&](int64_t d) { return x[d]; }, [&](int64_t d) { return y[d]; });
  }

  /// Calls `fn` for all queries, with key 0.
  template <typename Fn> void forEachQuery(Fn fn) const {
    for (int64_t batch = 0; batch < batches; ++batch)
      for (int64_t head = 0; head < heads; ++head)
        for (int64_t i = 0; i < queries; ++i)
          fn(Position{batch, head, i, 0});
  }
};

/// Computes one row of the result; returns its lse.
template <typename T>
T attendRow(const Problem<T> &p, Position at, const T *query, const T *key, const T *value,
            std::vector<T> &out) {
  std::vector<T> terms(p.keys);
  std::vector<bool> isTerm(p.keys);
  T largest = -std::numeric_limits<T>::infinity();
  for (at.key = 0; at.key < p.keys; ++at.key)
    if ((isTerm[at.key] = p.isTerm(at))) {
      terms[at.key] = p.score(at, query, key);
      largest = maximum(largest, terms[at.key]);
    }
  // The +0 of a masked key changes no sum, since the terms are not negative.
  for (int64_t j = 0; j < p.keys; ++j)
    terms[j] = isTerm[j] ? exp(terms[j] - largest) : T(0);
  T sum = sumInLanes<T>(p.keys, [&](int64_t j) { return terms[j]; });
  for (at.key = 0; at.key < p.keys; ++at.key)
    terms[at.key] = p.dropped(terms[at.key], at);
  at.key = 0;
  const T *values = value + p.keyRow(at) * p.valueDepth;
  bool seesAny = llvm::is_contained(isTerm, true);
  for (int64_t d = 0; d < p.valueDepth; ++d) {
    T chain = contract<T>(
        p.keys, [&](int64_t j) { return isTerm[j]; }, [&](int64_t j) { return terms[j]; },
        [&](int64_t j) { return values[j * p.valueDepth + d]; });
    out.push_back(seesAny ? chain / sum : T(0));
  }
  return largest + log(sum);
}

template <typename T> Results attend(AttentionOp op, Operands operands) {
  Problem<T> p(op, operands);
  Values<T> query(*operands[0]), key(*operands[1]), value(*operands[2]);
  std::vector<T> out, lse;
  p.forEachQuery([&](const Position &at) {
    lse.push_back(attendRow(p, at, &query[0], &key[0], &value[0], out));
  });
  return roundResults(op, out, lse);
}

Results evaluateAttention(AttentionOp op, Operands operands) {
  return withFloat(operands[0]->type.getElementType(),
                   [&](auto zero) { return attend<decltype(zero)>(op, operands); });
}

//===-- Backward ------------------------------------------------------------------------------===//

/// Factors that the three gradients contract, for all scores; `isTerm` tells where they are set.
template <typename T> struct ScoreGradients {
  std::vector<bool> isTerm;
  std::vector<T> dropped; // dropout(p)
  std::vector<T> ds;
};

template <typename T>
ScoreGradients<T> scoreGradients(const Problem<T> &p, Operands operands, const T *dlse) {
  Values<T> query(*operands[0]), key(*operands[1]), value(*operands[2]), out(*operands[3]),
      lse(*operands[4]), dout(*operands[5]);
  ScoreGradients<T> result;
  p.forEachQuery([&](Position at) {
    int64_t row = p.queryRow(at);
    const T *outRow = &out[row * p.valueDepth], *doutRow = &dout[row * p.valueDepth];
    T delta = sumInLanes<T>(p.valueDepth, [&](int64_t d) { return doutRow[d] * outRow[d]; });
    if (dlse)
      delta -= dlse[row];
    for (at.key = 0; at.key < p.keys; ++at.key) {
      bool isTerm = p.isTerm(at);
      T probability = isTerm ? exp(p.score(at, &query[0], &key[0]) - lse[row]) : T(0);
      const T *values = &value[p.keyRow(at) * p.valueDepth];
      T dp = isTerm ? p.dropped(p.dot(p.valueDepth, doutRow, values), at) : T(0);
      result.isTerm.push_back(isTerm);
      result.dropped.push_back(p.dropped(probability, at));
      result.ds.push_back(isTerm ? probability * (dp - delta) : T(0));
    }
  });
  return result;
}

/// Σ_j ds[i, j]·key[j] of each query.
template <typename T>
std::vector<T> contractOverKeys(const Problem<T> &p, const ScoreGradients<T> &gradients,
                                const Values<T> &key) {
  std::vector<T> sums;
  p.forEachQuery([&](const Position &at) {
    int64_t scores = p.queryRow(at) * p.keys;
    for (int64_t d = 0; d < p.depth; ++d)
      sums.push_back(contract<T>(
                         p.keys, [&](int64_t j) { return gradients.isTerm[scores + j]; },
                         [&](int64_t j) { return gradients.ds[scores + j]; },
                         [&](int64_t j) { return key[(p.keyRow(at) + j) * p.depth + d]; }) *
                     p.scale);
  });
  return sums;
}

/// Returns Σ weights[i, j]·rows[i] of each key, over the queries i of all heads that read it. Rows
/// have `columns` columns.
template <typename T>
std::vector<T> contractOverQueries(const Problem<T> &p, const ScoreGradients<T> &gradients,
                                   const std::vector<T> &weights, const Values<T> &rows,
                                   int64_t columns, T scale) {
  std::vector<T> sums;
  // The query heads of a key head are neighbours: their rows are one range.
  int64_t count = p.heads / std::max<int64_t>(1, p.keyHeads) * p.queries;
  for (int64_t keyHead = 0; keyHead < p.batches * p.keyHeads; ++keyHead)
    for (int64_t j = 0; j < p.keys; ++j) {
      auto scoreAt = [&](int64_t i) { return (keyHead * count + i) * p.keys + j; };
      for (int64_t d = 0; d < columns; ++d)
        sums.push_back(contract<T>(
                           count, [&](int64_t i) { return gradients.isTerm[scoreAt(i)]; },
                           [&](int64_t i) { return weights[scoreAt(i)]; },
                           [&](int64_t i) { return rows[(keyHead * count + i) * columns + d]; }) *
                       scale);
    }
  return sums;
}

template <typename T> Results attendBackward(AttentionBackwardOp op, Operands operands) {
  Problem<T> p(op, operands);
  Values<T> query(*operands[0]), key(*operands[1]), dout(*operands[5]);
  const T *dlse = op.getDlse() ? operands[6]->data<T>() : nullptr;
  ScoreGradients<T> gradients = scoreGradients(p, operands, dlse);
  Results results;
  results.push_back(round(resultType(op, 0), contractOverKeys(p, gradients, key)));
  results.push_back(round(
      resultType(op, 1), contractOverQueries(p, gradients, gradients.ds, query, p.depth, p.scale)));
  results.push_back(round(resultType(op, 2), contractOverQueries(p, gradients, gradients.dropped,
                                                                 dout, p.valueDepth, T(1))));
  if (op.getDscore())
    results.push_back(round(resultType(op, 3), gradients.ds));
  return results;
}

Results evaluateAttentionBackward(AttentionBackwardOp op, Operands operands) {
  return withFloat(operands[0]->type.getElementType(),
                   [&](auto zero) { return attendBackward<decltype(zero)>(op, operands); });
}

} // namespace

REPRISE_EVALUATE(AttentionOp, evaluateAttention)
REPRISE_EVALUATE(AttentionBackwardOp, evaluateAttentionBackward)

} // namespace reprise::reference
