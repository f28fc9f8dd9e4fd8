// reprise: the backward of attention on the tensor cores of a GPU: kernels for the gradients of
// queries, and for those of keys and values
#include "TensorAttention.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise::cuda {
namespace {

/// Sums over the columns of both gradients of a key fit into registers.
constexpr int64_t mostDepthOfBoth = 64;
/// Threads of a block. Their registers leave room for 12 warps on a multiprocessor, in three
/// blocks, but not for 16.
constexpr int64_t threads = 128;
/// Number of opposite queries or keys per step.
constexpr int64_t othersTogether = 16;

bool hasShortRows(const AttentionSpec &spec) {
  return std::max(spec.depth(), spec.valueDepth()) <= mostDepthOfBoth;
}

class BackwardKernel : protected TensorAttention {
protected:
  using TensorAttention::TensorAttention;

  /// Returns the blocks per multiprocessor. If scores have operands of their own, or rows are long,
  /// two blocks fit.
  int32_t blocksTogether() const { return spec.scoreInputs() == 0 && hasShortRows(spec) ? 3 : 2; }
  /// Values of a query: log2(e)·lse, and delta.
  struct Query {
    Value base, delta;
  };
  /// Reads the values of neighbouring queries.
  SmallVector<Query> readQueries(const HeadIndex &head, Value first, int64_t count) {
    Value both =
        emitLoad(b, compute, delta(), k.mul(deltaIndex(head, first), 2), 2 * count, 2 * count);
    SmallVector<Query> found;
    for (int64_t i = 0; i < count; ++i)
      found.push_back({vector::ExtractOp::create(b, both, 2 * i),
                       vector::ExtractOp::create(b, both, 2 * i + 1)});
    return found;
  }

  struct Gradients {
    Value dropped, score; // dropout(p), ds
  };
  /// Returns the gradients of one score, from the product of dout and value, if given; `drawn` is
  /// its word if the spec draws.
  Gradients gradients(const Query &query, Value score, Value dp, Value drawn) {
    Value p = power(score, query.base), kept = p;
    if (spec.draws()) {
      kept = dropout(drawn, p);
      dp = dp ? dropout(drawn, dp) : dp;
    }
    return {kept, dp ? multiply(p, subtract(dp, query.delta)) : Value()};
  }
};

/// Kernel of dquery and dscore; a warp has queries.
class QueryKernel : BackwardKernel {
public:
  QueryKernel(ThreadKernel &k, const AttentionSpec &spec)
      : BackwardKernel(k, spec, AttentionBuffers::ofBackward(spec), Rows::Queries,
                       Operand{AttentionBuffers::key, spec.key},
                       Operand{AttentionBuffers::value, spec.value}) {}

  void emit() {
    k.setBlocksTogether(blocksTogether());
    head = headOf(headNumber, spec.heads);
    HeadIndex keyHead = keyHeadOf(head);
    Fragments rows = readOwn({AttentionBuffers::query, spec.query}, head),
              douts = readOwn({AttentionBuffers::dout, spec.dout}, head);
    for (size_t half : {0, 1})
      queries[half] = readQueries(head, own[half], 1).front();
    // All scores are stored; scores that are no terms are +0.
    Value limit = spec.isStored(3) ? k.i64(spec.keys) : visibleTo(lastRow(spec.queries));
    Sums sums = overTiles(
        k.div(k.add(limit, otherRows - 1), otherRows), othersTogether,
        Sums(sumCount(spec.depth()), number(0)),
        [&](Value number) { return Others{keyHead, k.mul(number, otherRows)}; },
        [&](const Others &keys, Value stage, ValueRange before) {
          Sums found = scores(product(rows, first, keys, stage), head, keys);
          Sums dps = product(douts, second, keys, stage);
          return addProduct(scoreGradients(keys.first, found, dps), first, keys, stage, before);
        });
    if (spec.isStored(0))
      storeOwn(0, spec.depth(), sums, [&](Value sum, int64_t) { return scaled(sum); });
  }

private:
  Sums scoreGradients(Value firstKey, const Sums &scores, const Sums &dps) {
    Sums found;
    Words words;
    for (auto [number, score] : llvm::enumerate(scores)) {
      auto i = static_cast<int64_t>(number);
      if (spec.draws() && i % 4 == 0)
        words = drawForQueries(head, i, firstKey);
      found.push_back(gradients(queries[halfOf(i)], score, dps[i], words[i % 4]).score);
    }
    if (spec.isStored(3))
      forOwn([&](int64_t half) {
        for (auto [i, score] : llvm::enumerate(found))
          if (halfOf(static_cast<int64_t>(i)) == half)
            storeScore(static_cast<int64_t>(i), firstKey, score);
      });
    return found;
  }

  void storeScore(int64_t score, Value firstKey, Value ds) {
    Value key = otherOf(score, firstKey);
    Value at = k.add(k.mul(deltaIndex(head, own[halfOf(score)]), spec.keys), key);
    Value stored = mayHide() ? select(isTerm(head, score, firstKey), ds, number(0)) : ds;
    ifThen(b, less(key, k.i64(spec.keys)),
           [&] { emitStore(b, compute, stored, k.buffer(buffers.output(spec, 3)), at); });
  }

  HeadIndex head;
  Query queries[2];
};

/// Kernel of dkey, dvalue, or both; a warp has keys.
class KeyKernel : BackwardKernel {
public:
  KeyKernel(ThreadKernel &k, const AttentionSpec &spec, bool ofKeys, bool ofValues)
      : BackwardKernel(k, spec, AttentionBuffers::ofBackward(spec), Rows::Keys,
                       Operand{AttentionBuffers::query, spec.query},
                       Operand{AttentionBuffers::dout, spec.dout}),
        ofKeys(ofKeys), ofValues(ofValues) {}

  void emit() {
    k.setBlocksTogether(blocksTogether());
    keyHead = headOf(headNumber, spec.keyHeads);
    keys = readOwn({AttentionBuffers::key, spec.key}, keyHead);
    if (ofKeys)
      values = readOwn({AttentionBuffers::value, spec.value}, keyHead);
    Value tiles = k.i64(llvm::divideCeil(spec.queries, otherRows)), begin = k.i64(0);
    if (spec.causal) // queries that see none of the block's keys
      begin = k.div(max(begin, k.sub(blockRow, k.i64(spec.shift()))), otherRows);
    Value perHead = k.sub(tiles, begin);
    Sums sums = overTiles(
        k.mul(perHead, spec.group()), othersTogether, Sums(keySums() + valueSums(), number(0)),
        [&](Value number) {
          Value head = spec.group() == 1 ? k.i64(0) : quotientOf(number, perHead);
          Value tile = k.add(begin, k.sub(number, k.mul(head, perHead)));
          return Others{queryHeadOf(keyHead, head), k.mul(tile, otherRows)};
        },
        [&](const Others &queries, Value stage, ValueRange before) {
          return addQueries(queries, stage, before);
        });
    if (ofKeys)
      storeOwn(1, spec.depth(), ArrayRef(sums).take_front(keySums()),
               [&](Value sum, int64_t) { return scaled(sum); });
    if (ofValues)
      storeOwn(2, spec.valueDepth(), ArrayRef(sums).take_back(valueSums()),
               [](Value sum, int64_t) { return sum; });
  }

private:
  int64_t keySums() const { return ofKeys ? sumCount(spec.depth()) : 0; }
  int64_t valueSums() const { return ofValues ? sumCount(spec.valueDepth()) : 0; }

  /// 32 bits serve, and are divided in less time.
  Value quotientOf(Value number, Value by) {
    auto narrow = [&](Value x) { return arith::TruncIOp::create(b, b.getI32Type(), x); };
    Value quotient = arith::DivUIOp::create(b, narrow(number), narrow(by));
    return arith::ExtUIOp::create(b, b.getI64Type(), quotient);
  }

  /// Reads two neighbouring others of the lane.
  SmallVector<Query> readPair(const HeadIndex &head, int64_t score, Value firstQuery) {
    if (spec.queries % 2 == 0)
      return readQueries(head, k.min(otherOf(score, firstQuery), k.i64(spec.queries - 2)), 2);
    SmallVector<Query> found;
    for (int64_t i : {0, 1})
      found.append(readQueries(head, inside(otherOf(score + i, firstQuery)), 1));
    return found;
  }

  Sums addQueries(const Others &others, Value stage, ValueRange before) {
    Sums found = scores(product(keys, first, others, stage), others.head, others);
    Sums dps, ds, dropped;
    if (ofKeys)
      dps = product(values, second, others, stage);
    SmallVector<Query> queries;
    Words words;
    for (auto [number, score] : llvm::enumerate(found)) {
      auto i = static_cast<int64_t>(number);
      if (i % 4 == 0)
        queries = readPair(others.head, i, others.first);
      if (spec.draws() && i % 4 == 0)
        words = drawForKeys(others.head, i, others.first);
      Gradients gradient =
          gradients(queries[i % 2], score, ofKeys ? dps[i] : Value(), words[i % 4]);
      ds.push_back(gradient.score);
      dropped.push_back(gradient.dropped);
    }
    Sums next;
    if (ofKeys)
      next = addProduct(ds, first, others, stage, before.take_front(keySums()));
    if (ofValues)
      next.append(addProduct(dropped, second, others, stage, before.take_back(valueSums())));
    return next;
  }

  bool ofKeys, ofValues;
  HeadIndex keyHead;
  Fragments keys, values;
};

} // namespace

void addTensorGradients(EmittedLaunch &launch, ModuleOp kernels, StringRef name,
                        const AttentionSpec &spec) {
  auto add = [&](const Twine &own, int64_t heads, int64_t rows,
                 llvm::function_ref<void(ThreadKernel &)> emit) {
    int64_t blocks = countBlocks(threads, spec.batch * heads, rows);
    EmittedCommand command{own.str(), blocks, AttentionBuffers::ofBackward(spec).slots(spec)};
    command.buffers.push_back({BufferSlot::Shared, 0, 0});
    ThreadKernel k(kernels, command.kernel, command.buffers.size(), /*scratchBytes=*/0, threads);
    emit(k);
    command.itemThreads = command.blockThreads = threads;
    launch.commands.push_back(command);
  };
  if (spec.isStored(0) || spec.isStored(3))
    add(name + "_queries", spec.heads, spec.queries,
        [&](ThreadKernel &k) { QueryKernel(k, spec).emit(); });
  auto addKeys = [&](const Twine &own, bool ofKeys, bool ofValues) {
    if (ofKeys || ofValues)
      add(own, spec.keyHeads, spec.keys,
          [&](ThreadKernel &k) { KeyKernel(k, spec, ofKeys, ofValues).emit(); });
  };
  bool keys = spec.isStored(1), values = spec.isStored(2);
  if (hasShortRows(spec))
    return addKeys(name + "_keys", keys, values);
  addKeys(name + "_keys", keys, false);
  addKeys(name + "_values", false, values);
}

} // namespace reprise::cuda
