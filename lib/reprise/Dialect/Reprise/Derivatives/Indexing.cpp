// reprise: derivatives of reads and writes at computed positions.
#include "Pullback.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

/// Returns the cotangent of operand `i`, converted before a sum to the element type that the
/// operand wants.
static Value inWanted(Pullback &p, unsigned i) {
  return p.convert(p.getRaw(), p.getWanted(i).getElementType());
}

template <> void differentiate(GatherOp op, Pullback &p) {
  if (p.wants(0))
    p.give(0, ScatterAddOp::create(p.b, p.getWanted(0), op.getIndices(), inWanted(p, 0)));
}

template <> void differentiate(ScatterAddOp op, Pullback &p) {
  p.give(1, GatherOp::create(p.b, p.getRaw(), op.getIndices()));
}

template <> void differentiate(TakeAlongOp op, Pullback &p) {
  if (p.wants(0))
    p.give(0, ScatterAddAlongOp::create(p.b, p.getWanted(0), op.getIndices(), inWanted(p, 0)));
}

template <> void differentiate(ScatterAddAlongOp op, Pullback &p) {
  p.give(1, TakeAlongOp::create(p.b, p.getRaw(), op.getIndices()));
}

/// Returns true for each index whose update is the last at its row: the number of each update is
/// scattered to its row, and the number found there afterwards is that of the last update.
static Value findLast(Pullback &p, TypedValue<RankedTensorType> indices, int64_t rows) {
  Type i64 = p.b.getI64Type();
  auto flat = RankedTensorType::get(indices.getType().getNumElements(), i64);
  Value numbers = p.reshape(IotaOp::create(p.b, flat, 0), indices.getType().getShape());
  Value none = p.splat(RankedTensorType::get(rows, i64), -1);
  Value last = ScatterOp::create(p.b, none, indices, numbers);
  return p.compare(ComparePredicate::eq, GatherOp::create(p.b, last, indices), numbers);
}

/// A row that was written to gave nothing, and an update that was written over gave nothing.
template <> void differentiate(ScatterOp op, Pullback &p) {
  Value g = p.getRaw(), indices = op.getIndices();
  auto updates = tensorTypeOf(op.getUpdates()).clone(tensorTypeOf(g).getElementType());
  p.give(0, ScatterOp::create(p.b, g, indices, p.splat(updates, 0)));
  if (!p.wants(2))
    return;
  Value stays = findLast(p, op.getIndices(), tensorTypeOf(g).getDimSize(0));
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, tensorTypeOf(indices).getRank()));
  Value rows = GatherOp::create(p.b, g, indices);
  p.give(2, p.select(p.broadcast(stays, updates.getShape(), dims), rows, p.like(rows, 0)));
}

template <> void differentiate(DynamicSliceOp op, Pullback &p) {
  if (!p.wants(0))
    return;
  Value zeros = p.splat(p.getWanted(0), 0);
  p.give(0, DynamicUpdateOp::create(p.b, zeros, inWanted(p, 0), op.getStarts()));
}

template <> void differentiate(DynamicUpdateOp op, Pullback &p) {
  Value g = p.getRaw(), starts = op.getStarts();
  auto window = tensorTypeOf(op.getUpdate()).clone(tensorTypeOf(g).getElementType());
  p.give(0, DynamicUpdateOp::create(p.b, g, p.splat(window, 0), starts));
  p.give(1, DynamicSliceOp::create(p.b, window, g, starts));
}

} // namespace reprise
