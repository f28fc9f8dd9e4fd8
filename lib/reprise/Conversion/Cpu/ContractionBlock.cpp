// reprise: emits one block of a contraction's results, with all of its terms
#include "ContractionEmit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace reprise {
namespace {

class BlockEmitter {
public:
  BlockEmitter(KernelBuilder &k, const ContractionContext &context, Value batch,
               const BlockOperand &rows, const BlockOperand &lanes)
      : k(k), context(context), plan(context.plan), batch(batch), rows(rows), lanes(lanes) {}

  void emit() {
    if (plan.strips)
      return emitStrips();
    emitChains();
    if (!plan.inPlace)
      store(k.mul(rows.begin, plan.rows.sliver), k.mul(rows.end, plan.rows.sliver));
  }

private:
  /// Hands rows [row0, row1), cut at the last one, to the epilogue.
  void store(Value row0, Value row1) {
    Value lane0 = k.mul(lanes.begin, plan.lanes.sliver);
    Value lane1 = k.min(k.mul(lanes.end, plan.lanes.sliver), k.i64(plan.lanes.freeSize));
    row1 = k.min(row1, k.i64(plan.rows.freeSize));
    emitResults(k, context,
                {scratch(k.i64(0)), k.i64(plan.scratchLd), batch, row0, row1, lane0, lane1,
                 plan.lanes.sliver});
  }

  /// Emits all terms of one sliver of rows before the next sliver.
  void emitStrips() {
    Value k0 = k.i64(0);
    packPrivately(plan.rows, rows, k0);
    packPrivately(plan.lanes, lanes, k0);
    int64_t whole = plan.rows.slivers() - (plan.rows.tail() ? 1 : 0);
    forLoop(k, rows.begin, rows.end, k.i64(1), [&](Value sliver) {
      auto tiles = [&](bool tail) {
        emitSlivers(k, plan.lanes, lanes.begin, lanes.end, [&](Value laneSliver, bool laneTail) {
          prefetch(sliver, laneSliver);
          emitTileAt({sliver, tail, laneSliver, laneTail}, k0, Value(), scratch(k.i64(0)), sliver);
        });
      };
      Value isWhole = arith::CmpIOp::create(k.b, arith::CmpIPredicate::slt, sliver, k.i64(whole));
      if (whole == 0 || whole == plan.rows.slivers())
        tiles(whole == 0);
      else
        ifThen(k.b, isWhole, [&] { tiles(false); }, [&] { tiles(true); });
      Value row0 = k.mul(sliver, plan.rows.sliver);
      store(row0, k.add(row0, plan.rows.sliver));
    });
  }

  /// Lets the epilogue prefetch its memory for a tile while the tile is computed.
  void prefetch(Value rowSliver, Value laneSliver) {
    if (!context.hooks.prefetch || context.spec.columnGroups > 1)
      return;
    auto limits = [&](const OperandPlan &operand, Value sliver) {
      Value begin = k.mul(sliver, operand.sliver);
      return std::pair(begin, k.min(k.add(begin, operand.sliver), k.i64(operand.freeSize)));
    };
    auto [row0, row1] = limits(plan.rows, rowSliver);
    auto [lane0, lane1] = limits(plan.lanes, laneSliver);
    context.hooks.prefetch(k,
                           {Value(), Value(), batch, row0, row1, lane0, lane1, plan.lanes.sliver});
  }

  void emitChains() {
    if (plan.chains() == 1)
      return emitChain(k.i64(0), scratch(k.i64(0)));
    // A binary counter of finished chains is the neighbour tree: before chain c its 1 bits are the
    // partial sums.
    ImplicitLocOpBuilder &b = k.b;
    forLoop(k, k.i64(0), k.i64(plan.chains()), k.i64(1), [&](Value chain) {
      Value slot = math::CtPopOp::create(b, chain);
      emitChain(chain, scratch(slot));
      Value carries = math::CountTrailingZerosOp::create(b, k.add(chain, 1));
      addSlots(k.sub(slot, k.i64(1)), carries);
    });
    int64_t left = llvm::popcount(static_cast<uint64_t>(plan.chains())) - 1;
    addSlots(k.i64(left - 1), k.i64(left));
  }

  Value scratch(Value slot) {
    Value base = bytesFrom(k, k.workspace(), context.scratch);
    return emitAddress(k.b, plan.accumulator, base, k.mul(slot, plan.scratchElements()));
  }

  /// Adds slot s + 1 to slot s, for s = from, from − 1, … , `count` times.
  void addSlots(Value from, Value count) {
    forLoop(k, k.i64(0), count, k.i64(1), [&](Value i) {
      Value to = scratch(k.sub(from, i));
      Value other = emitAddress(k.b, plan.accumulator, to, k.i64(plan.scratchElements()));
      forLoop(k, k.i64(0), k.i64(plan.scratchElements()), k.i64(plan.vectorLanes), [&](Value at) {
        Value left = emitLoad(k.b, plan.accumulator, to, at, plan.vectorLanes);
        Value right = emitLoad(k.b, plan.accumulator, other, at, plan.vectorLanes);
        emitStore(k.b, plan.accumulator, arith::AddFOp::create(k.b, left, right), to, at);
      });
    });
  }

  /// Emits one chain of fma for each result of the block, into `to`.
  void emitChain(Value chain, Value to) {
    if (plan.kBlocks() == 1)
      return emitTerms(k.i64(0), Value(), to);
    Value start = k.mul(chain, chainLength);
    Value end = k.min(k.add(start, chainLength), k.i64(plan.terms));
    forLoop(k, start, end, k.i64(plan.kBlock), [&](Value k0) {
      Value first;
      if (plan.kBlock < std::min(plan.terms, chainLength))
        first = arith::CmpIOp::create(k.b, arith::CmpIPredicate::eq, k0, start);
      emitTerms(k0, first, to);
    });
  }

  /// Emits the terms from `k0` on, up to a block of terms.
  void emitTerms(Value k0, Value first, Value to) {
    packPrivately(plan.rows, rows, k0);
    packPrivately(plan.lanes, lanes, k0);
    // The inner loop runs over the operand whose block stays in the second-level cache.
    bool rowsOutside = plan.lanes.packing == Packing::Private;
    const OperandPlan &outer = rowsOutside ? plan.rows : plan.lanes;
    const OperandPlan &inner = rowsOutside ? plan.lanes : plan.rows;
    const BlockOperand &outerBlock = rowsOutside ? rows : lanes;
    const BlockOperand &innerBlock = rowsOutside ? lanes : rows;
    emitSlivers(k, outer, outerBlock.begin, outerBlock.end, [&](Value i, bool iTail) {
      emitSlivers(k, inner, innerBlock.begin, innerBlock.end, [&](Value j, bool jTail) {
        TilePosition at{j, jTail, i, iTail};
        if (rowsOutside)
          at = {i, iTail, j, jTail};
        emitTileAt(at, k0, first, to, rows.begin);
      });
    });
  }

  struct TilePosition {
    Value rowSliver;
    bool rowTail;
    Value laneSliver;
    bool laneTail;
  };

  /// `to` holds the sums from sliver `firstRowSliver` on.
  void emitTileAt(const TilePosition &at, Value k0, Value first, Value to, Value firstRowSliver) {
    TileRequest tile;
    tile.lhs = tileOperand(plan.rows, rows, at.rowSliver, k0);
    tile.rhs = tileOperand(plan.lanes, lanes, at.laneSliver, k0);
    tile.rows = at.rowTail ? plan.rows.tail() : plan.rows.sliver;
    tile.lanes = at.laneTail ? plan.lanes.tail() : plan.lanes.sliver;
    tile.maskRhs = plan.lanes.packing == Packing::None;
    tile.count = countFrom(k, plan, k0);
    tile.first = first;
    tile.ld = plan.inPlace ? plan.lanes.freeSize : plan.scratchLd;
    Value row = k.mul(k.sub(at.rowSliver, firstRowSliver), plan.rows.sliver);
    Value lane = k.mul(k.sub(at.laneSliver, lanes.begin), plan.lanes.sliver);
    if (context.spec.continuesSums) {
      tile.beginLd = plan.lanes.freeSize;
      tile.begin = resultAt(k.buffer(3), at);
    }
    if (plan.inPlace)
      tile.to = resultAt(k.buffer(2), at);
    else
      tile.to = emitAddress(k.b, plan.accumulator, to, k.add(k.mul(row, tile.ld), lane));
    emitTile(k, plan, tile);
  }

  /// Returns the address of a tile in a row-major result.
  Value resultAt(Value buffer, const TilePosition &at) {
    Value row = k.add(k.mul(batch, plan.rows.freeSize), k.mul(at.rowSliver, plan.rows.sliver));
    Value lane = k.mul(at.laneSliver, plan.lanes.sliver);
    return emitAddress(k.b, plan.accumulator, buffer, k.add(k.mul(row, plan.lanes.freeSize), lane));
  }

  TileOperand tileOperand(const OperandPlan &operand, const BlockOperand &block, Value sliver,
                          Value k0) {
    if (operand.packing == Packing::None) {
      Value offset = k.add(k.mul(sliver, operand.sliver * operand.freeStride()),
                           k.mul(k0, operand.contractedStride()));
      return {operand.type, emitAddress(k.b, operand.type, block.base, offset),
              operand.freeStride(), operand.contractedStride()};
    }
    Value base;
    if (operand.packing == Packing::Private)
      base = privateSliver(operand, block, sliver);
    else
      base = sharedSliver(k, context, operand,
                          k.add(k.mul(batch, plan.kBlocks()), k.div(k0, plan.kBlock)), sliver);
    if (operand.lines)
      return {plan.accumulator, base, plan.lineElements(), 1};
    return {plan.accumulator, base, 1, operand.sliver};
  }

  Value privateSliver(const OperandPlan &operand, const BlockOperand &block, Value sliver) {
    int64_t offset = &operand == &plan.rows ? context.rows : context.lanes;
    Value index = k.mul(k.sub(sliver, block.begin), plan.sliverElements(operand));
    return emitAddress(k.b, plan.accumulator, bytesFrom(k, k.workspace(), offset), index);
  }

  void packPrivately(const OperandPlan &operand, const BlockOperand &block, Value k0) {
    if (operand.packing == Packing::Private)
      emitPack(k, plan, operand,
               {block.base, privateSliver(operand, block, block.begin), batch, block.begin,
                block.end, k0, countFrom(k, plan, k0)});
  }

  KernelBuilder &k;
  const ContractionContext &context;
  const ContractionPlan &plan;
  Value batch;
  BlockOperand rows, lanes;
};

} // namespace

void emitBlock(KernelBuilder &k, const ContractionContext &context, Value batch,
               const BlockOperand &rows, const BlockOperand &lanes) {
  BlockEmitter(k, context, batch, rows, lanes).emit();
}

} // namespace reprise
