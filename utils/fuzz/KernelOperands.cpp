// reprise: operands of the heavy ops in the programs for kernels: existing, moved, computed or new
// values
#include "KernelValues.h"
#include "Template.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise::fuzz {

static bool isFloat(RankedTensorType type) { return isa<FloatType>(type.getElementType()); }

Value KernelValues::emit(StringRef name, TypeRange results, ValueRange operands,
                         const Attributes &attributes, ArrayRef<int32_t> segments) {
  OperationState state(b.getLoc(), ("reprise." + name).str());
  state.addOperands(operands);
  state.addTypes(results);
  state.addAttributes(attributes);
  if (!segments.empty())
    state.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr(segments));
  Operation *op = b.create(state);
  pool.insert(pool.end(), op->result_begin(), op->result_end());
  return op->getResult(0);
}

/// Returns a value of the type, often computed from other values.
Value KernelValues::operand(TensorType type, int depth) {
  SmallVector<Value> equal;
  for (Value value : pool)
    if (value.getType() == type)
      equal.push_back(value);
  Value value;
  if (!equal.empty() && random.chance(50))
    return random.pickLate(equal);
  if (isFloat(type) && depth == 0 && random.chance(30))
    value = adapted(type);
  if (!value && depth < 3 && random.chance(depth ? 35 : 50))
    value = random.chance(65) ? moved(type, depth + 1) : computed(type, depth + 1);
  if (!value)
    value = fresh(type);
  pool.push_back(value);
  return value;
}

Value KernelValues::fresh(TensorType type) {
  Type own = type.getElementType();
  if (own.isInteger(1) && random.chance(15))
    return emit("random_bernoulli", type, {}, {real("probability", 0.7)}, {0, 0, 0});
  if (own.isInteger(1)) {
    Value left = fresh(type.clone(element)), right = fresh(type.clone(element));
    return compared(left, right);
  }
  if (isFloat(type) && random.chance(2))
    return emit(random.chance(50) ? "random_normal" : "random_uniform", type, {}, {}, {0, 0, 0});
  if (!isFloat(type) && random.chance(10))
    return emit("random_uniform_int", type, {}, {number("low", -3), number("high", 12)}, {0, 0, 0});
  if (random.chance(95)) {
    indexLimits.push_back(0);
    return function.getBody().front().addArgument(type, b.getLoc());
  }
  Attribute value = isFloat(type) ? Attribute(b.getFloatAttr(own, random.within(-6, 6) / 2.))
                                  : b.getIntegerAttr(own, random.below(9));
  return emit("constant", type, {}, {b.getNamedAttr("value", DenseElementsAttr::get(type, value))});
}

/// Positions below `limit`, and some that are not.
Value KernelValues::indices(Sizes shape, int64_t limit) {
  auto type = tensor(shape, random.chance(50) ? b.getI32Type() : b.getI64Type());
  if (!shape.empty() && random.chance(10))
    return emit("iota", type, {}, {number("dim", random.below(shape.size()))});
  indexLimits.push_back(limit);
  return function.getBody().front().addArgument(type, b.getLoc());
}

/// Returns elements of an existing value, contiguous or strided, in the requested shape; null if no
/// value has as many.
Value KernelValues::adapted(TensorType type) {
  SmallVector<Value> large;
  for (Value value : pool)
    if (auto own = cast<TensorType>(value.getType());
        isFloat(own) && own.getNumElements() >= type.getNumElements())
      large.push_back(value);
  if (large.empty())
    return nullptr;
  Value value = random.pickLate(large);
  auto own = cast<TensorType>(value.getType());
  int64_t have = own.getNumElements(), want = type.getNumElements();
  if (own.getElementType() != type.getElementType())
    value = emit("cast", own = own.clone(type.getElementType()), value);
  if (have != want) {
    value = emit("reshape", tensor({have}, type.getElementType()), value);
    int64_t step = random.chance(40) ? std::min<int64_t>(have / want, 3) : 1;
    int64_t start = random.below(have - (want - 1) * step);
    value = emit("slice", tensor({want}, type.getElementType()), value,
                 {numbers("starts", {start}), numbers("limits", {start + (want - 1) * step + 1}),
                  numbers("strides", {step})});
  }
  return value.getType() == type ? value : emit("reshape", type, value);
}

//===-- Moves ---------------------------------------------------------------------------------===//

SmallVector<int64_t> permutation(Random &random, int64_t rank) {
  SmallVector<int64_t> result = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  for (int64_t i = rank; i > 1; --i)
    std::swap(result[i - 1], result[random.below(i)]);
  return result;
}

SmallVector<int64_t> reshaped(Random &random, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result(shape);
  for (int64_t i = random.within(1, 2); i > 0; --i) {
    if (result.size() > 1 && random.chance(60)) {
      int64_t at = random.below(result.size() - 1);
      result[at] *= result[at + 1];
      result.erase(result.begin() + at + 1);
    } else if (!result.empty() && result.size() < 5) {
      int64_t at = random.below(result.size()), factor = random.within(1, 5);
      if (result[at] % factor)
        continue;
      result[at] /= factor;
      result.insert(result.begin() + at + random.below(2), factor);
    }
  }
  return result;
}

Value KernelValues::moved(TensorType type, int depth) {
  int64_t rank = type.getRank(), kind = random.below(12);
  if (kind < 3 && rank > 1) {
    Shape order = permutation(random, rank), shape(rank);
    for (int64_t d = 0; d < rank; ++d)
      shape[order[d]] = type.getDimSize(d);
    return emit("transpose", type, operand(type.clone(shape), depth),
                {numbers("permutation", order)});
  }
  if (kind < 6)
    return sliceOf(type, depth);
  if (kind < 8)
    return emit("reshape", type, operand(type.clone(reshaped(random, type.getShape())), depth));
  if (kind < 9)
    return broadcastTo(type, depth);
  if (kind < 11)
    return padOf(type, depth);
  return joined(type, depth);
}

Value KernelValues::sliceOf(TensorType type, int depth) {
  Shape shape(type.getShape()), starts, limits, steps;
  int64_t left = 4 * mostElements / std::max<int64_t>(1, type.getNumElements());
  for (int64_t &size : shape) {
    bool cut = left > 3 && random.chance(50);
    starts.push_back(cut ? random.below(4) : 0);
    steps.push_back(cut ? random.within(1, 3) : 1);
    limits.push_back(starts.back() + (size - 1) * steps.back() + 1);
    int64_t whole = limits.back() + (cut ? random.below(4) : 0);
    left = left * size / whole;
    size = whole;
  }
  Value source = operand(type.clone(shape), depth);
  if (random.chance(85) || shape.empty())
    return emit("slice", type, source,
                {numbers("starts", starts), numbers("limits", limits), numbers("strides", steps)});
  return emit("dynamic_slice", type, {source, indices({type.getRank()}, 6)});
}

Value KernelValues::padOf(TensorType type, int depth) {
  Shape shape(type.getShape()), low, high, interior;
  for (int64_t &size : shape) {
    low.push_back(random.chance(50) ? random.below(std::min<int64_t>(size, 4)) : 0);
    interior.push_back(random.chance(20) ? random.within(1, 2) : 0);
    int64_t after = random.chance(50) ? random.below(3) : 0, step = interior.back() + 1;
    int64_t room = std::max<int64_t>(1, size - low.back() - after);
    int64_t whole = (room - 1) / step + 1;
    high.push_back(size - low.back() - ((whole - 1) * step + 1));
    size = whole;
  }
  Type own = type.getElementType();
  int64_t fill = random.below(2);
  Attribute value =
      isFloat(type) ? Attribute(b.getFloatAttr(own, 1.5 * fill)) : b.getIntegerAttr(own, fill);
  return emit("pad", type, operand(type.clone(shape), depth),
              {b.getNamedAttr("value", value), numbers("low", low), numbers("high", high),
               numbers("interior", interior)});
}

Value KernelValues::joined(TensorType type, int depth) {
  int64_t rank = type.getRank();
  if (rank == 0)
    return nullptr;
  int64_t dim = random.below(rank), left = type.getDimSize(dim);
  SmallVector<Value> parts;
  while (left > 0) {
    int64_t size = parts.size() == 2 ? left : random.within(1, left);
    Shape shape(type.getShape());
    shape[dim] = size;
    parts.push_back(operand(type.clone(shape), depth));
    left -= size;
  }
  return emit("concatenate", type, parts, {number("dim", dim)});
}

Value KernelValues::broadcastTo(TensorType type, int depth) {
  Shape dims, shape;
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    if (random.chance(60)) {
      dims.push_back(d);
      shape.push_back(size);
    }
  return emit("broadcast", type, operand(type.clone(shape), depth), {numbers("dims", dims)});
}

//===-- Elementwise ---------------------------------------------------------------------------===//

/// Returns a unary op of a value, mostly one of a single instruction: the code of the others is
/// long.
Value KernelValues::unary(Value value) {
  static constexpr StringLiteral cheap[] = {"relu", "neg", "abs", "floor", "sqrt"};
  static constexpr StringLiteral functions[] = {"tanh", "gelu", "exp", "silu",  "erf",
                                                "sin",  "cos",  "log", "rsqrt", "sigmoid"};
  if (random.chance(6))
    return emit("clamp", value.getType(), value, {real("low", -0.5), real("high", 0.75)});
  StringRef name = random.chance(75) ? random.pick(cheap) : random.pick(functions);
  return emit(name, value.getType(), value);
}

Value KernelValues::binary(TensorType type, int depth) {
  static constexpr StringLiteral floats[] = {"add", "add",     "sub",     "sub", "mul",
                                             "mul", "maximum", "minimum", "div", "pow"};
  static constexpr StringLiteral integers[] = {"add", "sub",     "mul",        "div",
                                               "rem", "maximum", "minimum",    "and",
                                               "or",  "xor",     "shift_left", "shift_right"};
  static constexpr StringLiteral bools[] = {"and", "or", "xor"};
  Value left = operand(type, depth);
  bool isBool = type.getElementType().isInteger(1);
  if (isBool && random.chance(25))
    return emit("not", type, left);
  Value right = random.chance(40) ? broadcastTo(type, depth) : operand(type, depth);
  StringRef name = isBool          ? random.pick(bools)
                   : isFloat(type) ? random.pick(floats)
                                   : random.pick(integers);
  return emit(name, type, {left, right});
}

/// Arithmetic of integers and bits.
Value emitWhole(KernelValues &v) {
  Type elements[] = {v.b.getI1Type(), v.b.getI1Type(), v.b.getI32Type(), v.b.getI64Type()};
  RankedTensorType type = v.drawType(1, 4).clone(v.random.pick(elements));
  v.binary(type, 1);
  return v.binary(type, 1);
}

Value KernelValues::compared(Value left, Value right) {
  auto predicate = static_cast<ComparePredicate>(random.below(6));
  return emit("compare", cast<TensorType>(left.getType()).clone(b.getI1Type()), {left, right},
              {b.getNamedAttr("predicate", ComparePredicateAttr::get(context, predicate))});
}

/// Reinterprets bits as words or as floats, and values that may wait elsewhere. The bits of a NaN
/// are not promised, so the floats are numbers.
Value KernelValues::rewrapped(TensorType type, int depth) {
  TensorType floats = type.clone(b.getF32Type()), integers = type.clone(b.getI32Type());
  if ((type != floats && type != integers) || random.chance(40))
    return emit("offload", type, operand(type, depth));
  Value bits = emit("bitcast", integers, emit("cast", floats, operand(integers, depth)));
  return type == integers ? bits : emit("bitcast", type, bits);
}

Value KernelValues::computed(TensorType type, int depth) {
  int64_t kind = random.below(10);
  if (kind < 3) {
    if (random.chance(10))
      return rewrapped(type, depth);
    auto elements = elementTypes(context);
    return emit("cast", type, operand(type.clone(random.pick(elements)), depth));
  }
  if (kind < 6 || !isFloat(type))
    return binary(type, depth);
  if (kind < 8)
    return unary(operand(type, depth));
  if (kind < 9 && random.chance(40))
    return emit("dropout", type, operand(type, depth), {real("rate", 0.25 * random.below(5))},
                {1, 0, 0, 0});
  Value left = operand(type, depth), right = operand(type, depth);
  Value condition = compared(left, right);
  return emit("select", type, {condition, operand(type, depth), operand(type, depth)});
}

} // namespace reprise::fuzz
