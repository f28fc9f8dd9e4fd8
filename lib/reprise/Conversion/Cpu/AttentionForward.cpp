// reprise: emits attention, one strip of queries after the other
#include "AttentionParts.h"
#include "reprise/Conversion/Elementary.h"

using namespace mlir;

namespace reprise {
namespace {

/// Byte offsets in a worker's workspace.
struct ForwardWorkspace {
  WorkspaceLayout layout;
  int64_t keys = 0, values = 0; // copies of operands whose layout tiles cannot read
  int64_t packed, scores, results, sums, sumTrees, totals, statistics, mask = 0;

  explicit ForwardWorkspace(const AttentionPlan &plan) {
    const AttentionSpec &spec = plan.spec;
    auto reserve = [&](int64_t elements) { return layout.reserve(elements, plan.bytes()); };
    int64_t resultLd = plan.ld(spec.valueDepth());
    if (!plan.isDirect(spec.key, false))
      keys = reserve(spec.keys * plan.ld(spec.depth()));
    if (!plan.isDirect(spec.value, true))
      values = reserve(spec.keys * resultLd);
    packed = reserve(plan.strip / plan.lanes * plan.packedElements(spec.depth()));
    scores = reserve((llvm::alignTo(spec.keys, 4) + plan.scoreRows) * plan.strip);
    results = reserve(AttentionPlan::slotsOf(spec.keys) * plan.strip * resultLd);
    sums = reserve(sumLanes * plan.width);
    sumTrees = reserve(AttentionPlan::slotsOf(spec.keys) * plan.width);
    totals = reserve(plan.strip);
    statistics = reserve(plan.strip);
    if (spec.hasMask)
      mask = layout.reserve(AttentionMask::bytes(plan), 1);
  }
};

class ForwardEmitter : AttentionParts {
public:
  ForwardEmitter(KernelBuilder &k, const AttentionPlan &plan, const ForwardWorkspace &offsets)
      : AttentionParts(k, plan), buffers(AttentionBuffers::ofForward(spec)),
        bias(*this, buffers.bias), mask(*this, buffers.mask, offsets.mask),
        dropout(*this, buffers.random), offsets(offsets) {}

  void emit() {
    packed = workspace(offsets.packed), scores = workspace(offsets.scores);
    results = workspace(offsets.results), totals = workspace(offsets.totals);
    statistics = workspace(offsets.statistics);
    forLoop(k, k.begin(), k.end(), k.i64(1), [&](Value item) {
      head = headOf(k.div(item, plan.rowBlocks()), spec.heads);
      HeadIndex keyHead = keyHeadOf(head);
      Value begin = k.mul(k.rem(item, plan.rowBlocks()), plan.itemRows);
      Value end = k.min(k.add(begin, plan.itemRows), k.i64(spec.queries));
      Value visible = spec.causal ? k.add(end, spec.shift()) : k.i64(spec.keys);
      keys = rowsFor(headBase(1, spec.type, spec.key, keyHead), spec.key, visible,
                     workspace(offsets.keys), plan.isDirect(spec.key, false));
      values = rowsFor(headBase(2, spec.type, spec.value, keyHead), spec.value, visible,
                       workspace(offsets.values), plan.isDirect(spec.value, true));
      forLoop(k, begin, end, k.i64(plan.strip),
              [&](Value i0) { emitStrip(i0, k.min(k.i64(plan.strip), k.sub(end, i0))); });
    });
  }

private:
  void emitStrip(Value i0, Value count) {
    packQueries(headBase(0, spec.type, spec.query, head), spec.query, i0, count, packed);
    if (spec.hasMask)
      mask.build(head, i0, count);
    forLoop(k, k.i64(0), count, k.i64(plan.lanes), [&](Value column) {
      Value limit = seenTo(k.add(k.add(i0, column), plan.lanes - 1));
      products(keys, packedQueries(packed, spec.query, column), column, k.i64(0), limit, k.i64(0),
               scores);
    });
    forLoop(k, k.i64(0), count, k.i64(plan.width),
            [&](Value column) { emitProbabilities(column, k.add(i0, column)); });
    int64_t ld = plan.ld(spec.valueDepth());
    forChains(spec.keys, results, plan.strip * ld, [&](Value c, Value slot) {
      contractKeys(scores, values, i0, count, c, slot, spec.hasMask ? &mask : nullptr);
    });
    store(i0, count);
  }

  /// Returns the first key that no query up to `i` sees, nor any key behind it.
  Value seenTo(Value i) { return spec.hasMask ? k.min(visibleTo(i), mask.limit) : visibleTo(i); }

  /// The scores of one register of queries, from `i` on, become probabilities.
  struct Column {
    Value at;        // index in the strip
    Value positions; // positions of the words of dropout
    Value bounds;    // number of keys that each query sees
    AttentionBias::Rows bias;
    Value largest;
  };

  Value scoreAddress(const Column &column, Value key) {
    return element(scores, k.add(k.mul(key, plan.strip), column.at));
  }

  /// Returns the scaled product; with a bias, the sum that emitMaximum has stored.
  Value score(const Column &column, Value key) {
    Value sum = emitLoad(b, plan.compute, scoreAddress(column, key), k.i64(0), plan.width);
    if (spec.hasBias)
      return sum;
    return arith::MulFOp::create(b, sum, emitConstant(b, vectorType(), spec.scale));
  }

  Value addBias(const Column &column, Value key) {
    Value address = scoreAddress(column, key);
    Value sum = emitLoad(b, plan.compute, address, k.i64(0), plan.width);
    sum = arith::MulFOp::create(b, sum, emitConstant(b, vectorType(), spec.scale));
    sum = arith::AddFOp::create(b, sum, bias.at(column.bias, key));
    emitStore(b, plan.compute, sum, address, k.i64(0));
    return sum;
  }

  /// Returns whether groups of four keys can contain keys that some queries do not see.
  bool hidesKeys() const { return spec.causal || spec.hasMask || spec.keys % 4; }

  Value isVisible(const Column &column, Value key) {
    if (spec.hasMask)
      return mask.sees(column.at, key);
    Type element = getElementTypeOrSelf(indexType());
    Value index =
        element.isInteger(64) ? key : arith::TruncIOp::create(b, element, key).getResult();
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, column.bounds,
                                 emitSplat(b, index, plan.width));
  }

  Value boundsOf(Value i) {
    if (!spec.causal)
      return emitConstant(b, indexType(), spec.keys);
    auto type = cast<VectorType>(indexType());
    SmallVector<APInt> steps;
    for (int64_t lane = 0; lane < plan.width; ++lane)
      steps.push_back(APInt(type.getElementTypeBitWidth(), lane + spec.shift() + 1));
    Value lanes = arith::ConstantOp::create(b, DenseElementsAttr::get(type, steps));
    Type element = type.getElementType();
    Value index = element.isInteger(64) ? i : arith::TruncIOp::create(b, element, i).getResult();
    return arith::AddIOp::create(b, emitSplat(b, index, plan.width), lanes);
  }

  void emitProbabilities(Value at, Value i) {
    Column column{at, spec.draws() ? dropout.rowPositions(head, i) : Value(), boundsOf(i), {}, {}};
    if (spec.hasBias)
      column.bias = bias.rows(head, i);
    // All queries see the keys before `full`; no query sees keys from `limit` on.
    Value full = roundDown(spec.hasMask ? k.min(visibleTo(i), mask.full) : visibleTo(i), 4);
    Value limit = roundUp(seenTo(k.add(i, plan.width - 1)), 4);
    column.largest = emitMaximum(column, full, limit);
    Value sums = workspace(offsets.sums), trees = workspace(offsets.sumTrees);
    forChains(spec.keys, trees, plan.width, [&](Value c, Value slot) {
      Value begin = k.mul(c, chainLength), end = k.add(begin, chainLength);
      zero(sums, k.i64(sumLanes * plan.width));
      auto groups = [&](Value lo, Value hi, bool masked) {
        forLoop(k, lo, hi, k.i64(4), [&](Value key) { emitGroup(column, key, sums, masked); });
      };
      groups(begin, k.min(full, end), false);
      if (hidesKeys())
        groups(max(full, begin), k.min(limit, end), true);
      emitStore(b, plan.compute, fold(sums), slot, k.i64(0));
    });
    Value total = emitLoad(b, plan.compute, trees, k.i64(0), plan.width);
    emitStore(b, plan.compute, total, totals, at);
    Value lse = arith::AddFOp::create(b, column.largest, emitLog(b, total));
    emitStore(b, plan.compute, lse, statistics, at);
  }

  /// Returns the larger value with one comparison, without rules for NaN and the sign of zero. If a
  /// score is NaN, every result is NaN in either case, and the sign of zero does not change
  /// results.
  Value greater(Value x, Value y) {
    Value less = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, y, x);
    return arith::SelectOp::create(b, less, x, y);
  }

  Value emitMaximum(const Column &column, Value full, Value limit) {
    Value least = emitConstant(b, vectorType(), -std::numeric_limits<double>::infinity());
    auto scan = [&](Value lo, Value hi, ValueRange start, bool masked) {
      return forLoop(k, lo, hi, k.i64(4), start, [&](Value key, ValueRange carried) {
        Carried next;
        for (int64_t u = 0; u < 4; ++u) {
          Value at = k.add(key, u);
          Value value = spec.hasBias ? addBias(column, at) : score(column, at);
          if (masked)
            value = arith::SelectOp::create(b, isVisible(column, at), value, least);
          next.push_back(greater(value, carried[u]));
        }
        return next;
      });
    };
    Carried m = scan(k.i64(0), full, Carried(4, least), false);
    if (hidesKeys())
      m = scan(full, limit, m, true);
    return greater(greater(m[0], m[1]), greater(m[2], m[3]));
  }

  /// Emits four keys: p = exp(score − m), added to the lanes of its sum, then dropped or not.
  void emitGroup(const Column &column, Value key, Value sums, bool masked) {
    std::array<Value, 4> words;
    if (spec.draws())
      words = dropout.words(column.positions, key);
    for (int64_t u = 0; u < 4; ++u) {
      Value j = k.add(key, u);
      Value p = emitExp(b, arith::SubFOp::create(b, score(column, j), column.largest));
      // The +0 of a masked key changes no sum, since sums of probabilities are never -0.
      if (masked)
        p = arith::SelectOp::create(b, isVisible(column, j), p, emitConstant(b, vectorType(), 0));
      Value lane = k.mul(k.add(k.rem(key, sumLanes), u), plan.width);
      Value sum = emitLoad(b, plan.compute, sums, lane, plan.width);
      emitStore(b, plan.compute, arith::AddFOp::create(b, sum, p), sums, lane);
      if (spec.draws())
        p = dropout.apply(words[u], p);
      emitStore(b, plan.compute, p, scores, k.add(k.mul(j, plan.strip), column.at));
    }
  }

  /// The butterfly over the lanes of the sums.
  Value fold(Value sums) {
    SmallVector<Value> lanes;
    for (int64_t lane = 0; lane < sumLanes; ++lane)
      lanes.push_back(emitLoad(b, plan.compute, sums, k.i64(lane * plan.width), plan.width));
    for (int64_t distance = sumLanes / 2; distance; distance /= 2)
      for (int64_t lane = 0; lane < distance; ++lane)
        lanes[lane] = arith::AddFOp::create(b, lanes[lane], lanes[lane + distance]);
    return lanes[0];
  }

  void store(Value i0, Value count) {
    Value row0 = k.add(k.mul(head.number, spec.queries), i0);
    if (spec.stored[0]) {
      int64_t columns = spec.valueDepth();
      Value to = emitAddress(b, spec.type, k.buffer(buffers.output(spec, 0)), k.mul(row0, columns));
      storeRows(results, count, columns, to, [&](Value value, Value row) -> Value {
        Value total = emitLoad(b, plan.compute, totals, row);
        auto vector = dyn_cast<VectorType>(value.getType());
        Value quotient =
            arith::DivFOp::create(b, value, emitSplat(b, total, vector ? plan.width : 1));
        if (!spec.hasMask)
          return quotient;
        // The sum of no probabilities; the sum of any is at least 1.
        Value seesNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, total,
                                               emitConstant(b, plan.compute, 0));
        return arith::SelectOp::create(b, seesNone, emitConstant(b, value.getType(), 0), quotient);
      });
    }
    if (!spec.stored[1])
      return;
    Value to = element(k.buffer(buffers.output(spec, 1)), row0);
    forLoop(k, k.i64(0), count, k.i64(1), [&](Value row) {
      emitStore(b, plan.compute, emitLoad(b, plan.compute, statistics, row), to, row);
    });
  }

  AttentionBuffers buffers;
  AttentionBias bias;
  AttentionMask mask;
  AttentionDropout dropout;
  const ForwardWorkspace &offsets;
  HeadIndex head;
  RowMatrix keys, values;
  Value packed, scores, results, totals, statistics;
};

} // namespace

EmittedLaunch emitAttention(ModuleOp kernels, StringRef name, const AttentionSpec &spec,
                            const CpuTarget &target) {
  if (!spec.batch || !spec.heads || !spec.queries)
    return {};
  AttentionPlan plan(spec, target);
  ForwardWorkspace offsets(plan);
  KernelBuilder k(kernels, name);
  ForwardEmitter(k, plan, offsets).emit();
  EmittedCommand command{name.str(), spec.batch * spec.heads * plan.rowBlocks(),
                         AttentionBuffers::ofForward(spec).slots(spec), offsets.layout.bytes};
  return {{command}, 0};
}

} // namespace reprise
