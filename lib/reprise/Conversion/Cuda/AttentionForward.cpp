// reprise: attention for the warps of a GPU; a warp has queries
#include "Attention.h"
#include "TensorAttention.h"
#include "ThreadChains.h"
#include "WarpAttention.h"
#include "reprise/Conversion/Elementary.h"

using namespace mlir;

namespace reprise::cuda {
namespace {

class ForwardKernel : WarpAttention {
public:
  ForwardKernel(ThreadKernel &k, const AttentionSpec &spec, const WarpPlan &plan)
      : WarpAttention(k, spec, plan, AttentionBuffers::ofForward(spec)) {}

  void emit() {
    head = headOf(headNumber, spec.heads);
    HeadIndex keyHead = keyHeadOf(head);
    keys = othersOf(buffers.key, spec.key, keyHead, 0);
    values = othersOf(buffers.value, spec.value, keyHead, 1);
    queries = rowsOf(buffers.query, spec.query, head);
    limit = visibleTo(lastRow);
    emitMaximum();
    emitSums();
  }

private:
  /// Scores of the lane's key, and whether they are terms.
  struct Scores {
    PerRow values, isTerm;
  };
  Scores scores(const Others &at, const PerRow &products) {
    Value key = k.add(firstOf(at), lane), inside = otherOf(at);
    Scores result;
    for (auto [query, sum] : llvm::zip_equal(own, products)) {
      result.values.push_back(score(sum, head, query, inside));
      Value isTerm = sees(head, query, inside);
      result.isTerm.push_back(both(isTerm, less(key, k.i64(spec.keys))));
    }
    return result;
  }

  void emitMaximum() {
    Value least = infinity();
    Carried lanes(own.size(), least);
    auto body = [&](const Others &at, const Products &products, ValueRange before) {
      Scores found = scores(at, products[0]);
      Carried next;
      for (auto [value, isTerm, old] : llvm::zip_equal(found.values, found.isTerm, before))
        next.push_back(greater(select(isTerm, value, least), old));
      return next;
    };
    lanes = overOthers(k.i64(0), limit, keys, {{queries, keys}}, lanes, body);
    for (Value most : lanes)
      largest.push_back(
          exchangeAll(k, most, WarpPlan::lanes, [&](Value x, Value y) { return greater(x, y); }));
  }

  /// Adds up 32 keys: the results, then the lanes of the sums of probabilities.
  Carried addKeys(const Others &at, const PerRow &products, Value end, ValueRange before) {
    size_t results = own.size() * depth.size();
    Scores found = scores(at, products);
    PerRow weights, words;
    Carried sums;
    if (spec.draws())
      words = drawForQueries(head, at);
    for (auto [row, value] : llvm::enumerate(found.values)) {
      // The +0 of a masked key changes no sum, since sums of probabilities are never -0.
      Value p = select(found.isTerm[row], emitExp(b, subtract(value, largest[row])), number(0));
      sums.push_back(add(before[results + row], p));
      weights.push_back(spec.draws() ? dropout(words[row], p) : p);
    }
    Value count = countOf(at, end);
    bool hides = spec.causal || spec.hasMask;
    Carried next = addTerms({{weights, values}}, at, count, hides ? found.isTerm : PerRow(),
                            seenByAll(at, count), before.take_front(results));
    next.append(sums);
    return next;
  }

  void emitSums() {
    size_t results = own.size() * depth.size(), count = results + own.size();
    SmallVector<Rows> met = {keys, values};
    met.truncate(plan.tiles);
    Carried sums = emitChains(k, spec.keys, compute, count, [&](Value low, Value high) {
      Value end = k.min(high, limit);
      Carried zeros(count, number(0));
      Carried chain =
          overOthers(low, end, met, {{queries, keys}}, zeros,
                     [&](const Others &at, const Products &products, ValueRange before) {
                       return addKeys(at, products[0], end, before);
                     });
      for (size_t row = 0; row < own.size(); ++row)
        chain[results + row] = exchangeAll(k, chain[results + row], WarpPlan::lanes,
                                           [&](Value x, Value y) { return add(x, y); });
      return chain;
    });
    ArrayRef<Value> totals = ArrayRef(sums).drop_front(results);
    if (spec.isStored(0))
      storeRows(0, ArrayRef(sums).take_front(results),
                [&](Value sum, size_t row) { return quotient(sum, totals[row]); });
    if (spec.isStored(1))
      storeStatistics(totals);
  }

  void storeStatistics(ArrayRef<Value> totals) {
    Value to = k.buffer(buffers.output(spec, 1));
    ifThen(b, less(lane, k.i64(1)), [&] {
      forRowsOnce([&](size_t row) {
        Value lse = add(largest[row], emitLog(b, totals[row]));
        emitStore(b, compute, lse, to, k.add(k.mul(headNumber, spec.queries), own[row]));
      });
    });
  }

  HeadIndex head;
  Rows queries, keys, values;
  Value limit; // first key that no query of the block sees
  PerRow largest;
};

} // namespace

EmittedLaunch emitAttention(ModuleOp kernels, StringRef name, const AttentionSpec &spec,
                            Contractions contractions) {
  if (suitsTensorCores(spec, contractions))
    return emitTensorAttention(kernels, name, spec);
  int64_t hasOut = spec.isStored(0);
  WarpPlan plan(spec, {spec.batch * spec.heads, spec.queries, spec.keys, spec.keys, hasOut,
                       spec.valueDepth(), /*operands=*/1 + hasOut});
  AttentionBuffers buffers = AttentionBuffers::ofForward(spec);
  EmittedCommand command = plan.describe(name, buffers.slots(spec));
  ThreadKernel k(kernels, name, command.buffers.size(), /*scratchBytes=*/0, plan.threads());
  ForwardKernel(k, spec, plan).emit();
  return {{command}, 0};
}

} // namespace reprise::cuda
