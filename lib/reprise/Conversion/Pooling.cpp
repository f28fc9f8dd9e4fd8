// reprise: the windows of poolings, and their arithmetic, for all targets
#include "Pooling.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise {

//===-- Windows -------------------------------------------------------------------------------===//

PoolRange poolRange(KernelBuilder &k, const PoolAxis &axis, Value i) {
  if (axis.adaptive)
    return {k.div(k.mul(i, axis.image), axis.steps),
            k.div(k.add(k.mul(k.add(i, 1), axis.image), axis.steps - 1), axis.steps)};
  Value begin = k.sub(k.mul(i, axis.stride), k.i64(axis.low));
  return {k.b.createOrFold<arith::MaxSIOp>(begin, k.i64(0)),
          k.min(k.add(begin, axis.window), k.i64(axis.image))};
}

PoolRange coveringRange(KernelBuilder &k, const PoolAxis &axis, Value position) {
  // The two ranges are each other's reverse.
  if (axis.adaptive)
    return {k.div(k.mul(position, axis.steps), axis.image),
            k.div(k.add(k.mul(k.add(position, 1), axis.steps), axis.image - 1), axis.image)};
  auto divide = [&](Value x) {
    return k.div(k.b.createOrFold<arith::MaxSIOp>(x, k.i64(0)), axis.stride);
  };
  return {divide(k.add(position, axis.low - axis.window + axis.stride)),
          k.min(divide(k.add(position, axis.low + axis.stride)), k.i64(axis.steps))};
}

Value emitWins(ImplicitLocOpBuilder &b, Value x, Value leader) {
  using F = arith::CmpFPredicate;
  Value above = arith::CmpFOp::create(b, F::UGT, x, leader);
  Value equal = arith::CmpFOp::create(b, F::OEQ, x, leader);
  Type bits = b.getIntegerType(getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth());
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    bits = vector.clone(bits);
  Value less =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, arith::BitcastOp::create(b, bits, x),
                            arith::BitcastOp::create(b, bits, leader));
  Value better = arith::OrIOp::create(b, above, arith::AndIOp::create(b, equal, less));
  return arith::AndIOp::create(b, better, arith::CmpFOp::create(b, F::ORD, leader, leader));
}

//===-- Planes --------------------------------------------------------------------------------===//

PoolPlanes::PoolPlanes(Operation *op, RankedTensorType image, RankedTensorType pooled)
    : type(image.getElementType()), compute(getComputeType(type)) {
  int64_t spatial = image.getRank() - 2;
  bool adaptive = op->hasAttr("adaptive");
  auto number = [&](StringRef name, int64_t d) {
    return op->getAttrOfType<DenseI64ArrayAttr>(name)[d];
  };
  for (int64_t d = 0; d < spatial; ++d) {
    PoolAxis &axis = axes[2 - spatial + d];
    axis.image = image.getDimSize(d + 2);
    axis.steps = pooled.getDimSize(d + 2);
    axis.adaptive = adaptive;
    if (!adaptive) {
      axis.window = number("window", d);
      axis.stride = number("strides", d);
      axis.low = number("low", d);
    }
  }
}

Carried PoolPlanes::forWindow(KernelBuilder &k, PoolRange rows, PoolRange columns,
                              ValueRange carried,
                              llvm::function_ref<Carried(Value, ValueRange)> body) const {
  return forLoop(k, rows.begin, rows.end, k.i64(1), carried, [&](Value row, ValueRange outer) {
    Value line = k.mul(row, axes[1].image);
    return forLoop(
        k, columns.begin, columns.end, k.i64(1), outer,
        [&](Value column, ValueRange inner) { return body(k.add(line, column), inner); });
  });
}

Value PoolPlanes::emitCount(KernelBuilder &k, PoolRange rows, PoolRange columns) const {
  Value positions = k.mul(k.sub(rows.end, rows.begin), k.sub(columns.end, columns.begin));
  return arith::SIToFPOp::create(k.b, compute, positions);
}

std::pair<Value, Value> PoolPlanes::emitMaximum(KernelBuilder &k, Value from, PoolRange rows,
                                                PoolRange columns) const {
  ImplicitLocOpBuilder &b = k.b;
  Value first = k.add(k.mul(rows.begin, axes[1].image), columns.begin);
  Carried best = {emitLoadWide(b, type, from, first), first};
  best = forWindow(k, rows, columns, best, [&](Value position, ValueRange leader) {
    Value value = emitLoadWide(b, type, from, position);
    Value isBetter = emitWins(b, value, leader[0]);
    return Carried{arith::SelectOp::create(b, isBetter, value, leader[0]).getResult(),
                   arith::SelectOp::create(b, isBetter, position, leader[1]).getResult()};
  });
  return {best[0], best[1]};
}

Value PoolPlanes::emitMean(KernelBuilder &k, Value from, PoolRange rows, PoolRange columns) const {
  ImplicitLocOpBuilder &b = k.b;
  Carried sum = {emitConstant(b, compute, 0)};
  sum = forWindow(k, rows, columns, sum, [&](Value position, ValueRange partial) {
    Value value = emitLoadWide(b, type, from, position);
    return Carried{arith::AddFOp::create(b, partial[0], value).getResult()};
  });
  return arith::DivFOp::create(b, sum[0], emitCount(k, rows, columns));
}

//===-- Launches ------------------------------------------------------------------------------===//

Operation *findPool(Block &body) {
  for (Operation &op : body.without_terminator())
    if (isa<PoolOpInterface>(op))
      return &op;
  return nullptr;
}

FailureOr<SmallVector<int64_t>> findOutputs(Block &body, Operation *op) {
  SmallVector<int64_t> outputs(op->getNumResults(), -1);
  for (auto [number, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    auto result = dyn_cast<OpResult>(value);
    if (!result || result.getOwner() != op || outputs[result.getResultNumber()] >= 0)
      return op->emitError("the kernel of this op can hold only the op and views of its operands");
    outputs[result.getResultNumber()] = static_cast<int64_t>(number);
  }
  return outputs;
}

} // namespace reprise
