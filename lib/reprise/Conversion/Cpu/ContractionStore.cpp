// reprise: emits the store of the finished sums of a contraction
#include "ContractionEmit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numeric>

using namespace mlir;

namespace reprise {

/// Transposes a block whose lanes ran along the result's rows.
static ContractionBlock transpose(KernelBuilder &k, const ContractionContext &context,
                                  const ContractionBlock &from) {
  const ContractionPlan &plan = context.plan;
  Type type = plan.accumulator;
  Value to = bytesFrom(k, k.workspace(), context.transposed);
  Value ld = k.sub(from.row1, from.row0), lanes = k.sub(from.column1, from.column0);
  int64_t square = 32 / plan.accumulatorBytes();
  Value wholeRows = k.sub(ld, k.rem(ld, square)), wholeLanes = k.sub(lanes, k.rem(lanes, square));
  auto oneByOne = [&](Value lane, Value firstRow) {
    forLoop(k, firstRow, ld, k.i64(1), [&](Value row) {
      Value value = emitLoad(k.b, type, from.scratch, k.add(k.mul(row, from.ld), lane));
      emitStore(k.b, type, value, to, k.add(k.mul(lane, ld), row));
    });
  };
  forLoop(k, k.i64(0), wholeLanes, k.i64(square), [&](Value lane) {
    forLoop(k, k.i64(0), wholeRows, k.i64(square), [&](Value row) {
      SmallVector<Value> lines;
      for (int64_t i = 0; i < square; ++i)
        lines.push_back(
            emitLoad(k.b, type, from.scratch, k.add(k.mul(k.add(row, i), from.ld), lane), square));
      transposeSquare(k, lines);
      for (int64_t i = 0; i < square; ++i)
        emitStore(k.b, type, lines[i], to, k.add(k.mul(k.add(lane, i), ld), row));
    });
    forLoop(k, lane, k.add(lane, square), k.i64(1), [&](Value at) { oneByOne(at, wholeRows); });
  });
  forLoop(k, wholeLanes, lanes, k.i64(1), [&](Value lane) { oneByOne(lane, k.i64(0)); });
  return {to, ld, from.batch, from.column0, from.column1, from.row0, from.row1, plan.rows.sliver};
}

static int64_t sizeOf(ArrayRef<FreeDim> dims) {
  int64_t size = 1;
  for (FreeDim dim : dims)
    size *= dim.size;
  return size;
}

/// Returns the columns of one of the result's matrices.
static int64_t columnsOf(const ContractionSpec &spec) {
  return sizeOf(spec.columns) / spec.columnGroups;
}

/// Rounds a block to the result's type and stores it, row-major [batch, rows, columns].
static void storeResult(KernelBuilder &k, const ContractionSpec &spec,
                        const ContractionBlock &block) {
  Type type = spec.resultType, accumulator = spec.accumulatorType();
  Value count = k.sub(block.column1, block.column0);
  forLoop(k, block.row0, block.row1, k.i64(1), [&](Value row) {
    Value from = k.mul(k.sub(row, block.row0), block.ld);
    Value index = k.mul(k.add(k.mul(block.batch, sizeOf(spec.rows)), row), columnsOf(spec));
    Value to = emitAddress(k.b, type, k.buffer(2), k.add(index, block.column0));
    Value done = k.i64(0);
    for (int64_t width : {16, 4, 1}) {
      Value end = k.sub(count, k.rem(count, width));
      forLoop(k, done, end, k.i64(width), [&](Value at) {
        Value sums = emitLoad(k.b, accumulator, block.scratch, k.add(from, at), width);
        emitStoreRounded(k.b, type, sums, to, at);
      });
      done = end;
    }
  });
}

void storeBlock(KernelBuilder &k, const ContractionSpec &spec, const ContractionHooks &hooks,
                const ContractionBlock &block) {
  if (hooks.epilogue)
    hooks.epilogue(k, block);
  else
    storeResult(k, spec, block);
}

/// Runs `body` for the parts of a block that lie in one matrix each.
static void splitColumns(KernelBuilder &k, const ContractionContext &context,
                         const ContractionBlock &block,
                         llvm::function_ref<void(const ContractionBlock &)> body) {
  if (context.spec.columnGroups == 1)
    return body(block);
  int64_t columns = columnsOf(context.spec);
  Value first = k.div(block.column0, columns);
  Value end = k.add(k.div(k.sub(block.column1, k.i64(1)), columns), 1);
  forLoop(k, first, end, k.i64(1), [&](Value group) {
    Value start = k.mul(group, columns);
    Value column0 = arith::MaxSIOp::create(k.b, block.column0, start);
    Value column1 = k.min(block.column1, k.add(start, columns));
    ContractionBlock part = block;
    part.scratch =
        emitAddress(k.b, context.plan.accumulator, block.scratch, k.sub(column0, block.column0));
    part.batch = k.add(k.mul(group, context.plan.batch), block.batch);
    part.column0 = k.sub(column0, start);
    part.column1 = k.sub(column1, start);
    part.columnStep = std::gcd(block.columnStep, columns);
    body(part);
  });
}

void emitResults(KernelBuilder &k, const ContractionContext &context,
                 const ContractionBlock &block) {
  ContractionBlock result = context.plan.swapped ? transpose(k, context, block) : block;
  splitColumns(k, context, result, [&](const ContractionBlock &part) {
    storeBlock(k, context.spec, context.hooks, part);
  });
}

} // namespace reprise
