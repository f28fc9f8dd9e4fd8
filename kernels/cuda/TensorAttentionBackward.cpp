// reprise: the backward of attention on the tensor cores of a GPU: kernels for the gradients of
// queries, and for those of keys and values
#include "TensorAttention.h"

namespace reprise::cuda {
namespace {

/// Threads of a block. Their registers leave room for 12 warps on a multiprocessor, in three
/// blocks, but not for 16.
constexpr int threads = 128;
/// Number of opposite queries or keys per step.
constexpr int together = 16;

/// Values of a query: log2(e)·lse, and delta.
struct Query {
  float base, delta;
};

inline const GLOBAL Query *queriesOf(const Launch &launch, const Head &head, Index query) {
  return launch.buffer<Query>(shape.delta) + (head.number * shape.queries + query);
}
inline Query readQuery(const Launch &launch, const Head &head, Index query) {
  using Pair = float __attribute__((ext_vector_type(2)));
  Pair found = *(const GLOBAL Pair *)queriesOf(launch, head, query);
  return {found[0], found[1]};
}

struct Gradients {
  float dropped, score; // dropout(p), ds
};
/// Returns the gradients of one score, from the product of dout and value; `word` is its word if
/// the launch draws.
inline Gradients gradientsOf(const Query &query, float score, float dp, unsigned word) {
  float p = attention_power(score, query.base), kept = p;
  if (shape.draws) {
    kept = attention_dropout(word, p);
    dp = attention_dropout(word, dp);
  }
  return {kept, p * (dp - query.delta)};
}

/// Kernel of the gradients of queries and scores; a warp has queries.
template <typename Element>
class QueryGradients : TensorAttention<Element, Rows::Queries, threads, together> {
  using Base = TensorAttention<Element, Rows::Queries, threads, together>;
  using typename Base::Part;

public:
  explicit QueryGradients(const Launch &launch) : Base(launch) {}

  void run() {
    head = headOf(this->headNumber, shape.heads);
    Head keyHead = keyHeadOf(head);
    this->readOwn(shape.own[0], head, rows);
    this->readOwn(shape.own[1], head, douts);
#pragma unroll
    for (int half = 0; half < 2; ++half)
      queries[half] = readQuery(this->launch, head, this->own[half]);
    // If scores are stored, all are; scores that are no terms are +0.
    Index limit = shape.results[3] >= 0 ? shape.keys : visibleTo(this->lastRow());
    this->overTiles(
        div(limit + attentionRows - 1, attentionRows),
        [&](Index number) { return Part{keyHead, number * attentionRows, 0}; },
        [&](const Part &keys, Index stage) { addKeys(keys, stage); });
    if (shape.results[0] >= 0)
      this->storeOwn(shape.results[0], shape.own[0].shape.terms, sums,
                     [](float sum, int) { return attention_scaled(sum); });
  }

private:
  void addKeys(const Part &keys, Index stage) {
    typename Base::Scores scores, dps;
    this->product(rows, shape.tiles[0], this->first, keys, stage, scores);
    this->toScores(keys, scores);
    this->product(douts, shape.tiles[1], this->second, keys, stage, dps);
    Base::forGroups([&](int group) {
      unsigned words[4] = {};
      if (shape.draws)
        this->draw(keys, group * 4, words);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float &score = scores[group].of[i];
        score = gradientsOf(queries[halfOf(i)], score, dps[group].of[i], words[i]).score;
      }
    });
    if (shape.results[3] >= 0)
      storeScores(keys, scores);
    this->addProduct(scores, shape.tiles[0], this->first, keys, stage, sums);
  }

  void storeScores(const Part &keys, const typename Base::Scores &scores) const {
    GLOBAL float *to = this->launch.template buffer<float>(shape.results[3]);
    this->forOwn([&](int half) {
      Base::forScores([&](int i) {
        if (halfOf(i) != half)
          return;
        Index key = Base::otherOf(keys, i);
        Index at = (head.number * shape.queries + this->own[half]) * shape.keys + key;
        float ds = scores[i / 4].of[i % 4];
        float stored = !Base::mayHide() || this->isTerm(keys, i) ? ds : 0;
        if (less(key, shape.keys))
          to[at] = stored;
      });
    });
  }

  Head head;
  Query queries[2];
  typename Base::OwnRows rows, douts;
  typename Base::ColumnSums sums = {};
};

/// Kernel of the gradients of keys, of values, or of both; a warp has keys.
template <typename Element>
class KeyGradients : TensorAttention<Element, Rows::Keys, threads, together> {
  using Base = TensorAttention<Element, Rows::Keys, threads, together>;
  using typename Base::Part;

public:
  explicit KeyGradients(const Launch &launch) : Base(launch) {}

  void run() {
    Head keyHead = headOf(this->headNumber, shape.keyHeads);
    this->readOwn(shape.own[0], keyHead, keys);
    if (ofKeys())
      this->readOwn(shape.own[1], keyHead, values);
    Index tiles = (shape.queries + attentionRows - 1) / attentionRows, begin = 0;
    if (shape.isCausal) { // queries that see none of the block's keys
      Index hidden = this->blockRow - (shape.keys - shape.queries);
      begin = div(hidden > 0 ? hidden : 0, attentionRows);
    }
    Index perHead = tiles - begin;
    this->overTiles(
        perHead * shape.group(),
        [&](Index number) {
          // 32 bits serve, and are divided in less time.
          Index head = shape.group() == 1 ? 0 : unsigned(number) / unsigned(perHead);
          return Part{queryHeadOf(keyHead, head), (begin + number - head * perHead) * attentionRows,
                      0};
        },
        [&](const Part &queries, Index stage) { addQueries(queries, stage); });
    if (ofKeys())
      this->storeOwn(shape.results[1], shape.own[0].shape.terms, keySums,
                     [](float sum, int) { return attention_scaled(sum); });
    if (ofValues())
      this->storeOwn(shape.results[2], shape.tiles[1].shape.terms, valueSums,
                     [](float sum, int) { return sum; });
  }

private:
  static bool ofKeys() { return shape.results[1] >= 0; }
  static bool ofValues() { return shape.results[2] >= 0; }

  /// Reads two neighbouring others of the lane.
  void readPair(const Part &part, int score, Query (&found)[2]) const {
    if (shape.queries % 2 == 0) {
      using Four = float __attribute__((ext_vector_type(4)));
      Index query = least(Base::otherOf(part, score), shape.queries - 2);
      Four both = *(const GLOBAL Four *)queriesOf(this->launch, part.head, query);
      found[0] = {both[0], both[1]}, found[1] = {both[2], both[3]};
      return;
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
      found[i] = readQuery(this->launch, part.head, Base::inside(Base::otherOf(part, score + i)));
  }

  void addQueries(const Part &part, Index stage) {
    typename Base::Scores scores, dps = {}, dropped;
    this->product(keys, shape.tiles[0], this->first, part, stage, scores);
    this->toScores(part, scores);
    if (ofKeys())
      this->product(values, shape.tiles[1], this->second, part, stage, dps);
    Base::forGroups([&](int group) {
      unsigned words[4] = {};
      if (shape.draws)
        this->draw(part, group * 4, words);
      Query queries[2];
      readPair(part, group * 4, queries);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float &score = scores[group].of[i];
        Gradients found = gradientsOf(queries[i % 2], score, dps[group].of[i], words[i]);
        score = found.score;
        dropped[group].of[i] = found.dropped;
      }
    });
    if (ofKeys())
      this->addProduct(scores, shape.tiles[0], this->first, part, stage, keySums);
    if (ofValues())
      this->addProduct(dropped, shape.tiles[1], this->second, part, stage, valueSums);
  }

  typename Base::OwnRows keys, values;
  typename Base::ColumnSums keySums = {}, valueSums = {};
};

} // namespace

extern "C" void attention_queries_bf16(const Launch &launch) { QueryGradients<Bf16>(launch).run(); }
extern "C" void attention_queries_f16(const Launch &launch) { QueryGradients<F16>(launch).run(); }
extern "C" void attention_keys_bf16(const Launch &launch) { KeyGradients<Bf16>(launch).run(); }
extern "C" void attention_keys_f16(const Launch &launch) { KeyGradients<F16>(launch).run(); }

} // namespace reprise::cuda
