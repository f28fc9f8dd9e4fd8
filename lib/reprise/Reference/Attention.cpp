// reprise: attention and its backward in the interpreter, head by head.
#include "Draws.h"
#include "reprise/Reference/Elementary.h"
#include "reprise/Reference/Order.h"
#include <limits>
#include <optional>

using namespace mlir;

namespace reprise::reference {
namespace {

/// The sizes of one head and what all of its rows share.
template <typename T> struct Problem {
  int64_t heads, queries, keys, depth;
  bool causal;
  T scale;
  double rate;
  std::optional<Draw> draw;
  std::vector<int64_t> indices; // of each score's word, if there is a draw

  template <typename OpT> Problem(OpT op, Operands operands) {
    ArrayRef<int64_t> query = operands[0]->type.getShape();
    heads = query[0] * query[1];
    queries = query[2];
    keys = operands[1]->type.getDimSize(2);
    depth = query[3];
    causal = op.getCausal();
    scale = static_cast<T>(op.getScale());
    rate = op.getRate();
    if (op.draws()) {
      auto random = cast<RandomOpInterface>(op.getOperation());
      draw = drawOf(random, operands);
      indices = globalIndices(random, operands);
    }
  }

  /// Query i sees the keys below this one.
  int64_t visibleKeys(int64_t i) const { return causal ? i + (keys - queries) + 1 : keys; }
  /// The first query that sees key j.
  int64_t firstQuery(int64_t j) const {
    return causal ? std::max<int64_t>(0, j - (keys - queries)) : 0;
  }

  T dropped(T x, int64_t head, int64_t i, int64_t j) const {
    return draw ? dropout(*draw, indices[(head * queries + i) * keys + j], x, rate) : x;
  }
};

/// Σ_d x[d]·y[d] in the contraction's order.
template <typename T> T dot(const T *x, const T *y, int64_t depth) {
  return contract<T>(depth, [&](int64_t d) { return x[d]; }, [&](int64_t d) { return y[d]; });
}

/// The scores of one query and the keys that it sees.
template <typename T>
std::vector<T> scoresOf(const Problem<T> &problem, int64_t i, const T *query, const T *keys) {
  std::vector<T> scores;
  for (int64_t j = 0; j < problem.visibleKeys(i); ++j)
    scores.push_back(dot(query, keys + j * problem.depth, problem.depth) * problem.scale);
  return scores;
}

/// One row of the result; returns its lse.
template <typename T>
T attendRow(const Problem<T> &p, int64_t head, int64_t i, const T *query, const T *keys,
            const T *values, std::vector<T> &out) {
  std::vector<T> terms = scoresOf(p, i, query, keys);
  int64_t visible = static_cast<int64_t>(terms.size());
  T largest = -std::numeric_limits<T>::infinity();
  for (T score : terms)
    largest = maximum(largest, score);
  for (T &term : terms)
    term = exp(term - largest);
  // Masked keys stand at the end of the row: without them the lanes and blocks of the others are
  // the same, and theirs would be +0, which changes no sum of terms that are not negative.
  T sum = sumInLanes<T>(visible, [&](int64_t j) { return terms[j]; });
  for (int64_t j = 0; j < visible; ++j)
    terms[j] = p.dropped(terms[j], head, i, j);
  for (int64_t d = 0; d < p.depth; ++d) {
    T chain = contract<T>(
        p.keys, 0, visible, [&](int64_t j) { return terms[j]; },
        [&](int64_t j) { return values[j * p.depth + d]; });
    out.push_back(chain / sum);
  }
  return largest + log(sum);
}

template <typename T> Results attend(AttentionOp op, Operands operands) {
  Problem<T> p(op, operands);
  Values<T> query(*operands[0]), key(*operands[1]), value(*operands[2]);
  std::vector<T> out, lse;
  for (int64_t head = 0; head < p.heads; ++head)
    for (int64_t i = 0; i < p.queries; ++i)
      lse.push_back(attendRow(p, head, i, &query[(head * p.queries + i) * p.depth],
                              &key[head * p.keys * p.depth], &value[head * p.keys * p.depth], out));
  Results results;
  results.push_back(round(resultType(op, 0), out));
  results.push_back(round(resultType(op, 1), lse));
  return results;
}

Results evaluateAttention(AttentionOp op, Operands operands) {
  return withFloat(operands[0]->type.getElementType(),
                   [&](auto zero) { return attend<decltype(zero)>(op, operands); });
}

//===-- Backward ------------------------------------------------------------------------------===//

/// The operands of one head.
template <typename T> struct Head {
  int64_t number;
  const T *query, *key, *value, *out, *lse, *dout, *dlse; // dlse may be null
};

/// What the three gradients of a head contract: [queries, keys], only the visible part is set.
template <typename T> struct ScoreGradients {
  std::vector<T> dropped; // dropout(p)
  std::vector<T> ds;
};

template <typename T> T deltaOf(const Problem<T> &p, const Head<T> &head, int64_t i) {
  const T *out = head.out + i * p.depth, *dout = head.dout + i * p.depth;
  T delta = sumInLanes<T>(p.depth, [&](int64_t d) { return dout[d] * out[d]; });
  return head.dlse ? delta - head.dlse[i] : delta;
}

template <typename T> ScoreGradients<T> scoreGradients(const Problem<T> &p, const Head<T> &head) {
  ScoreGradients<T> result{std::vector<T>(p.queries * p.keys), std::vector<T>(p.queries * p.keys)};
  for (int64_t i = 0; i < p.queries; ++i) {
    std::vector<T> scores = scoresOf(p, i, head.query + i * p.depth, head.key);
    T delta = deltaOf(p, head, i);
    for (int64_t j = 0; j < static_cast<int64_t>(scores.size()); ++j) {
      T probability = exp(scores[j] - head.lse[i]);
      T dp = p.dropped(dot(head.dout + i * p.depth, head.value + j * p.depth, p.depth), head.number,
                       i, j);
      result.dropped[i * p.keys + j] = p.dropped(probability, head.number, i, j);
      result.ds[i * p.keys + j] = probability * (dp - delta);
    }
  }
  return result;
}

/// Σ_j weights[i, j]·rows[j] over the keys that each query sees.
template <typename T>
void contractOverKeys(const Problem<T> &p, const std::vector<T> &weights, const T *rows, T scale,
                      std::vector<T> &to) {
  for (int64_t i = 0; i < p.queries; ++i)
    for (int64_t d = 0; d < p.depth; ++d)
      to.push_back(contract<T>(
                       p.keys, 0, p.visibleKeys(i),
                       [&](int64_t j) { return weights[i * p.keys + j]; },
                       [&](int64_t j) { return rows[j * p.depth + d]; }) *
                   scale);
}

/// Σ_i weights[i, j]·rows[i] over the queries that see each key.
template <typename T>
void contractOverQueries(const Problem<T> &p, const std::vector<T> &weights, const T *rows, T scale,
                         std::vector<T> &to) {
  for (int64_t j = 0; j < p.keys; ++j)
    for (int64_t d = 0; d < p.depth; ++d)
      to.push_back(contract<T>(
                       p.queries, p.firstQuery(j), p.queries,
                       [&](int64_t i) { return weights[i * p.keys + j]; },
                       [&](int64_t i) { return rows[i * p.depth + d]; }) *
                   scale);
}

template <typename T> Results attendBackward(AttentionBackwardOp op, Operands operands) {
  Problem<T> p(op, operands);
  Values<T> query(*operands[0]), key(*operands[1]), value(*operands[2]), out(*operands[3]),
      lse(*operands[4]), dout(*operands[5]);
  std::optional<Values<T>> dlse;
  if (op.getDlse())
    dlse.emplace(*operands[6]);
  std::vector<T> dquery, dkey, dvalue;
  for (int64_t number = 0; number < p.heads; ++number) {
    int64_t row = number * p.queries, atQuery = row * p.depth, atKey = number * p.keys * p.depth;
    Head<T> head{number,        &query[atQuery], &key[atKey],    &value[atKey],
                 &out[atQuery], &lse[row],       &dout[atQuery], dlse ? &(*dlse)[row] : nullptr};
    ScoreGradients<T> gradients = scoreGradients(p, head);
    contractOverKeys(p, gradients.ds, head.key, p.scale, dquery);
    contractOverQueries(p, gradients.ds, head.query, p.scale, dkey);
    contractOverQueries(p, gradients.dropped, head.dout, T(1), dvalue);
  }
  Results results;
  results.push_back(round(resultType(op, 0), dquery));
  results.push_back(round(resultType(op, 1), dkey));
  results.push_back(round(resultType(op, 2), dvalue));
  return results;
}

Results evaluateAttentionBackward(AttentionBackwardOp op, Operands operands) {
  return withFloat(operands[0]->type.getElementType(),
                   [&](auto zero) { return attendBackward<decltype(zero)>(op, operands); });
}

} // namespace

void attachAttention(MLIRContext *context) {
  attach<evaluateAttention>(context);
  attach<evaluateAttentionBackward>(context);
}

} // namespace reprise::reference
