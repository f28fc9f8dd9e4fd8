// reprise: emits the backward of attention, head by head and strip by strip of queries
#include "AttentionParts.h"
#include "reprise/Conversion/Elementary.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise {
namespace {

/// Byte offsets in a worker's workspace.
struct BackwardWorkspace {
  WorkspaceLayout layout;
  // Copies of operands whose layout tiles cannot read.
  int64_t keys = 0, values = 0, queries = 0, douts = 0;
  int64_t packedQueries, packedDouts;
  int64_t dropped, gradients;       // dropout(p) and ds, all keys × a strip of queries
  int64_t delta, statistics, terms; // values of a strip; terms of one sum
  int64_t dquery, sums;             // sums: dkey, then dvalue
  int64_t mask = 0;

  explicit BackwardWorkspace(const AttentionPlan &plan) {
    const AttentionSpec &spec = plan.spec;
    auto reserve = [&](int64_t elements) { return layout.reserve(elements, plan.bytes()); };
    int64_t ld = plan.ld(spec.depth()), valueLd = plan.ld(spec.valueDepth());
    if (!plan.isDirect(spec.key, true))
      keys = reserve(spec.keys * ld);
    if (!plan.isDirect(spec.value, false))
      values = reserve(spec.keys * valueLd);
    if (!plan.isDirect(spec.query, true))
      queries = reserve(plan.strip * ld);
    if (!plan.isDirect(spec.dout, true))
      douts = reserve(plan.strip * valueLd);
    int64_t groups = plan.strip / plan.lanes;
    packedQueries = reserve(groups * plan.packedElements(spec.depth()));
    packedDouts = reserve(groups * plan.packedElements(spec.valueDepth()));
    int64_t scores = (llvm::alignTo(spec.keys, 4) + plan.scoreRows) * plan.strip;
    dropped = reserve(scores);
    gradients = reserve(scores);
    delta = reserve(plan.strip);
    statistics = reserve(plan.strip);
    terms = reserve(llvm::alignTo(spec.valueDepth(), sumLanes));
    dquery = reserve(AttentionPlan::slotsOf(spec.keys) * plan.strip * ld);
    sums = reserve(AttentionPlan::slotsOf(spec.queryTerms()) * spec.keys * (ld + valueLd));
    if (spec.hasMask)
      mask = layout.reserve(AttentionMask::bytes(plan), 1);
  }
};

class BackwardEmitter : AttentionParts {
public:
  BackwardEmitter(KernelBuilder &k, const AttentionPlan &plan, const BackwardWorkspace &offsets)
      : AttentionParts(k, plan), buffers(AttentionBuffers::ofBackward(spec)),
        bias(*this, buffers.bias), mask(*this, buffers.mask, offsets.mask),
        dropout(*this, buffers.random), offsets(offsets) {}

  void emit() {
    packedQuery = workspace(offsets.packedQueries), packedDout = workspace(offsets.packedDouts);
    dropped = workspace(offsets.dropped), gradients = workspace(offsets.gradients);
    delta = workspace(offsets.delta), statistics = workspace(offsets.statistics);
    forLoop(k, k.begin(), k.end(), k.i64(1),
            [&](Value item) { emitKeyHead(headOf(item, spec.keyHeads)); });
  }

private:
  void emitKeyHead(const HeadIndex &own) {
    keys = rowsFor(headBase(buffers.key, spec.type, spec.key, own), spec.key, k.i64(spec.keys),
                   workspace(offsets.keys), plan.isDirect(spec.key, true));
    values = rowsFor(headBase(buffers.value, spec.type, spec.value, own), spec.value,
                     k.i64(spec.keys), workspace(offsets.values), plan.isDirect(spec.value, false));
    int64_t ofKeys = spec.keys * plan.ld(spec.depth());
    int64_t ofBoth = ofKeys + spec.keys * plan.ld(spec.valueDepth());
    Value dkeys = workspace(offsets.sums), dvalues = element(dkeys, k.i64(ofKeys));
    forChains(spec.queryTerms(), dkeys, ofBoth, [&](Value c, Value slot) {
      dkey = slot, dvalue = element(slot, k.i64(ofKeys));
      zero(slot, k.i64(ofBoth));
      Value begin = k.mul(c, chainLength);
      emitTerms(own, begin, k.min(k.add(begin, chainLength), k.i64(spec.queryTerms())));
    });
    auto store = [&](unsigned result, Value from, int64_t columns, double scale) {
      Value to = outputRow(result, columns, k.mul(own.number, spec.keys));
      storeRows(from, k.i64(spec.keys), columns, to,
                [&](Value x, Value) { return scaled(x, scale); });
    };
    if (spec.stored[1])
      store(1, dkeys, spec.depth(), spec.scale);
    if (spec.stored[2])
      store(2, dvalues, spec.valueDepth(), 1);
  }

  /// Terms [begin, end) of one chain: queries of the heads that read the key head, one after the
  /// other.
  void emitTerms(const HeadIndex &own, Value begin, Value end) {
    if (spec.queries == 0)
      return;
    auto emitHead = [&](Value number) {
      Value before = k.mul(number, spec.queries);
      head = queryHeadOf(own, number);
      emitQueries(clamp(k.sub(begin, before), k.i64(0), k.i64(spec.queries)),
                  clamp(k.sub(end, before), k.i64(0), k.i64(spec.queries)));
    };
    if (spec.group() == 1)
      return emitHead(k.i64(0));
    Value last = k.div(k.add(end, spec.queries - 1), spec.queries);
    forLoop(k, k.div(begin, spec.queries), last, k.i64(1), emitHead);
  }

  /// Emits strips of queries, which begin at the same queries of every head. A strip in two chains
  /// is computed for both, and each chain adds its own terms.
  void emitQueries(Value begin, Value end) {
    Value first = plan.singleChains() ? k.i64(0) : roundDown(begin, plan.strip);
    Value last = plan.singleChains() ? k.i64(spec.queries) : end;
    forLoop(k, first, last, k.i64(plan.strip), [&](Value i0) {
      Value count = k.min(k.i64(plan.strip), k.sub(k.i64(spec.queries), i0));
      if (plan.singleChains())
        return emitStrip(i0, count, k.i64(0), count);
      emitStrip(i0, count, clamp(k.sub(begin, i0), k.i64(0), count),
                clamp(k.sub(end, i0), k.i64(0), count));
    });
  }

  Value scaled(Value x, double scale) {
    return scale == 1
               ? x
               : arith::MulFOp::create(b, x, emitConstant(b, x.getType(), scale)).getResult();
  }

  /// Returns row `row` of a stored result.
  Value outputRow(unsigned result, int64_t columns, Value row) {
    return emitAddress(b, spec.type, k.buffer(buffers.output(spec, result)), k.mul(row, columns));
  }

  /// Emits the queries [i0, i0 + count), of which [first, last) are terms of the chain.
  void emitStrip(Value i0, Value count, Value first, Value last) {
    if (spec.hasMask)
      mask.build(head, i0, count);
    emitStatistics(i0, count);
    Value query = headBase(buffers.query, spec.type, spec.query, head);
    Value dout = headBase(buffers.dout, spec.type, spec.dout, head);
    packQueries(query, spec.query, i0, count, packedQuery);
    packQueries(dout, spec.dout, i0, count, packedDout);
    emitScoreGradients(i0, count);
    auto stripOf = [&](Value from, const AttentionStrides &strides, int64_t copies) {
      return rowsFor(emitAddress(b, spec.type, from, k.mul(i0, strides.row)), strides, count,
                     workspace(copies), plan.isDirect(strides, true));
    };
    AttentionMask *masked = spec.hasMask ? &mask : nullptr;
    QueryRange terms{i0, first, last};
    if (spec.stored[1])
      contractQueries(gradients, stripOf(query, spec.query, offsets.queries), terms, dkey, masked);
    if (spec.stored[2])
      contractQueries(dropped, stripOf(dout, spec.dout, offsets.douts), terms, dvalue, masked);
    if (spec.isStored(3))
      storeScores(i0, count);
    if (!spec.stored[0])
      return;
    Value dquery = workspace(offsets.dquery);
    forChains(spec.keys, dquery, plan.strip * plan.ld(spec.depth()), [&](Value c, Value slot) {
      contractKeys(gradients, keys, i0, count, c, slot, masked);
    });
    Value to = outputRow(0, spec.depth(), k.add(k.mul(head.number, spec.queries), i0));
    storeRows(dquery, count, spec.depth(), to,
              [&](Value x, Value) { return scaled(x, spec.scale); });
  }

  /// Computes delta = Σ_d dout · out − dlse, and lse, of each query of the strip.
  void emitStatistics(Value i0, Value count) {
    auto statistic = [&](unsigned buffer, const AttentionStrides &strides, Value i) {
      Value base = headBase(buffer, plan.compute, strides, head);
      return emitLoad(b, plan.compute, base, k.mul(i, strides.row));
    };
    Value out = headBase(buffers.out, spec.type, spec.out, head);
    Value dout = headBase(buffers.dout, spec.type, spec.dout, head);
    Value terms = workspace(offsets.terms);
    // +0 changes no sum here, since sums that start from +0 are never -0.
    int64_t columns = spec.valueDepth();
    for (int64_t d = columns; d < static_cast<int64_t>(llvm::alignTo(columns, sumLanes)); ++d)
      emitStore(b, plan.compute, emitConstant(b, plan.compute, 0), terms, k.i64(d));
    forLoop(k, k.i64(0), count, k.i64(1), [&](Value row) {
      Value i = k.add(i0, row);
      emitProducts(emitAddress(b, spec.type, out, k.mul(i, spec.out.row)),
                   emitAddress(b, spec.type, dout, k.mul(i, spec.dout.row)), terms);
      Value sum = sumInLanes(terms);
      if (spec.hasDlse)
        sum = arith::SubFOp::create(b, sum, statistic(buffers.dlse, spec.dlse, i));
      emitStore(b, plan.compute, sum, delta, row);
      emitStore(b, plan.compute, statistic(buffers.lse, spec.lse, i), statistics, row);
    });
  }

  void emitProducts(Value out, Value dout, Value to) {
    bool dense = spec.out.depth == 1 && spec.dout.depth == 1;
    int64_t columns = spec.valueDepth(), whole = dense ? columns / plan.width * plan.width : 0;
    auto multiply = [&](int64_t lo, int64_t hi, int64_t step) {
      if (lo == hi)
        return;
      forLoop(k, k.i64(lo), k.i64(hi), k.i64(step), [&](Value d) {
        Value left = emitLoadWide(b, spec.type, dout, k.mul(d, spec.dout.depth), step);
        Value right = emitLoadWide(b, spec.type, out, k.mul(d, spec.out.depth), step);
        emitStore(b, plan.compute, arith::MulFOp::create(b, left, right), to, d);
      });
    };
    multiply(0, whole, plan.width);
    multiply(whole, columns, 1);
  }

  /// The sum of a row's terms, padded with +0, in the order of a reduction of the last dimension.
  Value sumInLanes(Value terms) {
    Carried lanes(sumLanes / plan.width, emitConstant(b, vectorType(), 0));
    lanes = forLoop(k, k.i64(0), k.i64(spec.valueDepth()), k.i64(sumLanes), lanes,
                    [&](Value d, ValueRange carried) {
                      Carried next;
                      for (auto [v, sum] : llvm::enumerate(carried)) {
                        Value at = k.add(d, static_cast<int64_t>(v) * plan.width);
                        Value term = emitLoad(b, plan.compute, terms, at, plan.width);
                        next.push_back(arith::AddFOp::create(b, sum, term));
                      }
                      return next;
                    });
    for (size_t half = lanes.size() / 2; half; half /= 2)
      for (size_t v = 0; v < half; ++v)
        lanes[v] = arith::AddFOp::create(b, lanes[v], lanes[v + half]);
    Value sum = lanes[0];
    for (int64_t half = plan.width / 2; half; half /= 2) {
      auto part = [&](int64_t from) {
        return vector::ExtractStridedSliceOp::create(b, sum, from, half, 1).getResult();
      };
      sum = arith::AddFOp::create(b, part(0), part(half));
    }
    return vector::ExtractOp::create(b, sum, 0);
  }

  /// Fills `dropped` and `gradients`. What no query sees in the end is nobody's term.
  void emitScoreGradients(Value i0, Value count) {
    Value limit = visibleTo(k.add(i0, k.add(count, -1)));
    if (spec.hasMask)
      limit = k.min(limit, mask.limit);
    // The last block includes the remaining keys, because its last tile may overlap only rows of
    // its own block.
    int64_t last = (std::max<int64_t>(1, spec.keys / plan.keyBlock) - 1) * plan.keyBlock;
    forLoop(k, k.i64(0), k.min(limit, k.i64(last + 1)), k.i64(plan.keyBlock), [&](Value key0) {
      Value isLast = compare(arith::CmpIPredicate::eq, key0, k.i64(last));
      Value rest = arith::SelectOp::create(b, isLast, k.i64(spec.keys), k.add(key0, plan.keyBlock));
      Value end = k.min(limit, rest);
      auto endOf = [&](Value column, int64_t lanes) {
        return k.min(end, visibleTo(k.add(i0, k.add(column, lanes - 1))));
      };
      forLoop(k, k.i64(0), count, k.i64(plan.lanes), [&](Value column) {
        Value until = endOf(column, plan.lanes);
        products(keys, packedQueries(packedQuery, spec.query, column), column, key0, until,
                 k.i64(0), dropped);
        products(values, packedQueries(packedDout, spec.dout, column), column, key0, until,
                 k.i64(0), gradients);
      });
      forLoop(k, k.i64(0), count, k.i64(plan.width), [&](Value column) {
        Value positions = spec.draws() ? dropout.rowPositions(head, k.add(i0, column)) : Value();
        Value lse = emitLoad(b, plan.compute, statistics, column, plan.width);
        Value deltas = emitLoad(b, plan.compute, delta, column, plan.width);
        Column own{column, positions, lse, deltas, {}};
        if (spec.hasBias)
          own.bias = bias.rows(head, k.add(i0, column));
        forLoop(k, key0, endOf(column, plan.width), k.i64(4),
                [&](Value key) { emitGroup(own, key); });
      });
    });
  }

  /// Register of queries.
  struct Column {
    Value at;        // index in the strip
    Value positions; // positions of the words of dropout
    Value lse, deltas;
    AttentionBias::Rows bias;
  };

  /// Emits four keys.
  void emitGroup(const Column &column, Value key) {
    std::array<Value, 4> words;
    if (spec.draws())
      words = dropout.words(column.positions, key);
    for (int64_t u = 0; u < 4; ++u) {
      Value at = k.add(k.mul(k.add(key, u), plan.strip), column.at);
      Value score = scaledScore(emitLoad(b, plan.compute, dropped, at, plan.width));
      if (spec.hasBias)
        score = arith::AddFOp::create(b, score, bias.at(column.bias, k.add(key, u)));
      Value p = emitExp(b, arith::SubFOp::create(b, score, column.lse)), kept = p;
      Value dp = emitLoad(b, plan.compute, gradients, at, plan.width);
      if (spec.draws())
        kept = dropout.apply(words[u], p), dp = dropout.apply(words[u], dp);
      Value ds = arith::MulFOp::create(b, p, arith::SubFOp::create(b, dp, column.deltas));
      emitStore(b, plan.compute, kept, dropped, at);
      emitStore(b, plan.compute, ds, gradients, at);
    }
  }

  Value scaledScore(Value sum) {
    return arith::MulFOp::create(b, sum, emitConstant(b, vectorType(), spec.scale));
  }

  /// Stores ds of the strip, row by row; +0 for keys that a query does not see.
  void storeScores(Value i0, Value count) {
    Value row0 = k.add(k.mul(head.number, spec.queries), i0);
    Value zero = emitConstant(b, plan.compute, 0);
    forLoop(k, k.i64(0), count, k.i64(1), [&](Value row) {
      Value to = emitAddress(b, plan.compute, k.buffer(buffers.output(spec, 3)),
                             k.mul(k.add(row0, row), spec.keys));
      Value visible = visibleTo(k.add(i0, row));
      forLoop(k, k.i64(0), visible, k.i64(1), [&](Value key) {
        Value x = emitLoad(b, plan.compute, gradients, k.add(k.mul(key, plan.strip), row));
        if (spec.hasMask)
          x = arith::SelectOp::create(b, mask.seesOne(row, key), x, zero);
        emitStore(b, plan.compute, x, to, key);
      });
      forLoop(k, visible, k.i64(spec.keys), k.i64(1),
              [&](Value key) { emitStore(b, plan.compute, zero, to, key); });
    });
  }

  AttentionBuffers buffers;
  AttentionBias bias;
  AttentionMask mask;
  AttentionDropout dropout;
  const BackwardWorkspace &offsets;
  HeadIndex head;
  RowMatrix keys, values;
  Value packedQuery, packedDout, dropped, gradients, delta, statistics, dkey, dvalue;
};

} // namespace

EmittedLaunch emitAttentionBackward(ModuleOp kernels, StringRef name, const AttentionSpec &spec,
                                    const CpuTarget &target) {
  if (!spec.batch || !spec.heads)
    return {};
  AttentionPlan plan(spec, target);
  BackwardWorkspace offsets(plan);
  KernelBuilder k(kernels, name);
  BackwardEmitter(k, plan, offsets).emit();
  EmittedCommand command{name.str(), spec.batch * spec.keyHeads,
                         AttentionBuffers::ofBackward(spec).slots(spec), offsets.layout.bytes};
  return {{command}, 0};
}

} // namespace reprise
