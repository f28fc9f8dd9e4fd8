// reprise: the values of a random program, and the construction of operands from them
#include "Values.h"

using namespace mlir;

namespace reprise::fuzz {

using Shape = SmallVector<int64_t>;

Values::Values(ImplicitLocOpBuilder &builder, Random &random, int64_t granule)
    : builder(builder), random(random), granule(granule) {
  SmallVector<Type> floats = {builder.getF32Type(), builder.getF32Type(), builder.getF64Type(),
                              builder.getBF16Type(), builder.getF16Type()};
  mainFloat = random.pick(floats);
  for (int i = 0; i < 3; ++i)
    sizes.push_back(makeSize());
}

/// Returns a size near the widths of the kernels' vectors, lanes or blocks.
int64_t Values::makeSize() {
  static constexpr int64_t lanes[] = {15, 16, 17, 31, 32, 33}, blocks[] = {63, 64, 65, 127, 130};
  static constexpr int64_t large[] = {257, 1000, 4095, 4096, 4097, 5000};
  if (!sizes.empty() && random.chance(75))
    return random.pick(sizes);
  int64_t kind = random.below(100);
  if (granule > 1 && kind < 75)
    return granule * random.within(1, 3);
  if (kind < 62)
    return random.within(1, 8);
  return kind < 85 ? random.pick(lanes) : kind < 96 ? random.pick(blocks) : random.pick(large);
}

static bool isFloat(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

RankedTensorType Values::makeType() {
  SmallVector<Type> elements = elementTypes(builder.getContext());
  Type element = random.chance(70) ? mainFloat : random.pick(elements);
  Shape shape(random.chance(70) ? random.within(1, 3) : random.within(0, 4));
  for (int64_t &size : shape)
    size = makeSize();
  while (countElements(shape) > kMostElements)
    random.pick(shape) = random.within(1, 4);
  return RankedTensorType::get(shape, element);
}

Value Values::pickFloat() {
  for (int i = 0; i < 10; ++i)
    if (Value value = random.pickLate(pool); isFloat(value.getType()))
      return value;
  Value value = fresh(makeType().clone(mainFloat));
  pool.push_back(value);
  return value;
}

//===-- New values ----------------------------------------------------------------------------===//

Value Values::freshArgument(RankedTensorType type) {
  return entry->addArgument(type, builder.getLoc());
}

static Value freshConstant(ImplicitLocOpBuilder &builder, Random &random, RankedTensorType type) {
  Type element = type.getElementType();
  SmallVector<Attribute> values(type.getNumElements() <= 64 ? type.getNumElements() : 1);
  for (Attribute &value : values)
    value = isa<FloatType>(element)
                ? Attribute(builder.getFloatAttr(element, random.within(-8, 8) * 0.25))
                : builder.getIntegerAttr(element, random.below(element.isInteger(1) ? 2 : 7));
  return ConstantOp::create(builder, DenseElementsAttr::get(type, values));
}

/// Returns a new value. The arguments of a function are fixed by its caller; the entry gets as many
/// as it needs.
Value Values::fresh(RankedTensorType type) {
  bool asConstant = isolated || type.getElementType().isInteger(1) || random.chance(10);
  return asConstant ? freshConstant(builder, random, type) : freshArgument(type);
}

//===-- Values of a wanted type ---------------------------------------------------------------===//

Value Values::sumAll(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  if (dims.empty())
    return value;
  auto result = RankedTensorType::get({}, type.getElementType());
  if (isFloat(type) && random.chance(60))
    return MeanOp::create(builder, result, value, dims);
  return SumOp::create(builder, result, value, dims);
}

/// Returns ascending dimensions of `shape` whose sizes are those of `part`; none if there are none.
static std::optional<Shape> findDims(ArrayRef<int64_t> part, ArrayRef<int64_t> shape) {
  Shape dims;
  for (size_t d = 0; d < shape.size() && dims.size() < part.size(); ++d)
    if (shape[d] == part[dims.size()])
      dims.push_back(d);
  return dims.size() == part.size() ? std::optional(dims) : std::nullopt;
}

/// Elements of `value`, in the shape that is asked for.
Value Values::resize(Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t have = type.getNumElements(), want = ShapedType::getNumElements(shape);
  if (have == want)
    return ReshapeOp::create(builder, type.clone(shape), value);
  if (auto dims = findDims(type.getShape(), shape))
    return BroadcastOp::create(builder, type.clone(shape), value, *dims);
  if (have > want) {
    value = ReshapeOp::create(builder, type.clone({have}), value);
    int64_t stride = random.chance(30) ? have / want : 1;
    int64_t start = random.below(have - (want - 1) * stride);
    value = SliceOp::create(builder, type.clone({want}), value, ArrayRef<int64_t>{start},
                            ArrayRef<int64_t>{start + (want - 1) * stride + 1},
                            ArrayRef<int64_t>{stride});
    return ReshapeOp::create(builder, type.clone(shape), value);
  }
  if (type.getElementType().isInteger(1))
    value = resize(value, {});
  else
    value = sumAll(value);
  return BroadcastOp::create(builder, type.clone(shape), value, Shape());
}

Value Values::adapt(Value value, RankedTensorType type) {
  auto own = cast<RankedTensorType>(value.getType());
  bool castFirst = random.chance(50);
  if (castFirst && own.getElementType() != type.getElementType())
    value = CastOp::create(builder, own.clone(type.getElementType()), value);
  if (own.getShape() != type.getShape())
    value = resize(value, type.getShape());
  return value.getType() == type ? value : CastOp::create(builder, type, value).getResult();
}

Value Values::obtain(RankedTensorType type, bool mayBeActive) {
  std::vector<Value> equal, similar;
  for (Value value : pool) {
    if (!mayBeActive && isActive(value))
      continue;
    if (value.getType() == type)
      equal.push_back(value);
    else if (isFloat(value.getType()) == isFloat(type))
      similar.push_back(value);
  }
  Value value;
  if (!equal.empty() && random.chance(85))
    return random.pickLate(equal);
  if (!similar.empty() && random.chance(80)) {
    Value source = random.pickLate(similar);
    value = adapt(source, type);
    if (isActive(source) && isFloat(type))
      active.insert(value);
  } else {
    value = fresh(type);
  }
  pool.push_back(value);
  return value;
}

//===-- Sizes of an example -------------------------------------------------------------------===//

namespace {
/// Renaming of sizes and element types, equal in all places.
class Renaming {
public:
  Renaming(Random &random) : random(random) {}

  bool unify(RankedTensorType from, RankedTensorType to) {
    if (from.getRank() != to.getRank())
      return false;
    for (auto [own, other] : llvm::zip(from.getShape(), to.getShape()))
      if (sizes.emplace(own, other).first->second != other)
        return false;
    elements.emplace(from.getElementType().getAsOpaquePointer(), to.getElementType());
    return true;
  }

  template <typename MakeSize> RankedTensorType apply(RankedTensorType type, MakeSize makeSize) {
    Shape shape(type.getShape());
    for (int64_t &size : shape) {
      auto found = sizes.find(size);
      // A 1 often means something.
      if (found == sizes.end())
        found = sizes.emplace(size, size == 1 && random.chance(70) ? 1 : makeSize()).first;
      size = found->second;
    }
    auto element = elements.find(type.getElementType().getAsOpaquePointer());
    return RankedTensorType::get(shape, element == elements.end() ? type.getElementType()
                                                                  : element->second);
  }

  std::map<int64_t, int64_t> sizes;
  std::map<const void *, Type> elements;

private:
  Random &random;
};
} // namespace

Template Values::resized(Template example) {
  Renaming renaming(random);
  if (!example.operands.empty() && !pool.empty()) {
    RankedTensorType slot = random.pick(example.operands);
    for (int i = 0; i < 8; ++i) {
      auto type = cast<RankedTensorType>(random.pickLate(pool).getType());
      if (isFloat(type) == isFloat(slot) && renaming.unify(slot, type))
        break;
      renaming.sizes.clear(), renaming.elements.clear();
    }
  }
  auto apply = [&](RankedTensorType type) {
    return renaming.apply(type, [&] { return makeSize(); });
  };
  for (RankedTensorType &type : example.operands)
    type = apply(type);
  for (Type &type : example.results)
    type = apply(cast<RankedTensorType>(type));
  return example;
}

//===-- Choices among the values -------------------------------------------------------------===//

void Values::add(Operation *op, bool isOpActive) {
  for (Value result : op->getResults()) {
    pool.push_back(result);
    if (isOpActive && isa<FloatType>(getElementTypeOrSelf(result.getType())))
      active.insert(result);
  }
}

SmallVector<Value> Values::chooseResults(size_t begin, int64_t count) {
  SmallVector<Value> chosen;
  for (size_t i = pool.size(); i > begin && static_cast<int64_t>(chosen.size()) < count; --i)
    if (random.chance(pool[i - 1].use_empty() ? 90 : 30))
      chosen.push_back(pool[i - 1]);
  return chosen;
}

SmallVector<Value> Values::chooseInputs() {
  SmallVector<Value> inputs = {pickFloat()};
  for (int64_t i = random.below(3); i > 0; --i)
    inputs.push_back(random.pickLate(pool));
  return inputs;
}

void Values::entangle(size_t begin) {
  SmallVector<Value> values;
  for (size_t i = pool.size(); i > begin && values.size() < 3; --i)
    if (random.chance(60))
      values.push_back(pool[i - 1]);
  std::vector<Value> floats;
  llvm::copy_if(pool, std::back_inserter(floats), [&](Value value) { return isActive(value); });
  for (Value value : values) {
    if (floats.empty())
      return;
    Value factor = random.pickLate(floats);
    auto type = cast<RankedTensorType>(value.getType()).clone(getElementTypeOrSelf(factor));
    if (value.getType() != type)
      value = CastOp::create(builder, type, value);
    if (factor.getType() != type)
      factor = adapt(factor, type);
    Value product = MulOp::create(builder, value, factor);
    active.insert(product);
    pool.push_back(product);
  }
}

Value Values::makeLoss(size_t begin) {
  SmallVector<Value> terms;
  for (size_t i = pool.size(); i > begin && terms.size() < 3; --i)
    if (Value value = pool[i - 1]; isFloat(value.getType()) && isActive(value))
      if (terms.empty() || random.chance(50))
        terms.push_back(value);
  if (terms.empty())
    terms.push_back(pickFloat());
  Value loss;
  for (Value term : terms) {
    Value scalar = sumAll(term);
    if (loss && scalar.getType() != loss.getType())
      scalar = CastOp::create(builder, loss.getType(), scalar);
    loss = loss ? AddOp::create(builder, loss, scalar).getResult() : scalar;
  }
  return loss;
}

} // namespace reprise::fuzz
