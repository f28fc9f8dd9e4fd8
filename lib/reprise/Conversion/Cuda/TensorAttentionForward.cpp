// reprise: attention on the tensor cores of a GPU: a rescaled softmax, whose order is fixed by the
// shape
#include "TensorAttention.h"
#include "reprise/Conversion/Elementary.h"

using namespace mlir;

namespace reprise::cuda {
namespace {

class ForwardKernel : TensorAttention {
public:
  ForwardKernel(ThreadKernel &k, const AttentionSpec &spec)
      : TensorAttention(k, spec, AttentionBuffers::ofForward(spec), Rows::Queries,
                        {AttentionBuffers::key, spec.key}, {AttentionBuffers::value, spec.value}) {}

  void emit() {
    head = headOf(headNumber, spec.heads);
    HeadIndex keyHead = keyHeadOf(head);
    queries = readOwn({AttentionBuffers::query, spec.query}, head);
    Value limit = visibleTo(lastRow(spec.queries));
    // Sums over the depth; then, of each row, the largest score so far and the lane's part of the
    // sum of probabilities.
    Sums carried(sumCount(spec.valueDepth()), number(0));
    carried.append(2, infinity());
    carried.append(2, number(0));
    Sums sums = overTiles(
        k.div(k.add(limit, otherRows - 1), otherRows), otherRows, carried,
        [&](Value number) { return Others{keyHead, k.mul(number, otherRows)}; },
        [&](const Others &keys, Value stage, ValueRange before) {
          return addKeys(keys, stage, before);
        });
    store(sums);
  }

private:
  /// Combines the values of the four lanes of a group, which have the same rows.
  Value fold(Value x, llvm::function_ref<Value(Value, Value)> combine) {
    return exchangeAll(k, x, 4, combine);
  }

  Value greater(Value x, Value y) { return arith::MaxNumFOp::create(b, x, y); }

  /// Returns the base with which scores are compared if the largest is `most`: 0 if there is none
  /// yet.
  Value baseOf(Value most) {
    Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, most, infinity());
    return select(isNone, number(0), multiply(most, number(unit() * log2e)));
  }

  /// Rescales the sums so far when the largest scores change to `most`. In most steps no lane of
  /// the warp has a new largest score.
  Sums rescale(ValueRange before, ArrayRef<Value> most, ArrayRef<Value> bases) {
    size_t sums = sumCount(spec.valueDepth());
    auto isNew = [&](size_t half) {
      return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, before[sums + half], most[half]);
    };
    Value isAnyNew = k.any(arith::OrIOp::create(b, isNew(0), isNew(1)));
    Sums kept(before.take_front(sums));
    kept.append(before.begin() + sums + 2, before.end());
    return where(b, isAnyNew, kept, [&] {
      Value factor[2];
      for (size_t half : {0, 1})
        factor[half] = power(before[sums + half], bases[half]);
      Sums scaled;
      for (auto [i, sum] : llvm::enumerate(kept))
        scaled.push_back(
            multiply(sum, factor[i < sums ? halfOf(static_cast<int64_t>(i)) : i - sums]));
      return scaled;
    });
  }

  Sums addKeys(const Others &keys, Value stage, ValueRange before) {
    size_t sums = sumCount(spec.valueDepth());
    Sums found = scores(product(queries, first, keys, stage), head, keys);
    Value most[2] = {infinity(), infinity()}, base[2];
    for (auto [i, score] : llvm::enumerate(found)) {
      Value &row = most[halfOf(static_cast<int64_t>(i))];
      row = greater(score, row);
    }
    for (size_t half : {0, 1}) {
      most[half] = fold(most[half], [&](Value x, Value y) { return greater(x, y); });
      most[half] = greater(most[half], before[sums + half]);
      base[half] = baseOf(most[half]);
    }
    Sums scaled = rescale(before, most, base), weights;
    Words words;
    for (auto [i, score] : llvm::enumerate(found)) {
      int64_t number = static_cast<int64_t>(i), half = halfOf(number);
      if (spec.draws() && i % 4 == 0)
        words = drawForQueries(head, number, keys.first);
      Value p = power(score, base[half]), &total = scaled[sums + half];
      total = add(total, p);
      weights.push_back(spec.draws() ? dropout(words[i % 4], p) : p);
    }
    Sums next = addProduct(weights, second, keys, stage, ArrayRef(scaled).take_front(sums));
    next.append({most[0], most[1], scaled[sums], scaled[sums + 1]});
    return next;
  }

  void store(const Sums &sums) {
    size_t count = sumCount(spec.valueDepth());
    Value totals[2];
    for (size_t half : {0, 1})
      totals[half] = fold(sums[count + 2 + half], [&](Value x, Value y) { return add(x, y); });
    if (spec.isStored(0))
      storeOwn(0, spec.valueDepth(), ArrayRef(sums).take_front(count),
               [&](Value sum, int64_t half) { return quotient(sum, totals[half]); });
    if (!spec.isStored(1))
      return;
    Value to = k.buffer(buffers.output(spec, 1));
    ifThen(b, less(core.member(), k.i64(1)), [&] {
      forOwn([&](int64_t half) {
        Value most = multiply(sums[count + half], number(unit()));
        Value lse = add(most, emitLog(b, totals[half]));
        emitStore(b, compute, lse, to, k.add(k.mul(headNumber, spec.queries), own[half]));
      });
    });
  }

  HeadIndex head;
  Fragments queries;
};

} // namespace

EmittedLaunch emitTensorAttention(ModuleOp kernels, StringRef name, const AttentionSpec &spec) {
  int64_t blocks = countBlocks(blockThreads, spec.batch * spec.heads, spec.queries);
  EmittedCommand command{name.str(), blocks, AttentionBuffers::ofForward(spec).slots(spec)};
  ThreadKernel k(kernels, name, command.buffers.size(), /*scratchBytes=*/0);
  ForwardKernel(k, spec).emit();
  command.itemThreads = blockThreads;
  command.blockThreads = blockThreads;
  return {{command}, 0};
}

} // namespace reprise::cuda
