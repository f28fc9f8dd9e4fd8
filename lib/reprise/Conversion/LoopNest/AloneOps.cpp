// reprise: what all targets know of the ops that no loop nest computes
#include "AloneOps.h"

#include "../Lanes.h"
#include "Affine.h"
#include "reprise/Conversion/Elementary.h"

using namespace mlir;

namespace reprise::nests {

Type bitsTypeOf(Type elementType) {
  return IntegerType::get(elementType.getContext(), bytesOf(elementType) * 8);
}

Value loadPosition(KernelBuilder &k, Type indexType, Value buffer, Value at, int64_t size) {
  ImplicitLocOpBuilder &b = k.b;
  Value position = emitCast(b, emitLoad(b, indexType, buffer, at), b.getI64Type());
  position = arith::MaxSIOp::create(b, position, k.i64(0));
  return arith::MinSIOp::create(b, position, k.i64(size - 1));
}

ScatterShape::ScatterShape(Operation *op) : replaces(isa<ScatterOp>(op)) {
  auto positions = cast<IndexingOpInterface>(op).getPositions();
  auto table = cast<RankedTensorType>(op->getResult(0).getType());
  auto indices = cast<RankedTensorType>(positions.getType());
  indexType = indices.getElementType();
  type = replaces ? bitsTypeOf(table.getElementType()) : table.getElementType();
  compute = replaces ? type : getComputeType(type);
  rows = table.getDimSize(0);
  columns = table.getNumElements() / rows;
  updates = indices.getNumElements();
  if (isa<ScatterAddAlongOp>(op)) {
    rows = table.getShape().back();
    columns = 1;
    batches = table.getNumElements() / rows;
    updates = indices.getShape().back();
  }
}

CumsumShape::CumsumShape(CumsumOp op) {
  RankedTensorType tensor = op.getType();
  type = tensor.getElementType();
  int64_t dim = op.getDim();
  n = tensor.getDimSize(dim);
  for (int64_t d = 0; d < tensor.getRank(); ++d)
    if (d != dim)
      (d < dim ? outer : inner) *= tensor.getDimSize(d);
}

TopKShape::TopKShape(TopKOp op) {
  RankedTensorType tensor = op.getOperand().getType();
  type = tensor.getElementType();
  indexType = op.getIndices().getType().getElementType();
  n = tensor.getShape().back();
  rows = tensor.getNumElements() / n;
  count = op.getValues().getType().getShape().back();
}

Type TopKShape::keyType() const {
  return IntegerType::get(type.getContext(), getComputeType(type).getIntOrFloatBitWidth());
}

Value TopKShape::emitKey(ImplicitLocOpBuilder &b, Value x) {
  if (!isa<FloatType>(getElementTypeOrSelf(x)))
    return x;
  Lanes l(b, x);
  Value bits = l.toBits(x);
  // A negative number's bits ascend as it falls.
  Value negative = l.compare(arith::CmpIPredicate::slt, bits, l.i(0));
  Value ordered = l.select(negative, l.xorBits(bits, l.i(~l.format.signBit())), bits);
  ordered = l.select(l.compare(arith::CmpFPredicate::OEQ, x, l.f(0)), l.i(0), ordered);
  return l.select(l.compare(arith::CmpFPredicate::UNO, x, x), l.i(~l.format.signBit()), ordered);
}

WindowShape::WindowShape(DynamicUpdateOp op)
    : whole(op.getType()), window(op.getUpdate().getType()),
      bits(bitsTypeOf(whole.getElementType())),
      startType(op.getStarts().getType().getElementType()) {
  for (int64_t d = 0; d < whole.getRank(); ++d)
    if (window.getDimSize(d) != whole.getDimSize(d))
      lastCut = d;
  for (int64_t d = 0; d < whole.getRank(); ++d)
    (d < lastCut ? runs : run) *= window.getDimSize(d);
}

Value WindowShape::placeOf(KernelBuilder &k, Value run) const {
  Value place = k.i64(0);
  SmallVector<int64_t> strides = rowMajorStrides(whole.getShape());
  SmallVector<int64_t> inRuns = rowMajorStrides(window.getShape().take_front(lastCut));
  for (int64_t d = 0; d < whole.getRank() && d <= lastCut; ++d) {
    Value index = loadPosition(k, startType, k.buffer(2), k.i64(d),
                               whole.getDimSize(d) - window.getDimSize(d) + 1);
    if (d < lastCut)
      index = k.add(index, k.rem(k.div(run, inRuns[d]), window.getDimSize(d)));
    place = k.add(place, k.mul(index, strides[d]));
  }
  return place;
}

} // namespace reprise::nests
