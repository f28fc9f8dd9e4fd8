// reprise: sums of many short scatters on a GPU: a warp adds a table's updates in index order
#include "../LoopNest/AloneOps.h"
#include "ThreadAlone.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace reprise {

using namespace nests;

// Fewer warps leave most of a GPU idle; more updates one after the other take longer than a sort.
static constexpr int64_t kLeastTables = 512, kMostUpdates = 1 << 15, kWarp = 32;

namespace {

class WarpScatter : public ScatterShape {
public:
  explicit WarpScatter(AloneOp nest) : ScatterShape(nest.getOp()) {}

  /// Returns whether there are many tables of single elements in the type of arithmetic, with few
  /// updates each.
  bool fits() const {
    return !replaces && columns == 1 && type == compute && batches >= kLeastTables && updates > 0 &&
           updates <= kMostUpdates && rows < INT32_MAX;
  }

  void clear(KernelBuilder &k, Value item) const {
    int64_t lanes = vectorLanes(batches * rows);
    Value zero = emitConstant(k.b, typeOfLanes(type, lanes), 0);
    emitStore(k.b, type, zero, k.buffer(0), k.mul(item, lanes), lanes);
  }

  /// Adds the updates of one table, 32 at a time. All lanes of a warp run it together.
  void addUpdates(KernelBuilder &k, Value item) const {
    Value table = k.div(item, kWarp), lane = k.rem(item, kWarp);
    int64_t steps = (updates + kWarp - 1) / kWarp;
    forLoop(k, k.i64(0), k.i64(steps), k.i64(1),
            [&](Value step) { addStep(k, table, lane, k.add(k.mul(step, kWarp), lane)); });
  }

private:
  void addStep(KernelBuilder &k, Value table, Value lane, Value update) const;
  Value toInt(KernelBuilder &k, Value value) const {
    return arith::TruncIOp::create(k.b, k.b.getI32Type(), value);
  }
  /// Returns the lanes of the warp with the same value, as bits.
  Value findEqual(KernelBuilder &k, Value value) const {
    Value all = arith::ConstantIntOp::create(k.b, -1, 32);
    return NVVM::MatchSyncOp::create(k.b, k.b.getI32Type(), all, value, NVVM::MatchSyncKind::any);
  }
  Value findMost(KernelBuilder &k, Value count) const {
    ImplicitLocOpBuilder &b = k.b;
    Value most = exchangeAll(k, count, kWarp,
                             [&](Value x, Value y) { return arith::MaxUIOp::create(b, x, y); });
    return arith::ExtUIOp::create(b, b.getI64Type(), most);
  }
};

/// Adds one step of updates. Lanes whose updates have the same element take turns, in order.
void WarpScatter::addStep(KernelBuilder &k, Value table, Value lane, Value update) const {
  ImplicitLocOpBuilder &b = k.b;
  Value isThere =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, update, k.i64(updates)).getResult();
  Value from = k.add(k.mul(table, updates), k.min(update, k.i64(updates - 1)));
  Value position = loadPosition(k, indexType, k.buffer(indexBuffer()), from, rows);
  Value summand = emitLoad(b, type, k.buffer(updateBuffer()), from);
  // A lane without an update meets no other one.
  Value own = arith::SelectOp::create(b, isThere, position, k.sub(k.i64(-1), lane));
  Value equal = findEqual(k, toInt(k, own));
  Value one = arith::ConstantIntOp::create(b, 1, 32);
  Value before = arith::SubIOp::create(b, arith::ShLIOp::create(b, one, toInt(k, lane)), one);
  Value turn = math::CtPopOp::create(b, arith::AndIOp::create(b, equal, before));
  Value turns = findMost(k, math::CtPopOp::create(b, equal));
  Value to = k.add(k.mul(table, rows), position), result = k.buffer(resultBuffer());
  forLoop(k, k.i64(0), turns, k.i64(1), [&](Value now) {
    Value isTurn = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, turn, toInt(k, now));
    ifThen(b, arith::AndIOp::create(b, isTurn, isThere), [&] {
      Value sum = arith::AddFOp::create(b, emitLoad(b, type, result, to), summand);
      emitStore(b, type, sum, result, to);
    });
    k.meetWarp();
  });
}

} // namespace

bool emitWarpScatter(ThreadCommands &commands, AloneOp nest) {
  WarpScatter scatter(nest);
  if (!scatter.fits())
    return false;
  int64_t elements = scatter.batches * scatter.rows;
  commands.add({nest.getBuffers()[scatter.resultBuffer()]}, elements / vectorLanes(elements),
               [&](KernelBuilder &k, Value item) { scatter.clear(k, item); });
  commands.add(nest.getBuffers(), scatter.batches * kWarp,
               [&](KernelBuilder &k, Value item) { scatter.addUpdates(k, item); });
  return true;
}

} // namespace reprise
