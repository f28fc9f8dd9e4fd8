// reprise: attention on the tensor cores of a GPU: a rescaled softmax, whose order is fixed by the
// shape
#include "TensorAttention.h"
#include "reprise/Conversion/Elementary.h"

#include <limits>

using namespace mlir;

namespace reprise::cuda {
namespace {

class ForwardKernel : TensorAttention {
public:
  ForwardKernel(ThreadKernel &k, const AttentionSpec &spec)
      : TensorAttention(k, spec, AttentionBuffers::ofForward(spec), spec.queries, spec.keys,
                        {AttentionBuffers::key, spec.key}, {AttentionBuffers::value, spec.value}) {}

  void emit() {
    head = headOf(headNumber, spec.heads);
    HeadIndex keyHead = keyHeadOf(head);
    queries = readOwn({AttentionBuffers::query, spec.query}, head);
    Value limit = visibleTo(k.min(k.add(blockRow, blockRows - 1), k.i64(spec.queries - 1)));
    // Sums over the depth; then, of each row, the largest score so far and the lane's part of the
    // sum of probabilities.
    Sums carried = zeros(sumCount());
    carried.append(2, infinity());
    carried.append(2, number(0));
    Sums sums = overTiles(
        k.div(k.add(limit, otherRows - 1), otherRows), carried,
        [&](Value number) { return Others{keyHead, k.mul(number, otherRows)}; },
        [&](const Others &keys, Value stage, ValueRange before) {
          return addKeys(keys.first, stage, before);
        });
    store(sums);
  }

private:
  Value infinity() { return number(-std::numeric_limits<double>::infinity()); }

  /// The four lanes of a group have the same rows.
  Value fold(Value x, llvm::function_ref<Value(Value, Value)> combine) {
    for (int64_t distance : {2, 1})
      x = combine(x, k.exchange(x, distance));
    return x;
  }

  struct Score {
    Value value, isTerm;
  };
  SmallVector<Score> scores(Value firstKey, Value stage) {
    SmallVector<Score> found;
    for (auto [i, product] : llvm::enumerate(product(queries, first, stage))) {
      auto number = static_cast<int64_t>(i);
      Value other = otherOf(number, firstKey), key = inside(other), query = own[halfOf(number)];
      found.push_back({score(product, head, query, key), isTerm(head, query, key, other)});
    }
    return found;
  }

  /// What sums so far are multiplied by where the largest score becomes `most`, and what scores
  /// are compared with: 0 as long as there is none.
  std::pair<Value, Value> rescale(Value before, Value most) {
    Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, most, infinity());
    Value base = select(isNone, number(0), most);
    return {emitExp(b, subtract(before, base)), base};
  }

  Sums addKeys(Value firstKey, Value stage, ValueRange before) {
    size_t sums = sumCount();
    SmallVector<Score> found = scores(firstKey, stage);
    Value most[2] = {infinity(), infinity()}, factor[2], base[2], total[2];
    for (auto [i, score] : llvm::enumerate(found)) {
      Value &row = most[halfOf(static_cast<int64_t>(i))];
      row =
          greater(score.isTerm ? select(score.isTerm, score.value, infinity()) : score.value, row);
    }
    for (size_t half : {0, 1}) {
      Value old = before[sums + half];
      most[half] = greater(fold(most[half], [&](Value x, Value y) { return greater(x, y); }), old);
      std::tie(factor[half], base[half]) = rescale(old, most[half]);
      total[half] = multiply(before[sums + 2 + half], factor[half]);
    }
    Sums weights;
    Words words;
    for (auto [i, score] : llvm::enumerate(found)) {
      int64_t number = static_cast<int64_t>(i), half = halfOf(number);
      if (spec.draws() && i % 4 == 0)
        words = drawForQueries(head, number, firstKey);
      Value p = orZero(score.isTerm, emitExp(b, subtract(score.value, base[half])));
      total[half] = add(total[half], p);
      weights.push_back(spec.draws() ? dropout(words[i % 4], p) : p);
    }
    Sums scaled;
    for (size_t i = 0; i < sums; ++i)
      scaled.push_back(multiply(before[i], factor[halfOf(static_cast<int64_t>(i))]));
    Sums next = addProduct(weights, second, stage, scaled);
    next.append({most[0], most[1], total[0], total[1]});
    return next;
  }

  void store(const Sums &sums) {
    size_t count = sumCount();
    Value totals[2];
    for (size_t half : {0, 1})
      totals[half] = fold(sums[count + 2 + half], [&](Value x, Value y) { return add(x, y); });
    if (spec.isStored(0))
      storeOwn(0, ArrayRef(sums).take_front(count),
               [&](Value sum, int64_t half) { return quotient(sum, totals[half]); });
    if (!spec.isStored(1))
      return;
    Value to = k.buffer(buffers.output(spec, 1));
    k.ifThen(less(core.member(), k.i64(1)), [&] {
      forOwn([&](int64_t half) {
        Value lse = add(sums[count + half], emitLog(b, totals[half]));
        k.store(compute, lse, to, k.add(k.mul(headNumber, spec.queries), own[half]));
      });
    });
  }

  HeadIndex head;
  Fragments queries;
};

} // namespace

EmittedLaunch emitTensorAttention(ModuleOp kernels, StringRef name, const AttentionSpec &spec) {
  int64_t blocks = TensorAttention::countBlocks(spec.batch * spec.heads, spec.queries);
  EmittedCommand command{name.str(), blocks, AttentionBuffers::ofForward(spec).slots(spec)};
  ThreadKernel k(kernels, name, command.buffers.size(), /*scratchBytes=*/0);
  ForwardKernel(k, spec).emit();
  command.itemThreads = blockThreads;
  command.blockThreads = blockThreads;
  return {{command}, 0};
}

} // namespace reprise::cuda
