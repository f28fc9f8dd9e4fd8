// reprise: emits contractions in the canonical order
#include "ContractionEmit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise {

ContractionContext::ContractionContext(const ContractionSpec &spec, const ContractionPlan &plan,
                                       const ContractionHooks &hooks)
    : spec(spec), plan(plan), hooks(hooks) {
  auto bytes = [&](int64_t elements) {
    return llvm::alignTo(elements * plan.accumulatorBytes(), 64);
  };
  auto packed = [&](const OperandPlan &operand, Packing packing) {
    return operand.packing == packing ? bytes(plan.packedElements(operand)) : 0;
  };
  sharedRowBytes = packed(plan.rows, Packing::Shared);
  sharedBytes = sharedRowBytes + packed(plan.lanes, Packing::Shared);
  lanes = rows + packed(plan.rows, Packing::Private);
  scratch = lanes + packed(plan.lanes, Packing::Private);
  transposed = scratch;
  if (!plan.inPlace)
    transposed += bytes(plan.scratchElements() * plan.scratchSlots());
  workerBytes = transposed + (plan.swapped ? bytes(plan.scratchElements()) : 0);
}

Value bytesFrom(KernelBuilder &k, Value base, int64_t offset) {
  return emitAddress(k.b, k.b.getI8Type(), base, k.i64(offset));
}

Value batchBase(KernelBuilder &k, const OperandPlan &operand, Value batch) {
  return emitAddress(k.b, operand.type, k.buffer(operand.buffer),
                     k.add(emitOffset(k, operand.batch, batch), operand.offset));
}

Value countFrom(KernelBuilder &k, const ContractionPlan &plan, Value k0) {
  if (plan.kBlocks() == 1)
    return k.i64(plan.terms);
  if (plan.terms % plan.kBlock == 0)
    return k.i64(plan.kBlock);
  return k.min(k.i64(plan.kBlock), k.sub(k.i64(plan.terms), k0));
}

Value sharedSliver(KernelBuilder &k, const ContractionContext &context, const OperandPlan &operand,
                   Value block, Value sliver) {
  const ContractionPlan &plan = context.plan;
  int64_t offset = &operand == &plan.rows ? 0 : context.sharedRowBytes;
  Value index = k.add(k.mul(block, operand.slivers()), sliver);
  return emitAddress(k.b, plan.accumulator,
                     bytesFrom(k, k.buffer(2 + context.spec.extraBuffers), offset),
                     k.mul(index, plan.sliverElements(operand)));
}

namespace {

/// The command that packs operands for all blocks. An item is a few neighbouring slivers of one
/// block of terms: some 10 µs of work.
class SharedPack {
public:
  SharedPack(const ContractionContext &context) : context(context), plan(context.plan) {}

  int64_t items() const { return itemsOf(plan.rows) + itemsOf(plan.lanes); }
  int64_t movedBytes() const { return movedBytes(plan.rows) + movedBytes(plan.lanes); }

  void emit(ModuleOp module, StringRef name) {
    KernelBuilder k(module, name);
    Value split = k.i64(itemsOf(plan.rows));
    if (itemsOf(plan.rows))
      forLoop(k, k.begin(), k.min(k.end(), split), k.i64(1),
              [&](Value item) { emitItem(k, plan.rows, item); });
    Value begin = arith::MaxSIOp::create(k.b, k.begin(), split);
    if (itemsOf(plan.lanes))
      forLoop(k, begin, k.end(), k.i64(1),
              [&](Value item) { emitItem(k, plan.lanes, k.sub(item, split)); });
    touchEnd(k);
  }

private:
  /// Writes the last bytes, a gap behind the last sliver, once, so that the whole reservation is
  /// visible in a painted arena.
  void touchEnd(KernelBuilder &k) {
    Value isFirst = arith::CmpIOp::create(k.b, arith::CmpIPredicate::eq, k.begin(), k.i64(0));
    ifThen(k.b, isFirst, [&] {
      int64_t elements = context.sharedBytes / plan.accumulatorBytes() - plan.vectorLanes;
      Value zeros = emitConstant(k.b, typeOfLanes(plan.accumulator, plan.vectorLanes), 0);
      emitStore(k.b, plan.accumulator, zeros, k.buffer(2 + context.spec.extraBuffers),
                k.i64(elements));
    });
  }

  int64_t groupSize(const OperandPlan &operand) const {
    return llvm::divideCeil(int64_t(1) << 15, plan.sliverElements(operand));
  }
  int64_t groups(const OperandPlan &operand) const {
    return llvm::divideCeil(operand.slivers(), groupSize(operand));
  }
  int64_t itemsOf(const OperandPlan &operand) const {
    bool shared = operand.packing == Packing::Shared;
    return shared ? plan.batch * plan.kBlocks() * groups(operand) : 0;
  }

  int64_t movedBytes(const OperandPlan &operand) const {
    int64_t elements = plan.batch * plan.terms * operand.freeSize;
    bool shared = operand.packing == Packing::Shared;
    return shared ? elements * (bytesOf(operand.type) + plan.accumulatorBytes()) : 0;
  }

  void emitItem(KernelBuilder &k, const OperandPlan &operand, Value item) {
    Value group = k.rem(item, groups(operand));
    Value block = k.div(item, groups(operand)); // block of batch and terms
    Value k0 = k.mul(k.rem(block, plan.kBlocks()), plan.kBlock);
    Value batch = k.div(block, plan.kBlocks());
    Value begin = k.mul(group, groupSize(operand));
    Value end = k.min(k.add(begin, groupSize(operand)), k.i64(operand.slivers()));
    emitPack(k, plan, operand,
             {batchBase(k, operand, batch), sharedSliver(k, context, operand, block, begin), batch,
              begin, end, k0, countFrom(k, plan, k0)});
  }

  const ContractionContext &context;
  const ContractionPlan &plan;
};

/// Returns block `index` of `blocks`, whose sizes differ by at most one sliver.
BlockOperand blockOf(KernelBuilder &k, const OperandPlan &operand, int64_t blocks, Value index,
                     Value batch) {
  Value begin = k.div(k.mul(index, operand.slivers()), blocks);
  Value end = k.div(k.mul(k.add(index, 1), operand.slivers()), blocks);
  return {begin, end, batchBase(k, operand, batch)};
}

void emitMultiply(ModuleOp module, StringRef name, const ContractionContext &context) {
  const ContractionPlan &plan = context.plan;
  KernelBuilder k(module, name);
  forLoop(k, k.begin(), k.end(), k.i64(1), [&](Value item) {
    Value rowBlock = k.rem(item, plan.rowBlocks);
    Value rest = k.div(item, plan.rowBlocks);
    Value laneBlock = k.rem(rest, plan.laneBlocks);
    Value batch = k.div(rest, plan.laneBlocks);
    emitBlock(k, context, batch, blockOf(k, plan.rows, plan.rowBlocks, rowBlock, batch),
              blockOf(k, plan.lanes, plan.laneBlocks, laneBlock, batch));
  });
}

} // namespace

SmallVector<KernelCommand> emitContraction(ModuleOp module, StringRef name,
                                           const ContractionSpec &spec, const CpuTarget &target,
                                           const ContractionHooks &hooks) {
  if (!spec.continuesSums && isBatched(spec, target))
    return emitBatchedContraction(module, name, spec, target, hooks);
  if (!spec.continuesSums && isDirect(spec))
    return emitDirectContraction(module, name, spec, target, hooks);
  ContractionPlan plan = planContraction(spec, target, hooks);
  ContractionContext context(spec, plan, hooks);
  SmallVector<KernelCommand> commands;
  if (context.sharedBytes) {
    SharedPack pack(context);
    std::string packName = (name + "_pack").str();
    pack.emit(module, packName);
    commands.push_back({packName, pack.items(), context.sharedBytes, 0, pack.movedBytes()});
  }
  emitMultiply(module, name, context);
  commands.push_back({name.str(), plan.items(), context.sharedBytes, context.workerBytes, 0});
  return commands;
}

} // namespace reprise
