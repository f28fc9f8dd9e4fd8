// reprise: the backward of attention for the warps of a GPU: a kernel for statistics of queries, a
// kernel for the gradients of queries, and a kernel for those of keys and values
#include "Attention.h"
#include "TensorAttention.h"
#include "ThreadChains.h"
#include "WarpAttention.h"
#include "reprise/Conversion/Elementary.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise::cuda {
namespace {

/// Number of steps of a row's sum up to which the loop is unrolled.
constexpr int64_t mostUnrolled = 4;

/// Base of the kernels of the backward. delta is row-major [batch, head, query] in the shared
/// scratch.
class BackwardKernel : protected WarpAttention {
public:
  BackwardKernel(ThreadKernel &k, const AttentionSpec &spec, const WarpPlan &plan)
      : WarpAttention(k, spec, plan, AttentionBuffers::ofBackward(spec)) {}

protected:
  struct Gradients {
    Value dropped, score; // dropout(p), ds
  };
  /// Returns the gradients of one score, from the product of query and key, and, if its gradient is
  /// requested, of dout and value.
  Gradients gradients(const HeadIndex &head, Value query, Value key, Value product, Value dp,
                      Value word) {
    Value lse = statistic(buffers.lse, spec.lse, head, query);
    Value p = emitExp(b, subtract(score(product, head, query, key), lse)), kept = p;
    if (spec.draws())
      kept = dropout(word, p);
    if (!dp)
      return {kept, Value()};
    if (spec.draws())
      dp = dropout(word, dp);
    Value ofQuery = emitLoad(b, compute, delta(), deltaIndex(head, query));
    return {kept, multiply(p, subtract(dp, ofQuery))};
  }
};

/// Kernel of delta = Σ_d dout · out − dlse. For tensor cores, delta is stored in pairs with
/// log2(e)·lse, which is 0 for a query that sees no key.
class DeltaKernel : BackwardKernel {
public:
  DeltaKernel(ThreadKernel &k, const AttentionSpec &spec, const WarpPlan &plan, bool isPaired)
      : BackwardKernel(k, spec, plan), isPaired(isPaired) {}

  void emit() {
    HeadIndex head = headOf(headNumber, spec.heads);
    Rows out = rowsOf(buffers.out, spec.out, head), dout = rowsOf(buffers.dout, spec.dout, head);
    PerRow sums;
    for (Value query : own) {
      Value sum = exchangeAll(k, sumOfLane(dout, out, query), WarpPlan::lanes,
                              [&](Value x, Value y) { return add(x, y); });
      if (spec.hasDlse)
        sum = subtract(sum, statistic(buffers.dlse, spec.dlse, head, query));
      sums.push_back(sum);
    }
    ifThen(b, less(lane, k.i64(1)),
           [&] { forRowsOnce([&](size_t row) { store(head, own[row], sums[row]); }); });
  }

private:
  void store(const HeadIndex &head, Value query, Value sum) {
    Value at = deltaIndex(head, query);
    if (!isPaired)
      return emitStore(b, compute, sum, delta(), at);
    Value lse = statistic(buffers.lse, spec.lse, head, query);
    Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, lse, infinity());
    Value base = select(isNone, number(0), multiply(lse, number(log2e)));
    auto pair = VectorType::get({2}, compute);
    emitStore(b, compute, vector::FromElementsOp::create(b, pair, ValueRange{base, sum}), delta(),
              k.mul(at, 2), 2);
  }

  /// Lanes have neighbours, two each, where no order is to be kept.
  Value sumOfLane(const Rows &dout, const Rows &out, Value query) {
    bool isDense = dout.strides.depth == 1 && out.strides.depth == 1;
    int64_t columns = spec.valueDepth();
    bool areTwo = isPaired && isDense && columns % 2 == 0 && dout.aligned > 1 && out.aligned > 1;
    int64_t count = areTwo ? 2 : 1;
    Value left = rowPointer(dout, query), right = rowPointer(out, query);
    auto addColumns = [&](Value d, ValueRange before) -> Carried {
      Value x = emitLoadWide(b, spec.type, left, k.mul(d, spec.dout.depth), count, count);
      Value y = emitLoadWide(b, spec.type, right, k.mul(d, spec.out.depth), count, count);
      Value products = multiply(x, y), sum = before[0];
      if (!areTwo)
        return {add(sum, products)};
      for (int64_t i : {0, 1})
        sum = add(sum, vector::ExtractOp::create(b, products, i));
      return {sum};
    };
    Carried sum{number(0)};
    Value first = k.mul(lane, count);
    int64_t step = WarpPlan::lanes * count;
    if (columns % step != 0 || columns / step > mostUnrolled)
      return forLoop(k, first, k.i64(columns), k.i64(step), sum, addColumns)[0];
    // The loads of all rows go out before the first sum waits.
    for (int64_t d = 0; d < columns; d += step)
      sum = addColumns(k.add(first, d), sum);
    return sum[0];
  }

  bool isPaired;
};

/// Kernel of dquery and dscore; a warp has queries.
class QueryKernel : BackwardKernel {
public:
  using BackwardKernel::BackwardKernel;

  void emit() {
    head = headOf(headNumber, spec.heads);
    HeadIndex keyHead = keyHeadOf(head);
    keys = othersOf(buffers.key, spec.key, keyHead, 0);
    values = othersOf(buffers.value, spec.value, keyHead, 1);
    queries = rowsOf(buffers.query, spec.query, head);
    douts = rowsOf(buffers.dout, spec.dout, head);
    // All scores are stored; scores that are no terms are +0.
    Value limit = spec.isStored(3) ? k.i64(spec.keys) : visibleTo(lastRow);
    Carried zeros(own.size() * depth.size(), number(0));
    Carried sums = emitChains(k, spec.keys, compute, zeros.size(), [&](Value low, Value high) {
      Value end = k.min(high, limit);
      return overOthers(low, end, {keys, values}, {{queries, keys}, {douts, values}}, zeros,
                        [&](const Others &at, const Products &products, ValueRange before) {
                          return addKeys(at, products, end, before);
                        });
    });
    if (spec.isStored(0))
      storeRows(0, sums, [&](Value sum, size_t) { return scaled(sum); });
  }

private:
  Carried addKeys(const Others &at, const Products &products, Value end, ValueRange before) {
    Value key = k.add(firstOf(at), lane), inside = otherOf(at);
    PerRow ds, isTerm, words(own.size());
    if (spec.draws())
      words = drawForQueries(head, at);
    for (auto [row, query] : llvm::enumerate(own)) {
      ds.push_back(
          gradients(head, query, inside, products[0][row], products[1][row], words[row]).score);
      isTerm.push_back(sees(head, query, inside));
    }
    if (spec.isStored(3))
      ifThen(b, less(key, end), [&] {
        forRowsOnce([&](size_t row) {
          Value at = k.add(k.mul(deltaIndex(head, own[row]), spec.keys), key);
          emitStore(b, compute, select(isTerm[row], ds[row], number(0)),
                    k.buffer(buffers.output(spec, 3)), at);
        });
      });
    Value count = countOf(at, end);
    bool hides = spec.causal || spec.hasMask;
    return addTerms({{ds, keys}}, at, count, hides ? isTerm : PerRow(), seenByAll(at, count),
                    before);
  }

  HeadIndex head;
  Rows queries, keys, douts, values;
};

/// Kernel of dkey, dvalue, or both, which then have one width; a warp has keys.
class KeyKernel : BackwardKernel {
public:
  KeyKernel(ThreadKernel &k, const AttentionSpec &spec, const WarpPlan &plan, bool ofKeys,
            bool ofValues)
      : BackwardKernel(k, spec, plan), ofKeys(ofKeys), ofValues(ofValues) {}

  void emit() {
    keyHead = headOf(headNumber, spec.keyHeads);
    keys = rowsOf(buffers.key, spec.key, keyHead);
    values = rowsOf(buffers.value, spec.value, keyHead);
    size_t perResult = own.size() * depth.size();
    Carried zeros((ofKeys + ofValues) * perResult, number(0));
    Carried sums = emitChains(k, spec.queryTerms(), compute, zeros.size(),
                              [&](Value low, Value high) { return addHeads(low, high, zeros); });
    if (ofKeys)
      storeRows(1, ArrayRef(sums).take_front(perResult),
                [&](Value sum, size_t) { return scaled(sum); });
    if (ofValues)
      storeRows(2, ArrayRef(sums).take_back(perResult), [](Value sum, size_t) { return sum; });
  }

private:
  /// Terms [low, high) of one chain: queries of the heads that read the key head, one after the
  /// other.
  Carried addHeads(Value low, Value high, Carried sums) {
    if (spec.queries == 0)
      return sums;
    auto addHead = [&](Value number, ValueRange before) {
      Value start = k.mul(number, spec.queries), all = k.i64(spec.queries);
      Value first = clamp(k.sub(low, start), k.i64(0), all);
      Value last = clamp(k.sub(high, start), k.i64(0), all);
      if (spec.causal) // queries that see none of the block's keys
        first = max(first, k.sub(blockRow, k.i64(spec.shift())));
      HeadIndex head = queryHeadOf(keyHead, number);
      Rows queries = othersOf(buffers.query, spec.query, head, 0),
           douts = othersOf(buffers.dout, spec.dout, head, 1);
      SmallVector<Factors> factors = {{keys, queries}, {values, douts}};
      factors.truncate(1 + ofKeys);
      return overOthers(first, last, {queries, douts}, factors, before,
                        [&](const Others &at, const Products &products, ValueRange inner) {
                          return addQueries(head, {queries, douts}, at, products, last, inner);
                        });
    };
    if (spec.group() == 1)
      return addHead(k.i64(0), sums);
    Value end = k.div(k.add(high, spec.queries - 1), spec.queries);
    return forLoop(k, k.div(low, spec.queries), end, k.i64(1), sums, addHead);
  }

  struct QueryRows {
    Rows queries, douts;
  };
  Carried addQueries(const HeadIndex &head, const QueryRows &rows, const Others &at,
                     const Products &products, Value end, ValueRange before) {
    Value query = otherOf(at);
    PerRow dropped, ds, isTerm, words(own.size());
    if (spec.draws())
      words = drawForKeys(head, at);
    for (auto [row, key] : llvm::enumerate(own)) {
      Value dp = ofKeys ? products[1][row] : Value();
      Gradients found = gradients(head, query, key, products[0][row], dp, words[row]);
      dropped.push_back(found.dropped);
      ds.push_back(found.score);
      isTerm.push_back(sees(head, query, key));
    }
    SmallVector<Terms> terms;
    if (ofKeys)
      terms.push_back({ds, rows.queries});
    if (ofValues)
      terms.push_back({dropped, rows.douts});
    Value count = countOf(at, end);
    bool hides = spec.causal || spec.hasMask;
    return addTerms(terms, at, count, hides ? isTerm : PerRow(), seeingAll(at, count), before);
  }

  bool ofKeys, ofValues;
  HeadIndex keyHead;
  Rows keys, values;
};

template <typename KernelT, typename... MoreT>
void addCommand(EmittedLaunch &launch, ModuleOp kernels, const Twine &name,
                const AttentionSpec &spec, const WarpPlan &plan, MoreT... more) {
  if (plan.blocks == 0)
    return;
  EmittedCommand command =
      plan.describe(name.str(), AttentionBuffers::ofBackward(spec).slots(spec));
  command.buffers.push_back({BufferSlot::Shared, 0, 0});
  ThreadKernel k(kernels, command.kernel, command.buffers.size(), /*scratchBytes=*/0,
                 plan.threads());
  KernelT(k, spec, plan, more...).emit();
  launch.commands.push_back(command);
}

} // namespace

EmittedLaunch emitAttentionBackward(ModuleOp kernels, StringRef name, const AttentionSpec &spec,
                                    Contractions contractions) {
  int64_t heads = spec.batch * spec.heads, keyHeads = spec.batch * spec.keyHeads;
  EmittedLaunch launch;
  bool byTensorCores = suitsTensorCores(spec, contractions);
  launch.addShared(heads * spec.queries * (byTensorCores ? 2 : 1) *
                   bytesOf(getComputeType(spec.type)));
  addCommand<DeltaKernel>(launch, kernels, name, spec,
                          {spec, {heads, spec.queries, spec.keys, 0, 0, 0, 0}}, byTensorCores);
  if (byTensorCores) {
    addTensorGradients(launch, kernels, name, spec);
    return launch;
  }
  if (spec.isStored(0) || spec.isStored(3))
    addCommand<QueryKernel>(
        launch, kernels, name + "_queries", spec,
        {spec, {heads, spec.queries, spec.keys, spec.keys, spec.isStored(0), spec.depth(), 2}});
  auto addKeys = [&](const Twine &own, bool ofKeys, bool ofValues) {
    int64_t width = ofKeys ? spec.depth() : spec.valueDepth();
    if (int64_t sums = ofKeys + ofValues)
      addCommand<KeyKernel>(
          launch, kernels, own, spec,
          {spec, {keyHeads, spec.keys, spec.queries, spec.queryTerms(), sums, width, 2}}, ofKeys,
          ofValues);
  };
  bool keys = spec.isStored(1), values = spec.isStored(2),
       isOne = spec.depth() == spec.valueDepth();
  addKeys(name + "_keys", keys, isOne && values);
  if (!isOne)
    addKeys(name + "_values", false, values);
  return launch;
}

} // namespace reprise::cuda
