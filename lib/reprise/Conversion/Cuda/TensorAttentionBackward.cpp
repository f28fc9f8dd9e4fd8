// reprise: the backward of attention on the tensor cores of a GPU: kernels for the gradients of
// queries, and for those of keys and values
#include "TensorAttention.h"
#include "reprise/Conversion/Elementary.h"

using namespace mlir;

namespace reprise::cuda {
namespace {

/// Sums over the depth of both gradients of a key fit into registers.
constexpr int64_t mostDepthOfBoth = 64;

class BackwardKernel : protected TensorAttention {
protected:
  using TensorAttention::TensorAttention;

  /// A query, with what the forward and the first kernel found of it.
  struct Query {
    Value number, lse, delta;
  };
  Query readQuery(const HeadIndex &head, Value number) {
    return {number, statistic(buffers.lse, spec.lse, head, number),
            k.load(compute, delta(), deltaIndex(head, number))};
  }

  struct Gradients {
    Value dropped, score; // dropout(p), ds
  };
  /// Of one score, from the products of query and key, and, if there is one, of dout and value;
  /// `drawn` is its word if the spec draws.
  Gradients gradients(const HeadIndex &head, const Query &query, Value key, Value isTerm,
                      Value product, Value dp, Value drawn) {
    Value p = emitExp(b, subtract(score(product, head, query.number, key), query.lse)), kept = p;
    if (spec.draws()) {
      kept = dropout(drawn, p);
      dp = dp ? dropout(drawn, dp) : dp;
    }
    Value ds = dp ? orZero(isTerm, multiply(p, subtract(dp, query.delta))) : Value();
    return {orZero(isTerm, kept), ds};
  }
};

/// dquery and dscore; a warp has queries.
class QueryKernel : BackwardKernel {
public:
  QueryKernel(ThreadKernel &k, const AttentionSpec &spec)
      : BackwardKernel(k, spec, AttentionBuffers::ofBackward(spec), spec.queries, spec.keys,
                       Operand{AttentionBuffers::key, spec.key},
                       Operand{AttentionBuffers::value, spec.value}) {}

  void emit() {
    head = headOf(headNumber, spec.heads);
    HeadIndex keyHead = keyHeadOf(head);
    Fragments queries = readOwn({AttentionBuffers::query, spec.query}, head),
              douts = readOwn({AttentionBuffers::dout, spec.dout}, head);
    for (size_t half : {0, 1})
      rows[half] = readQuery(head, own[half]);
    // All scores are stored, those of no terms as +0.
    Value limit = spec.isStored(3)
                      ? k.i64(spec.keys)
                      : visibleTo(k.min(k.add(blockRow, blockRows - 1), k.i64(spec.queries - 1)));
    Sums sums = overTiles(
        k.div(k.add(limit, otherRows - 1), otherRows), zeros(sumCount()),
        [&](Value number) { return Others{keyHead, k.mul(number, otherRows)}; },
        [&](const Others &keys, Value stage, ValueRange before) {
          Sums scores = product(queries, first, stage), dps = product(douts, second, stage);
          return addProduct(scoreGradients(keys.first, scores, dps), first, stage, before);
        });
    if (spec.isStored(0))
      storeOwn(0, sums, [&](Value sum, int64_t) { return scaled(sum); });
  }

private:
  Sums scoreGradients(Value firstKey, const Sums &scores, const Sums &dps) {
    Sums found;
    Words words;
    for (int64_t i = 0; i < scoresPerLane; ++i) {
      if (spec.draws() && i % 4 == 0)
        words = drawForQueries(head, i, firstKey);
      Value other = otherOf(i, firstKey), key = inside(other);
      const Query &row = rows[halfOf(i)];
      Value holds = isTerm(head, row.number, key, other);
      found.push_back(gradients(head, row, key, holds, scores[i], dps[i], words[i % 4]).score);
    }
    if (spec.isStored(3))
      forOwn([&](int64_t half) {
        for (int64_t i = 0; i < scoresPerLane; ++i)
          if (halfOf(i) == half)
            storeScore(half, otherOf(i, firstKey), found[i]);
      });
    return found;
  }

  void storeScore(int64_t half, Value key, Value ds) {
    Value at = k.add(k.mul(deltaIndex(head, own[half]), spec.keys), key);
    k.ifThen(less(key, k.i64(spec.keys)),
             [&] { k.store(compute, ds, k.buffer(buffers.output(spec, 3)), at); });
  }

  HeadIndex head;
  Query rows[2];
};

/// dkey, dvalue, or both; a warp has keys.
class KeyKernel : BackwardKernel {
public:
  KeyKernel(ThreadKernel &k, const AttentionSpec &spec, bool ofKeys, bool ofValues)
      : BackwardKernel(k, spec, AttentionBuffers::ofBackward(spec), spec.keys, spec.queries,
                       Operand{AttentionBuffers::query, spec.query},
                       Operand{AttentionBuffers::dout, spec.dout}),
        ofKeys(ofKeys), ofValues(ofValues) {}

  void emit() {
    keyHead = headOf(headNumber, spec.keyHeads);
    keys = readOwn({AttentionBuffers::key, spec.key}, keyHead);
    if (ofKeys)
      values = readOwn({AttentionBuffers::value, spec.value}, keyHead);
    Value tiles = k.i64(llvm::divideCeil(spec.queries, otherRows)), begin = k.i64(0);
    if (spec.causal) // What sees none of the block's keys.
      begin = k.div(max(begin, k.sub(blockRow, k.i64(spec.shift()))), otherRows);
    Value perHead = k.sub(tiles, begin);
    Sums sums = overTiles(
        k.mul(perHead, spec.group()), zeros((ofKeys + ofValues) * sumCount()),
        [&](Value number) {
          Value head = arith::DivUIOp::create(b, number, perHead);
          Value tile = k.add(begin, k.sub(number, k.mul(head, perHead)));
          return Others{queryHeadOf(keyHead, head), k.mul(tile, otherRows)};
        },
        [&](const Others &queries, Value stage, ValueRange before) {
          return addQueries(queries, stage, before);
        });
    if (ofKeys)
      storeOwn(1, ArrayRef(sums).take_front(sumCount()),
               [&](Value sum, int64_t) { return scaled(sum); });
    if (ofValues)
      storeOwn(2, ArrayRef(sums).take_back(sumCount()), [](Value sum, int64_t) { return sum; });
  }

private:
  Sums addQueries(const Others &queries, Value stage, ValueRange before) {
    Sums products = product(keys, first, stage), dps, ds, dropped;
    if (ofKeys)
      dps = product(values, second, stage);
    Words words;
    for (int64_t i = 0; i < scoresPerLane; ++i) {
      if (spec.draws() && i % 4 == 0)
        words = drawForKeys(queries.head, i, queries.first);
      Value other = otherOf(i, queries.first), key = own[halfOf(i)];
      Query query = readQuery(queries.head, inside(other));
      Value holds = isTerm(queries.head, query.number, key, other);
      Gradients found = gradients(queries.head, query, key, holds, products[i],
                                  ofKeys ? dps[i] : Value(), words[i % 4]);
      ds.push_back(found.score);
      dropped.push_back(found.dropped);
    }
    Sums next;
    if (ofKeys)
      next = addProduct(ds, first, stage, before.take_front(sumCount()));
    if (ofValues)
      next.append(addProduct(dropped, second, stage, before.take_back(sumCount())));
    return next;
  }

  bool ofKeys, ofValues;
  HeadIndex keyHead;
  Fragments keys, values;
};

} // namespace

void addTensorGradients(EmittedLaunch &launch, ModuleOp kernels, StringRef name,
                        const AttentionSpec &spec) {
  auto add = [&](const Twine &own, int64_t blocks, llvm::function_ref<void(ThreadKernel &)> emit) {
    EmittedCommand command{own.str(), blocks, AttentionBuffers::ofBackward(spec).slots(spec)};
    command.buffers.push_back({BufferSlot::Shared, 0, 0});
    ThreadKernel k(kernels, command.kernel, command.buffers.size(), /*scratchBytes=*/0);
    emit(k);
    command.itemThreads = blockThreads;
    command.blockThreads = blockThreads;
    launch.commands.push_back(command);
  };
  if (spec.isStored(0) || spec.isStored(3))
    add(name + "_queries", TensorAttention::countBlocks(spec.batch * spec.heads, spec.queries),
        [&](ThreadKernel &k) { QueryKernel(k, spec).emit(); });
  auto addKeys = [&](const Twine &own, bool ofKeys, bool ofValues) {
    if (ofKeys || ofValues)
      add(own, TensorAttention::countBlocks(spec.batch * spec.keyHeads, spec.keys),
          [&](ThreadKernel &k) { KeyKernel(k, spec, ofKeys, ofValues).emit(); });
  };
  bool keys = spec.isStored(1), values = spec.isStored(2);
  if (spec.depth <= mostDepthOfBoth)
    return addKeys(name + "_keys", keys, values);
  addKeys(name + "_keys", keys, false);
  addKeys(name + "_values", false, values);
}

} // namespace reprise::cuda
