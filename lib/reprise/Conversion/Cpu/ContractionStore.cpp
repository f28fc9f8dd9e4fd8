// reprise: emits what happens to the finished sums of a contraction
#include "ContractionEmit.h"

using namespace mlir;

namespace reprise {

/// Brings a block whose lanes ran along the result's rows into its order.
static ContractionBlock transpose(KernelBuilder &k, const ContractionContext &context,
                                  const ContractionBlock &from) {
  Type type = context.plan.accumulator;
  Value to = bytesFrom(k, k.workspace(), context.transposed);
  Value ld = k.sub(from.row1, from.row0);
  k.forLoop(k.i64(0), k.sub(from.column1, from.column0), k.i64(1), [&](Value lane) {
    k.forLoop(k.i64(0), ld, k.i64(1), [&](Value row) {
      Value value = k.load(type, from.scratch, k.add(k.mul(row, from.ld), lane));
      k.store(type, value, to, k.add(k.mul(lane, ld), row));
    });
  });
  return {to,           ld,        from.batch, from.column0,
          from.column1, from.row0, from.row1,  context.plan.rows.sliver};
}

/// Rounds a block to the result's type and stores it, row-major [batch, rows, columns].
static void storeResult(KernelBuilder &k, const ContractionContext &context,
                        const ContractionBlock &block) {
  const ContractionPlan &plan = context.plan;
  Type type = context.spec.resultType;
  int64_t rows = plan.swapped ? plan.lanes.freeSize : plan.rows.freeSize;
  int64_t columns = plan.swapped ? plan.rows.freeSize : plan.lanes.freeSize;
  Value count = k.sub(block.column1, block.column0);
  Value whole = k.sub(count, k.rem(count, plan.vectorLanes));
  k.forLoop(block.row0, block.row1, k.i64(1), [&](Value row) {
    Value from = k.mul(k.sub(row, block.row0), block.ld);
    Value index = k.mul(k.add(k.mul(block.batch, rows), row), columns);
    Value to = k.pointer(type, k.buffer(2), k.add(index, block.column0));
    auto copy = [&](Value low, Value high, int64_t width) {
      k.forLoop(low, high, k.i64(width), [&](Value at) {
        Value sums = k.load(plan.accumulator, block.scratch, k.add(from, at), width);
        k.storeCompute(type, sums, to, at);
      });
    };
    copy(k.i64(0), whole, plan.vectorLanes);
    copy(whole, count, 1);
  });
}

void emitStore(KernelBuilder &k, const ContractionContext &context, const ContractionBlock &block) {
  ContractionBlock result = context.plan.swapped ? transpose(k, context, block) : block;
  if (context.hooks.epilogue)
    context.hooks.epilogue(k, result);
  else
    storeResult(k, context, result);
}

} // namespace reprise
