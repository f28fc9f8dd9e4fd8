// reprise: reductions, softmax and normalizations in the programs for kernels
#include "KernelGenerator.h"

using namespace mlir;

namespace reprise::fuzz {

Value KernelGenerator::emitReduction() {
  TensorType type = drawType(1, 4);
  if (random.chance(8))
    type = type.clone(b.getI32Type());
  bool isFloat = isa<FloatType>(type.getElementType());
  int64_t rank = type.getRank(), kind = random.below(10), dim = random.below(rank);
  if (kind < 1) {
    Attributes attributes = {number("dim", dim)};
    if (random.chance(40))
      attributes.push_back(b.getNamedAttr("reverse", b.getUnitAttr()));
    return emit("cumsum", type, operand(type), attributes);
  }
  Type position = random.chance(50) ? b.getI32Type() : b.getI64Type();
  Shape shape(type.getShape());
  if (kind < 2) {
    shape.back() = random.within(1, std::min<int64_t>(shape.back(), 20));
    return emit("top_k", {type.clone(shape), tensor(shape, position)}, operand(type));
  }
  if (kind < 3) {
    shape.erase(shape.begin() + dim);
    return emit("argmax", tensor(shape, position), operand(type), {number("dim", dim)});
  }
  Shape dims, left;
  for (int64_t d = 0; d < rank; ++d)
    if (d == dim || random.chance(40))
      dims.push_back(d);
    else
      left.push_back(shape[d]);
  static constexpr StringLiteral names[] = {"sum", "max", "min", "prod", "mean", "logsumexp"};
  StringRef name = names[random.below(isFloat ? 6 : 4)];
  return emit(name, type.clone(left), operand(type), {numbers("dims", dims)});
}

Value KernelGenerator::emitRows() {
  TensorType type = drawType(1, 4);
  Type own = type.getElementType();
  auto rows = tensor(type.getShape().drop_back(), own), statistics = rows.clone(computeType(own));
  auto weight = tensor(type.getShape().take_back(), own);
  Attributes epsilon = {real("epsilon", 1e-5)};
  switch (random.below(6)) {
  case 0:
    return emit("softmax", type, operand(type));
  case 1:
    return emit("log_softmax", type, operand(type));
  case 2: {
    Value labels = indices(rows.getShape(), type.getShape().back());
    return emit("cross_entropy", rows, {operand(type), labels});
  }
  case 3:
    return emit("layer_norm", {type, statistics, statistics},
                {operand(type), operand(weight), operand(weight)}, epsilon);
  case 4:
    return emit("rms_norm", {type, statistics}, {operand(type), operand(weight)}, epsilon);
  default: {
    Shape shape(type.getShape());
    shape.back() += shape.back() % 2;
    if (shape.size() < 2)
      shape.insert(shape.begin(), random.within(1, 5));
    Shape half = {shape[shape.size() - 2], shape.back() / 2};
    auto table = tensor(half, computeType(own));
    return emit("rotary", type.clone(shape),
                {operand(type.clone(shape)), operand(table), operand(table)});
  }
  }
}

/// Normalizations of images.
Value KernelGenerator::emitChannels() {
  TensorType type = drawType(2, 4);
  Type own = type.getElementType(), compute = computeType(own);
  int64_t channels = type.getDimSize(1), groups = random.within(1, 4);
  auto weight = tensor({channels}, own), statistics = tensor({channels}, compute);
  Attributes epsilon = {real("epsilon", 1e-5)};
  SmallVector<Value> operands = {operand(type), operand(weight), operand(weight)};
  switch (random.below(4)) {
  case 0:
    return emit("batch_norm", {type, statistics, statistics}, operands, epsilon);
  case 1:
    return emit("batch_statistics", {statistics, statistics},
                {operand(statistics), operand(statistics)},
                {number("count", random.within(2, 99))});
  case 2:
    operands.append({operand(statistics), operand(statistics)});
    return emit("batch_norm_inference", type, operands, epsilon);
  default:
    if (channels % groups)
      groups = 1;
    epsilon.push_back(number("groups", groups));
    statistics = tensor({type.getDimSize(0), groups}, compute);
    return emit("group_norm", {type, statistics, statistics}, operands, epsilon);
  }
}

} // namespace reprise::fuzz
