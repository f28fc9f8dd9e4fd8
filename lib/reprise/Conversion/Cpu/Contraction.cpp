// reprise: emits contractions in the canonical order
#include "ContractionPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace reprise {
namespace {

/// Byte offsets of what a worker keeps in its workspace.
struct Workspace {
  explicit Workspace(const ContractionPlan &plan) {
    auto reserve = [&](int64_t elements) {
      int64_t at = bytes;
      bytes += llvm::alignTo(elements * plan.accumulatorBytes(), 64);
      return at;
    };
    if (plan.rows.packing == Packing::Private)
      rows = reserve(plan.packedElements(plan.rows));
    if (plan.lanes.packing == Packing::Private)
      lanes = reserve(plan.packedElements(plan.lanes));
    if (plan.inPlace)
      return;
    scratch = reserve(plan.scratchElements() * plan.scratchSlots());
    if (plan.swapped)
      transposed = reserve(plan.scratchElements());
  }
  int64_t rows = 0, lanes = 0, scratch = 0, transposed = 0, bytes = 0;
};

/// One operand within the block at hand: slivers [begin, end) and the first element of the batch
/// entry.
struct BlockOperand {
  Value begin, end, base;
};

class ContractionEmitter {
public:
  ContractionEmitter(ModuleOp module, const ContractionSpec &spec, const ContractionPlan &plan,
                     const ContractionHooks &hooks)
      : module(module), spec(spec), plan(plan), hooks(hooks), workspace(plan),
        sharedRowBytes(sharedBytes(plan.rows)) {}

  SmallVector<KernelCommand> emit(StringRef name) {
    SmallVector<KernelCommand> commands;
    int64_t shared = sharedRowBytes + sharedBytes(plan.lanes);
    if (shared) {
      std::string packName = (name + "_pack").str();
      emitSharedPack(packName);
      commands.push_back({packName, packItems(plan.rows) + packItems(plan.lanes), shared, 0});
    }
    emitMultiply(name);
    commands.push_back({name.str(), plan.items(), shared, workspace.bytes});
    return commands;
  }

private:
  int64_t sharedBytes(const OperandPlan &operand) const {
    bool shared = operand.packing == Packing::Shared;
    return shared ? plan.packedElements(operand) * plan.accumulatorBytes() : 0;
  }

  Value bytesFrom(KernelBuilder &k, Value base, int64_t offset) {
    return k.pointer(k.builder().getI8Type(), base, k.i64(offset));
  }

  Value batchBase(KernelBuilder &k, const OperandPlan &operand, Value batch) {
    return k.pointer(operand.type, k.buffer(operand.buffer), emitOffset(k, operand.batch, batch));
  }

  /// Terms in the block of the contracted dimension that starts at `k0`.
  Value countFrom(KernelBuilder &k, Value k0) {
    if (plan.kBlocks() == 1)
      return k.i64(plan.terms);
    if (plan.terms % plan.kBlock == 0)
      return k.i64(plan.kBlock);
    return k.min(k.i64(plan.kBlock), k.sub(k.i64(plan.terms), k0));
  }

  /// Neighbouring slivers that one item of the packing command packs: some 10 µs of work.
  int64_t packGroup(const OperandPlan &operand) const {
    return llvm::divideCeil(int64_t(1) << 15, plan.sliverElements(operand));
  }
  int64_t packGroups(const OperandPlan &operand) const {
    return llvm::divideCeil(operand.slivers(), packGroup(operand));
  }
  int64_t packItems(const OperandPlan &operand) const {
    bool shared = operand.packing == Packing::Shared;
    return shared ? plan.batch * plan.kBlocks() * packGroups(operand) : 0;
  }

  void emitSharedPack(StringRef name) {
    KernelBuilder k(module, name);
    Value split = k.i64(packItems(plan.rows));
    k.forLoop(k.begin(), k.min(k.end(), split), k.i64(1),
              [&](Value item) { emitPackItem(k, plan.rows, item); });
    Value begin = arith::MaxSIOp::create(k.builder(), k.begin(), split);
    k.forLoop(begin, k.end(), k.i64(1),
              [&](Value item) { emitPackItem(k, plan.lanes, k.sub(item, split)); });
  }

  void emitPackItem(KernelBuilder &k, const OperandPlan &operand, Value item) {
    if (!packItems(operand))
      return;
    Value group = k.rem(item, packGroups(operand));
    Value block = k.div(item, packGroups(operand)); // of batch and terms
    Value k0 = k.mul(k.rem(block, plan.kBlocks()), plan.kBlock);
    Value batch = k.div(block, plan.kBlocks());
    Value begin = k.mul(group, packGroup(operand));
    Value end = k.min(k.add(begin, packGroup(operand)), k.i64(operand.slivers()));
    emitPack(k, plan, operand,
             {batchBase(k, operand, batch), sharedSliver(k, operand, block, begin), batch, begin,
              end, k0, countFrom(k, k0)});
  }

  /// A sliver in the shared workspace; `block` counts blocks of terms through all batch entries.
  Value sharedSliver(KernelBuilder &k, const OperandPlan &operand, Value block, Value sliver) {
    int64_t offset = &operand == &plan.rows ? 0 : sharedRowBytes;
    Value index = k.add(k.mul(block, operand.slivers()), sliver);
    return k.pointer(plan.accumulator, bytesFrom(k, k.buffer(2 + spec.extraBuffers), offset),
                     k.mul(index, plan.sliverElements(operand)));
  }

  void emitMultiply(StringRef name) {
    KernelBuilder k(module, name);
    k.forLoop(k.begin(), k.end(), k.i64(1), [&](Value item) {
      Value rowBlock = k.rem(item, plan.rowBlocks);
      Value rest = k.div(item, plan.rowBlocks);
      Value laneBlock = k.rem(rest, plan.laneBlocks);
      Value batch = k.div(rest, plan.laneBlocks);
      BlockOperand rows = blockOf(k, plan.rows, plan.rowBlocks, rowBlock, batch);
      BlockOperand lanes = blockOf(k, plan.lanes, plan.laneBlocks, laneBlock, batch);
      emitChains(k, batch, rows, lanes);
      emitEpilogue(k, batch, rows, lanes);
    });
  }

  /// Block `index` of `blocks`, which differ by one sliver at most.
  BlockOperand blockOf(KernelBuilder &k, const OperandPlan &operand, int64_t blocks, Value index,
                       Value batch) {
    Value begin = k.div(k.mul(index, operand.slivers()), blocks);
    Value end = k.div(k.mul(k.add(index, 1), operand.slivers()), blocks);
    return {begin, end, batchBase(k, operand, batch)};
  }

  void emitChains(KernelBuilder &k, Value batch, const BlockOperand &rows,
                  const BlockOperand &lanes) {
    if (plan.chains() == 1)
      return emitChain(k, batch, rows, lanes, k.i64(0), scratch(k, k.i64(0)));
    // A binary counter of finished chains is the neighbour tree: before chain c its 1 bits are the
    // partial sums.
    ImplicitLocOpBuilder &b = k.builder();
    k.forLoop(k.i64(0), k.i64(plan.chains()), k.i64(1), [&](Value chain) {
      Value slot = math::CtPopOp::create(b, chain);
      emitChain(k, batch, rows, lanes, chain, scratch(k, slot));
      Value carries = math::CountTrailingZerosOp::create(b, k.add(chain, 1));
      addSlots(k, k.sub(slot, k.i64(1)), carries);
    });
    int64_t left = llvm::popcount(static_cast<uint64_t>(plan.chains())) - 1;
    addSlots(k, k.i64(left - 1), k.i64(left));
  }

  Value scratch(KernelBuilder &k, Value slot) {
    Value base = bytesFrom(k, k.workspace(), workspace.scratch);
    return k.pointer(plan.accumulator, base, k.mul(slot, plan.scratchElements()));
  }

  /// Adds slot s + 1 to slot s, for s = from, from − 1, … , `count` times.
  void addSlots(KernelBuilder &k, Value from, Value count) {
    k.forLoop(k.i64(0), count, k.i64(1), [&](Value i) {
      Value to = scratch(k, k.sub(from, i));
      Value other = k.pointer(plan.accumulator, to, k.i64(plan.scratchElements()));
      k.forLoop(k.i64(0), k.i64(plan.scratchElements()), k.i64(plan.vectorLanes), [&](Value at) {
        Value left = k.load(plan.accumulator, to, at, plan.vectorLanes);
        Value right = k.load(plan.accumulator, other, at, plan.vectorLanes);
        k.store(plan.accumulator, arith::AddFOp::create(k.builder(), left, right), to, at);
      });
    });
  }

  /// One chain of fma for each result of the block, into `to`.
  void emitChain(KernelBuilder &k, Value batch, const BlockOperand &rows, const BlockOperand &lanes,
                 Value chain, Value to) {
    if (plan.kBlocks() == 1)
      return emitTerms(k, batch, rows, lanes, k.i64(0), Value(), to);
    Value start = k.mul(chain, chainLength);
    Value end = k.min(k.add(start, chainLength), k.i64(plan.terms));
    k.forLoop(start, end, k.i64(plan.kBlock), [&](Value k0) {
      Value first;
      if (plan.kBlock < std::min(plan.terms, chainLength))
        first = arith::CmpIOp::create(k.builder(), arith::CmpIPredicate::eq, k0, start);
      emitTerms(k, batch, rows, lanes, k0, first, to);
    });
  }

  /// The terms from `k0` on, up to a block of them.
  void emitTerms(KernelBuilder &k, Value batch, const BlockOperand &rows, const BlockOperand &lanes,
                 Value k0, Value first, Value to) {
    Value count = countFrom(k, k0);
    packPrivately(k, plan.rows, rows, batch, k0, count);
    packPrivately(k, plan.lanes, lanes, batch, k0, count);
    auto tileAt = [&](Value rowSliver, bool rowTail, Value laneSliver, bool laneTail) {
      TileRequest tile;
      tile.lhs = tileOperand(k, plan.rows, rows, rowSliver, batch, k0);
      tile.rhs = tileOperand(k, plan.lanes, lanes, laneSliver, batch, k0);
      tile.rows = rowTail ? plan.rows.tail() : plan.rows.sliver;
      tile.lanes = laneTail ? plan.lanes.tail() : plan.lanes.sliver;
      tile.maskRhs = plan.lanes.packing == Packing::None;
      tile.count = count;
      tile.first = first;
      tile.to = sums(k, batch, rows, lanes, rowSliver, laneSliver, to);
      tile.ld = plan.inPlace ? plan.lanes.freeSize : plan.scratchLd;
      emitTile(k, plan, tile);
    };
    // The operand whose block stays in the second-level cache goes round inside.
    bool rowsOutside = plan.lanes.packing == Packing::Private;
    const OperandPlan &outer = rowsOutside ? plan.rows : plan.lanes;
    const OperandPlan &inner = rowsOutside ? plan.lanes : plan.rows;
    const BlockOperand &outerBlock = rowsOutside ? rows : lanes;
    const BlockOperand &innerBlock = rowsOutside ? lanes : rows;
    emitSlivers(k, outer, outerBlock.begin, outerBlock.end, [&](Value i, bool iTail) {
      emitSlivers(k, inner, innerBlock.begin, innerBlock.end, [&](Value j, bool jTail) {
        rowsOutside ? tileAt(i, iTail, j, jTail) : tileAt(j, jTail, i, iTail);
      });
    });
  }

  /// Where the sums of a tile lie.
  Value sums(KernelBuilder &k, Value batch, const BlockOperand &rows, const BlockOperand &lanes,
             Value rowSliver, Value laneSliver, Value scratch) {
    if (!plan.inPlace) {
      Value row = k.mul(k.sub(rowSliver, rows.begin), plan.rows.sliver);
      Value lane = k.mul(k.sub(laneSliver, lanes.begin), plan.lanes.sliver);
      return k.pointer(plan.accumulator, scratch, k.add(k.mul(row, plan.scratchLd), lane));
    }
    Value row = k.add(k.mul(batch, plan.rows.freeSize), k.mul(rowSliver, plan.rows.sliver));
    Value offset = k.add(k.mul(row, plan.lanes.freeSize), k.mul(laneSliver, plan.lanes.sliver));
    return k.pointer(plan.accumulator, k.buffer(2), offset);
  }

  Value privateSliver(KernelBuilder &k, const OperandPlan &operand, const BlockOperand &block,
                      Value sliver) {
    int64_t offset = &operand == &plan.rows ? workspace.rows : workspace.lanes;
    Value index = k.mul(k.sub(sliver, block.begin), plan.sliverElements(operand));
    return k.pointer(plan.accumulator, bytesFrom(k, k.workspace(), offset), index);
  }

  void packPrivately(KernelBuilder &k, const OperandPlan &operand, const BlockOperand &block,
                     Value batch, Value k0, Value count) {
    if (operand.packing != Packing::Private)
      return;
    emitPack(k, plan, operand,
             {block.base, privateSliver(k, operand, block, block.begin), batch, block.begin,
              block.end, k0, count});
  }

  TileOperand tileOperand(KernelBuilder &k, const OperandPlan &operand, const BlockOperand &block,
                          Value sliver, Value batch, Value k0) {
    switch (operand.packing) {
    case Packing::None: {
      Value offset = k.add(k.mul(sliver, operand.sliver * operand.freeStride()),
                           k.mul(k0, operand.contractedStride()));
      return {operand.type, k.pointer(operand.type, block.base, offset), operand.freeStride(),
              operand.contractedStride()};
    }
    case Packing::Private:
      return {plan.accumulator, privateSliver(k, operand, block, sliver), 1, operand.sliver};
    case Packing::Shared: {
      Value terms = k.add(k.mul(batch, plan.kBlocks()), k.div(k0, plan.kBlock));
      return {plan.accumulator, sharedSliver(k, operand, terms, sliver), 1, operand.sliver};
    }
    }
    llvm_unreachable("unknown packing");
  }

  void emitEpilogue(KernelBuilder &k, Value batch, const BlockOperand &rows,
                    const BlockOperand &lanes) {
    if (plan.inPlace)
      return;
    auto range = [&](const OperandPlan &operand, const BlockOperand &block) {
      Value end = k.min(k.mul(block.end, operand.sliver), k.i64(operand.freeSize));
      return std::make_pair(k.mul(block.begin, operand.sliver), end);
    };
    auto [row0, row1] = range(plan.rows, rows);
    auto [lane0, lane1] = range(plan.lanes, lanes);
    ContractionBlock block{
        scratch(k, k.i64(0)), k.i64(plan.scratchLd), batch, row0, row1, lane0, lane1};
    if (plan.swapped)
      block = transpose(k, block);
    if (hooks.epilogue)
      hooks.epilogue(k, block);
    else
      storeResult(k, block);
  }

  /// Brings a block whose lanes ran along the result's rows into its order.
  ContractionBlock transpose(KernelBuilder &k, const ContractionBlock &from) {
    Value to = bytesFrom(k, k.workspace(), workspace.transposed);
    Value ld = k.sub(from.row1, from.row0);
    k.forLoop(k.i64(0), k.sub(from.column1, from.column0), k.i64(1), [&](Value lane) {
      k.forLoop(k.i64(0), ld, k.i64(1), [&](Value row) {
        Value at = k.add(k.mul(row, from.ld), lane);
        Value value = k.load(plan.accumulator, from.scratch, at);
        k.store(plan.accumulator, value, to, k.add(k.mul(lane, ld), row));
      });
    });
    return {to, ld, from.batch, from.column0, from.column1, from.row0, from.row1};
  }

  void storeResult(KernelBuilder &k, const ContractionBlock &block) {
    int64_t rowCount = plan.swapped ? plan.lanes.freeSize : plan.rows.freeSize;
    int64_t columnCount = plan.swapped ? plan.rows.freeSize : plan.lanes.freeSize;
    Value columns = k.sub(block.column1, block.column0);
    Value whole = k.sub(columns, k.rem(columns, plan.vectorLanes));
    k.forLoop(block.row0, block.row1, k.i64(1), [&](Value row) {
      Value from =
          k.pointer(plan.accumulator, block.scratch, k.mul(k.sub(row, block.row0), block.ld));
      Value index = k.mul(k.add(k.mul(block.batch, rowCount), row), columnCount);
      Value to = k.pointer(spec.resultType, k.buffer(2), k.add(index, block.column0));
      auto copy = [&](Value lo, Value hi, int64_t width) {
        k.forLoop(lo, hi, k.i64(width), [&](Value at) {
          k.storeCompute(spec.resultType, k.load(plan.accumulator, from, at, width), to, at);
        });
      };
      copy(k.i64(0), whole, plan.vectorLanes);
      copy(whole, columns, 1);
    });
  }

  ModuleOp module;
  const ContractionSpec &spec;
  const ContractionPlan &plan;
  const ContractionHooks &hooks;
  Workspace workspace;
  int64_t sharedRowBytes; // the packed lanes follow the packed rows
};

} // namespace

SmallVector<KernelCommand> emitContraction(ModuleOp module, StringRef name,
                                           const ContractionSpec &spec, const CpuTarget &target,
                                           const ContractionHooks &hooks) {
  ContractionPlan plan = planContraction(spec, target, hooks);
  return ContractionEmitter(module, spec, plan, hooks).emit(name);
}

} // namespace reprise
