// reprise: attention on the tensor cores of a GPU: a rescaled softmax, whose order is fixed by the
// shape
#include "TensorAttention.h"

namespace reprise::cuda {
namespace {

template <typename Element>
class Forward : TensorAttention<Element, Rows::Queries, /*threads=*/256, /*together=*/32> {
  using Base = TensorAttention<Element, Rows::Queries, 256, 32>;
  using typename Base::Part;

public:
  explicit Forward(const Launch &launch) : Base(launch) {}

  void run() {
    Head head = headOf(this->headNumber, shape.heads), keyHead = keyHeadOf(head);
    this->readOwn(shape.own[0], head, queries);
    Index limit = visibleTo(this->lastRow());
    this->overTiles(
        div(limit + attentionRows - 1, attentionRows),
        [&](Index number) { return Part{keyHead, number * attentionRows, 0}; },
        [&](const Part &keys, Index stage) { addKeys(keys, stage); });
    store();
  }

private:
  /// Rescales the sums when the largest scores change to `next`. In most steps no lane of the warp
  /// has a new largest score.
  void rescale(const float (&next)[2], const float (&base)[2]) {
    if (!anyOfWarp((most[0] != next[0]) | (most[1] != next[1])))
      return;
    float factor[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      factor[half] = attention_power(most[half], base[half]);
      totals[half] = totals[half] * factor[half];
    }
#pragma unroll
    for (int i = 0; i < shape.tiles[1].paddedColumns() / 8; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j)
        sums[i].of[j] = sums[i].of[j] * factor[halfOf(j)];
  }

  void addKeys(const Part &keys, Index stage) {
    typename Base::Scores scores;
    this->product(queries, shape.tiles[0], this->first, keys, stage, scores);
    this->toScores(keys, scores);
    float next[2] = {minusInfinity(), minusInfinity()}, base[2];
    Base::forScores([&](int i) {
      float &row = next[halfOf(i)];
      row = __builtin_fmaxf(scores[i / 4].of[i % 4], row);
    });
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      next[half] = __builtin_fmaxf(next[half], exchange(next[half], 2));
      next[half] = __builtin_fmaxf(next[half], exchange(next[half], 1));
      next[half] = __builtin_fmaxf(next[half], most[half]);
      // There may be none yet.
      base[half] = next[half] == minusInfinity() ? 0 : attention_base(next[half]);
    }
    rescale(next, base);
    Base::forGroups([&](int group) {
      unsigned words[4];
      if (shape.draws)
        this->draw(keys, group * 4, words);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float &weight = scores[group].of[i];
        weight = attention_power(weight, base[halfOf(i)]);
        totals[halfOf(i)] = totals[halfOf(i)] + weight;
        if (shape.draws)
          weight = attention_dropout(words[i], weight);
      }
    });
    this->addProduct(scores, shape.tiles[1], this->second, keys, stage, sums);
#pragma unroll
    for (int half = 0; half < 2; ++half)
      most[half] = next[half];
  }

  void store() {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      totals[half] = totals[half] + exchange(totals[half], 2);
      totals[half] = totals[half] + exchange(totals[half], 1);
    }
    if (shape.results[0] >= 0)
      this->storeOwn(shape.results[0], shape.tiles[1].shape.terms, sums,
                     [&](float sum, int half) { return attention_quotient(sum, totals[half]); });
    if (shape.results[1] < 0 || !less(laneMember(), 1))
      return;
    GLOBAL float *to = this->launch.template buffer<float>(shape.results[1]);
    this->forOwn([&](int half) {
      to[this->headNumber * shape.queries + this->own[half]] =
          attention_lse(most[half], totals[half]);
    });
  }

  typename Base::OwnRows queries;
  typename Base::ColumnSums sums = {};
  /// The largest score so far of each row, and the lane's part of its sum of probabilities.
  float most[2] = {minusInfinity(), minusInfinity()}, totals[2] = {};
};

} // namespace

extern "C" void attention_bf16(const Launch &launch) { Forward<Bf16>(launch).run(); }
extern "C" void attention_f16(const Launch &launch) { Forward<F16>(launch).run(); }

} // namespace reprise::cuda
