// reprise: emits what the kernels of attention and of its backward share
#include "AttentionParts.h"

using namespace mlir;

namespace reprise {

Type AttentionParts::indexType() {
  Type integer = b.getIntegerType(plan.compute.getIntOrFloatBitWidth());
  return KernelBuilder::typeOf(integer, plan.width);
}

HeadIndex AttentionParts::headOf(Value number) {
  return {number, k.div(number, spec.heads), k.rem(number, spec.heads)};
}

Value AttentionParts::headBase(unsigned buffer, Type type, const AttentionStrides &strides,
                               const HeadIndex &head) {
  Value offset = k.add(k.mul(head.batch, strides.batch), k.mul(head.head, strides.head));
  return k.pointer(type, k.buffer(buffer), offset);
}

void AttentionParts::copyRow(Value from, const AttentionStrides &strides, Value to) {
  int64_t width = plan.width, whole = strides.depth == 1 ? spec.depth / width * width : 0;
  auto copy = [&](int64_t lo, int64_t hi, int64_t step) {
    if (lo == hi)
      return;
    k.forLoop(k.i64(lo), k.i64(hi), k.i64(step), [&](Value d) {
      Value at = k.mul(d, strides.depth);
      k.store(plan.compute, k.loadCompute(spec.type, from, at, step), to, d);
    });
  };
  copy(0, whole, width);
  copy(whole, spec.depth, 1);
  for (int64_t d = spec.depth; d < plan.ld; ++d)
    k.store(plan.compute, k.constant(plan.compute, 0), to, k.i64(d));
}

RowMatrix AttentionParts::rowsFor(Value from, const AttentionStrides &strides, Value count,
                                  Value to, bool direct) {
  if (direct)
    return {spec.type, from, strides.row, true};
  k.forLoop(k.i64(0), count, k.i64(1), [&](Value row) {
    copyRow(k.pointer(spec.type, from, k.mul(row, strides.row)), strides,
            element(to, k.mul(row, plan.ld)));
  });
  return {plan.compute, to, plan.ld, false};
}

void AttentionParts::packQueries(Value from, const AttentionStrides &strides, Value i0, Value count,
                                 Value to) {
  ContractionPlan packing = plan.tiles;
  packing.lanes.free = {{spec.queries, strides.row}};
  packing.lanes.contracted = {{spec.depth, strides.depth}};
  Value begin = k.div(i0, plan.lanes);
  Value end = k.div(k.add(k.add(i0, count), plan.lanes - 1), plan.lanes);
  emitPack(k, packing, packing.lanes,
           {from, to, k.i64(0), begin, end, k.i64(0), k.i64(spec.depth)});
}

void AttentionParts::products(const RowMatrix &rows, Value packed, Value column, Value lo, Value hi,
                              Value key0, Value to) {
  int64_t count = plan.scoreRows;
  k.forLoop(lo, hi, k.i64(count), [&](Value j) {
    // The last tile lies so that it ends with the last key; what it computes again stays equal.
    Value row = k.min(j, k.i64(spec.keys - count));
    TileRequest tile;
    tile.lhs = {rows.type, k.pointer(rows.type, rows.base, k.mul(row, rows.rowStride)),
                rows.rowStride, 1};
    tile.rhs = {plan.compute, packed, 1, plan.lanes};
    tile.rows = count;
    tile.lanes = plan.lanes;
    tile.maskRhs = false;
    tile.count = k.i64(spec.depth);
    tile.to = element(to, k.add(k.mul(k.sub(row, key0), plan.strip), column));
    tile.ld = plan.strip;
    emitTile(k, plan.tiles, tile);
  });
}

void AttentionParts::forTiles(Value lo, Value hi, int64_t tail,
                              llvm::function_ref<void(Value, int64_t)> body) {
  Value whole = k.add(lo, roundDown(k.sub(hi, lo), plan.rows));
  k.forLoop(lo, whole, k.i64(plan.rows), [&](Value row) { body(row, plan.rows); });
  if (tail < 0)
    k.forLoop(whole, hi, k.i64(1), [&](Value row) { body(row, 1); });
  if (tail <= 0)
    return;
  Value left = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, whole, hi);
  k.ifThen(left, [&] { body(whole, tail); });
}

void AttentionParts::forDepth(llvm::function_ref<void(Value, int64_t)> body) {
  int64_t tail = spec.depth % plan.depthLanes, whole = spec.depth - tail;
  if (whole)
    k.forLoop(k.i64(0), k.i64(whole), k.i64(plan.depthLanes),
              [&](Value d) { body(d, plan.depthLanes); });
  if (tail)
    body(k.i64(whole), tail);
}

void AttentionParts::tile(TileOperand left, const RowMatrix &right, Value firstTerm, Value count,
                          int64_t rows, Value d, int64_t lanes, Value to, bool resume,
                          Triangle triangle) {
  TileRequest tile;
  tile.lhs = left;
  Value at = k.add(k.mul(firstTerm, right.rowStride), d);
  tile.rhs = {right.type, k.pointer(right.type, right.base, at), 1, right.rowStride};
  tile.rows = rows;
  tile.lanes = lanes;
  tile.maskRhs = right.masked;
  tile.count = count;
  tile.to = element(to, d);
  tile.ld = plan.ld;
  tile.resume = resume;
  tile.triangle = triangle;
  emitTile(k, plan.tiles, tile);
}

void AttentionParts::contractKeys(Value weights, const RowMatrix &right, Value i0, Value count,
                                  Value c, Value to) {
  Value key0 = k.mul(c, chainLength);
  Value terms = k.min(k.i64(chainLength), k.sub(k.i64(spec.keys), key0));
  forDepth([&](Value d, int64_t lanes) {
    auto rowsAt = [&](Value row, int64_t rows, Value terms, Triangle shape) {
      Value left = element(weights, k.add(k.mul(key0, plan.strip), row));
      tile({plan.compute, left, 1, plan.strip}, right, key0, terms, rows, d, lanes,
           element(to, k.mul(row, plan.ld)), false, shape);
    };
    if (!spec.causal)
      return forTiles(k.i64(0), roundUp(count, plan.rows), 0,
                      [&](Value row, int64_t rows) { rowsAt(row, rows, terms, Triangle::None); });
    if (plan.singleChains())
      return forTiles(k.i64(0), count, spec.queries % plan.rows, [&](Value row, int64_t rows) {
        rowsAt(row, rows, visibleTo(k.add(i0, row)), Triangle::Trailing);
      });
    forTiles(k.i64(0), roundUp(count, plan.rows), 0, [&](Value row, int64_t rows) {
      Value all = compare(arith::CmpIPredicate::sge, visibleTo(k.add(i0, row)), k.add(key0, terms));
      auto singly = [&] {
        k.forLoop(row, k.add(row, rows), k.i64(1), [&](Value single) {
          Value visible = k.sub(visibleTo(k.add(i0, single)), key0);
          rowsAt(single, 1, clamp(visible, k.i64(0), terms), Triangle::None);
        });
      };
      k.ifThen(all, [&] { rowsAt(row, rows, terms, Triangle::None); }, singly);
    });
  });
}

void AttentionParts::zero(Value to, Value count) {
  k.forLoop(k.i64(0), count, k.i64(plan.width),
            [&](Value at) { k.store(plan.compute, k.constant(vectorType(), 0), to, at); });
}

/// Adds slot s + 1 to slot s, for s = from, from − 1, … , `count` times.
void AttentionParts::addSlots(Value slots, int64_t elements, Value from, Value count) {
  k.forLoop(k.i64(0), count, k.i64(1), [&](Value i) {
    Value to = element(slots, k.mul(k.sub(from, i), elements));
    Value other = element(to, k.i64(elements));
    k.forLoop(k.i64(0), k.i64(elements), k.i64(plan.width), [&](Value at) {
      Value left = k.load(plan.compute, to, at, plan.width);
      Value right = k.load(plan.compute, other, at, plan.width);
      k.store(plan.compute, arith::AddFOp::create(b, left, right), to, at);
    });
  });
}

void AttentionParts::forChains(int64_t terms, Value slots, int64_t elements,
                               llvm::function_ref<void(Value, Value)> chain) {
  int64_t chains = AttentionPlan::chainsOf(terms);
  if (chains == 1)
    return chain(k.i64(0), slots);
  // A binary counter of finished chains is the neighbour tree: before chain c its 1 bits are the
  // partial sums.
  k.forLoop(k.i64(0), k.i64(chains), k.i64(1), [&](Value c) {
    Value slot = math::CtPopOp::create(b, c);
    chain(c, element(slots, k.mul(slot, elements)));
    Value carries = math::CountTrailingZerosOp::create(b, k.add(c, 1));
    addSlots(slots, elements, k.sub(slot, k.i64(1)), carries);
  });
  int64_t left = llvm::popcount(static_cast<uint64_t>(chains)) - 1;
  addSlots(slots, elements, k.i64(left - 1), k.i64(left));
}

void AttentionParts::storeRows(Value from, Value count, Value to,
                               llvm::function_ref<Value(Value, Value)> map) {
  int64_t whole = spec.depth / plan.width * plan.width;
  k.forLoop(k.i64(0), count, k.i64(1), [&](Value row) {
    Value source = element(from, k.mul(row, plan.ld));
    Value target = k.pointer(spec.type, to, k.mul(row, spec.depth));
    auto copy = [&](int64_t lo, int64_t hi, int64_t step) {
      if (lo < hi)
        k.forLoop(k.i64(lo), k.i64(hi), k.i64(step), [&](Value d) {
          Value value = k.load(plan.compute, source, d, step);
          k.storeCompute(spec.type, map(value, row), target, d);
        });
    };
    copy(0, whole, plan.width);
    copy(whole, spec.depth, 1);
  });
}

} // namespace reprise
