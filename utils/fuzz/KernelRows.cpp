// reprise: reductions, softmax and normalizations in the programs for kernels
#include "KernelValues.h"

using namespace mlir;

namespace reprise::fuzz {

using Shape = KernelValues::Shape;
using TensorType = KernelValues::TensorType;
using Attributes = KernelValues::Attributes;

Value emitReduction(KernelValues &v) {
  TensorType type = v.drawType(1, 4);
  if (v.random.chance(8))
    type = type.clone(v.b.getI32Type());
  bool isFloat = isa<FloatType>(type.getElementType());
  int64_t rank = type.getRank(), kind = v.random.below(10), dim = v.random.below(rank);
  if (kind < 1) {
    Attributes attributes = {v.number("dim", dim)};
    if (v.random.chance(40))
      attributes.push_back(v.b.getNamedAttr("reverse", v.b.getUnitAttr()));
    return v.emit("cumsum", type, v.operand(type), attributes);
  }
  Type position = v.random.chance(50) ? v.b.getI32Type() : v.b.getI64Type();
  Shape shape(type.getShape());
  if (kind < 2) {
    shape.back() = v.random.within(1, std::min<int64_t>(shape.back(), 20));
    return v.emit("top_k", {type.clone(shape), tensor(shape, position)}, v.operand(type));
  }
  if (kind < 3) {
    shape.erase(shape.begin() + dim);
    return v.emit("argmax", tensor(shape, position), v.operand(type), {v.number("dim", dim)});
  }
  Shape dims, left;
  for (int64_t d = 0; d < rank; ++d)
    if (d == dim || v.random.chance(40))
      dims.push_back(d);
    else
      left.push_back(shape[d]);
  static constexpr StringLiteral names[] = {"sum", "max", "min", "prod", "mean", "logsumexp"};
  StringRef name = names[v.random.below(isFloat ? 6 : 4)];
  return v.emit(name, type.clone(left), v.operand(type), {v.numbers("dims", dims)});
}

Value emitRows(KernelValues &v) {
  TensorType type = v.drawType(1, 4);
  Type own = type.getElementType();
  auto rows = tensor(type.getShape().drop_back(), own), statistics = rows.clone(computeType(own));
  auto weight = tensor(type.getShape().take_back(), own);
  Attributes epsilon = {v.real("epsilon", 1e-5)};
  switch (v.random.below(6)) {
  case 0:
    return v.emit("softmax", type, v.operand(type));
  case 1:
    return v.emit("log_softmax", type, v.operand(type));
  case 2: {
    Value labels = v.indices(rows.getShape(), type.getShape().back());
    return v.emit("cross_entropy", rows, {v.operand(type), labels});
  }
  case 3:
    return v.emit("layer_norm", {type, statistics, statistics},
                  {v.operand(type), v.operand(weight), v.operand(weight)}, epsilon);
  case 4:
    return v.emit("rms_norm", {type, statistics}, {v.operand(type), v.operand(weight)}, epsilon);
  default: {
    Shape shape(type.getShape());
    shape.back() += shape.back() % 2;
    if (shape.size() < 2)
      shape.insert(shape.begin(), v.random.within(1, 5));
    Shape half = {shape[shape.size() - 2], shape.back() / 2};
    auto table = tensor(half, computeType(own));
    return v.emit("rotary", type.clone(shape),
                  {v.operand(type.clone(shape)), v.operand(table), v.operand(table)});
  }
  }
}

/// Normalizations of images.
Value emitChannels(KernelValues &v) {
  TensorType type = v.drawType(2, 4);
  Type own = type.getElementType(), compute = computeType(own);
  int64_t channels = type.getDimSize(1), groups = v.random.within(1, 4);
  auto weight = tensor({channels}, own), statistics = tensor({channels}, compute);
  Attributes epsilon = {v.real("epsilon", 1e-5)};
  SmallVector<Value> operands = {v.operand(type), v.operand(weight), v.operand(weight)};
  switch (v.random.below(4)) {
  case 0:
    return v.emit("batch_norm", {type, statistics, statistics}, operands, epsilon);
  case 1:
    return v.emit("batch_statistics", {statistics, statistics},
                  {v.operand(statistics), v.operand(statistics)},
                  {v.number("count", v.random.within(2, 99))});
  case 2:
    operands.append({v.operand(statistics), v.operand(statistics)});
    return v.emit("batch_norm_inference", type, operands, epsilon);
  default:
    if (channels % groups)
      groups = 1;
    epsilon.push_back(v.number("groups", groups));
    statistics = tensor({type.getDimSize(0), groups}, compute);
    return v.emit("group_norm", {type, statistics, statistics}, operands, epsilon);
  }
}

} // namespace reprise::fuzz
