// reprise: ops made at random and changed at random, until the dialect accepts them
#include "Template.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace reprise::fuzz {

using Shape = SmallVector<int64_t>;

SmallVector<Type> elementTypes(MLIRContext *context) {
  Builder b(context);
  return {b.getF32Type(), b.getF64Type(), b.getBF16Type(), b.getF16Type(),
          b.getI32Type(), b.getI64Type(), b.getI1Type()};
}

SmallVector<Type> elementTypes(const OperandSpec &spec, MLIRContext *context) {
  SmallVector<StringRef> words;
  for (size_t begin = 0, end; begin < spec.type.size(); begin = end + 1) {
    end = begin;
    while (end < spec.type.size() && isalnum(spec.type[end]))
      ++end;
    words.push_back(spec.type.slice(begin, end));
  }
  SmallVector<Type> all = elementTypes(context), named;
  for (Type type : all) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    if (llvm::is_contained(words, text))
      named.push_back(type);
  }
  return named.empty() ? all : named;
}

int64_t countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count))
      return std::numeric_limits<int64_t>::max();
  return count;
}

//===-- Shapes --------------------------------------------------------------------------------===//

static int64_t makeSize(Random &random) {
  static constexpr int64_t sizes[] = {1, 2, 2, 3, 3, 4, 6};
  return random.pick(sizes);
}

static Shape makeShape(Random &random) {
  Shape shape(random.below(5));
  for (int64_t &size : shape)
    size = makeSize(random);
  return shape;
}

/// The elements of `shape` in another shape.
static Shape reshaped(ArrayRef<int64_t> shape, Random &random) {
  int64_t left = countElements(shape);
  if (left > kMostElements)
    return makeShape(random);
  Shape result;
  for (int64_t factor = 2; left > 1; ++factor)
    while (left % factor == 0) {
      left /= factor;
      if (!result.empty() && random.chance(50))
        random.pick(result) *= factor;
      else
        result.insert(result.begin() + random.below(result.size() + 1), factor);
    }
  if (random.chance(20))
    result.insert(result.begin() + random.below(result.size() + 1), 1);
  return result;
}

/// Returns a shape that is related to the others, or not.
static Shape changed(Shape shape, ArrayRef<Shape> others, Random &random) {
  switch (random.below(8)) {
  case 0:
    return others.empty() ? makeShape(random) : random.pick(others);
  case 1:
    if (!shape.empty())
      shape.erase(shape.begin() + random.below(shape.size()));
    return shape;
  case 2:
    shape.insert(shape.begin() + random.below(shape.size() + 1), makeSize(random));
    return shape;
  case 3: // a size of another shape
    if (!shape.empty() && !others.empty())
      if (Shape other = random.pick(others); !other.empty())
        random.pick(shape) = random.pick(other);
    return shape;
  case 4:
    if (shape.size() > 1)
      std::swap(random.pick(shape), random.pick(shape));
    return shape;
  case 5:
    return reshaped(others.empty() ? Shape(shape) : random.pick(others), random);
  case 6:
    return makeShape(random);
  default:
    if (!shape.empty())
      random.pick(shape) = makeSize(random);
    return shape;
  }
}

//===-- Attributes ----------------------------------------------------------------------------===//

static double makeNumber(Random &random) {
  static constexpr double numbers[] = {0.0, 0.0, 1.0, 0.5, 0.25, 0.1, 1e-5, 2.0, -1.0, 3.0};
  return random.pick(numbers);
}

static Attribute makeScalar(Type type, Random &random) {
  Builder b(type.getContext());
  if (isa<FloatType>(type))
    return b.getFloatAttr(type, makeNumber(random));
  return b.getIntegerAttr(type, type.isInteger(1) ? random.below(2) : random.within(-2, 9));
}

static DenseElementsAttr makeElements(Random &random, MLIRContext *context) {
  auto types = elementTypes(context);
  auto type = RankedTensorType::get(makeShape(random), random.pick(types));
  SmallVector<Attribute> values(random.chance(50) ? 1 : type.getNumElements());
  for (Attribute &value : values)
    value = makeScalar(type.getElementType(), random);
  return DenseElementsAttr::get(type, values);
}

/// Dimensions in order, one number per dimension, or anything.
static Attribute makeArray(const Template &around, Random &random, MLIRContext *context) {
  int64_t rank = around.operands.empty() ? random.below(5) : random.pick(around.operands).getRank();
  Shape values;
  if (random.chance(40)) {
    for (int64_t d = 0; d < rank; ++d)
      if (random.chance(50))
        values.push_back(d);
  } else {
    bool any = random.chance(30);
    int64_t constant = random.chance(30) ? random.below(3) : -1;
    values.resize(any ? random.below(5) : rank);
    for (int64_t &value : values)
      value = constant >= 0 ? constant : random.within(0, random.chance(80) ? 3 : 6);
  }
  return DenseI64ArrayAttr::get(context, values);
}

static Type integerType(StringRef name, MLIRContext *context) {
  unsigned width = 64;
  if (name.consume_front("SI") || name.consume_front("I"))
    (void)name.getAsInteger(10, width);
  return IntegerType::get(context, width);
}

Attribute makeAttribute(const AttributeSpec &spec, const Template &around, Random &random,
                        MLIRContext *context) {
  Builder b(context);
  StringRef storage = spec.storage;
  if (!spec.literals.empty()) {
    ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
    for (int i = 0; i < 20; ++i)
      if (Attribute attribute = parseAttribute(random.pick(spec.literals), context))
        return attribute;
    return nullptr;
  }
  if (storage == "FloatAttr")
    return b.getF64FloatAttr(makeNumber(random));
  if (storage == "IntegerAttr")
    return b.getIntegerAttr(integerType(spec.element, context),
                            random.within(random.chance(10) ? -2 : 0, random.chance(50) ? 3 : 8));
  if (storage == "DenseI64ArrayAttr")
    return makeArray(around, random, context);
  if (storage == "UnitAttr")
    return b.getUnitAttr();
  if (storage == "BoolAttr")
    return b.getBoolAttr(random.chance(50));
  if (storage == "StringAttr")
    return b.getStringAttr("n" + std::to_string(random.below(1000)));
  auto types = elementTypes(context);
  Type type = around.operands.empty() || random.chance(20)
                  ? random.pick(types)
                  : random.pick(around.operands).getElementType();
  if (storage == "TypeAttr")
    return TypeAttr::get(type);
  if (storage == "TypedAttr")
    return makeScalar(type, random);
  if (storage == "ElementsAttr" || storage == "DenseElementsAttr")
    return makeElements(random, context);
  return nullptr;
}

/// Returns another value, near the old one if that is an array.
static Attribute changedAttribute(const AttributeSpec &spec, Attribute old, const Template &around,
                                  Random &random, MLIRContext *context) {
  auto array = dyn_cast_or_null<DenseI64ArrayAttr>(old);
  if (!array || random.chance(30))
    return makeAttribute(spec, around, random, context);
  Shape values(array.asArrayRef());
  int64_t kind = random.below(4);
  if (kind == 0 || values.empty())
    values.insert(values.begin() + random.below(values.size() + 1), random.below(4));
  else if (kind == 1)
    values.erase(values.begin() + random.below(values.size()));
  else if (kind == 2 && !around.operands.empty() && random.chance(70)) {
    RankedTensorType type = random.pick(around.operands);
    random.pick(values) = type.getRank() ? random.pick(type.getShape()) : 1;
  } else
    random.pick(values) = random.below(4);
  return DenseI64ArrayAttr::get(context, values);
}

//===-- Templates -----------------------------------------------------------------------------===//

static SmallVector<Shape> shapesOf(const Template &of) {
  SmallVector<Shape> shapes;
  for (RankedTensorType type : of.operands)
    shapes.push_back(Shape(type.getShape()));
  return shapes;
}

/// Returns a type for an operand or result: similar to an existing one, or new.
static RankedTensorType makeType(const OperandSpec &spec, const Template &around, Random &random,
                                 MLIRContext *context) {
  SmallVector<Type> elements = elementTypes(spec, context);
  Type element = random.pick(elements);
  SmallVector<Shape> shapes = shapesOf(around);
  if (!around.operands.empty() && random.chance(80))
    if (Type other = random.pick(around.operands).getElementType();
        llvm::is_contained(elements, other))
      element = other;
  Shape shape = shapes.empty() ? makeShape(random) : random.pick(shapes);
  if (!shapes.empty() && random.chance(60))
    shape = changed(shape, shapes, random);
  return RankedTensorType::get(shape, element);
}

static int32_t makeCount(OperandSpec::Count count, Random &random) {
  if (count == OperandSpec::One)
    return 1;
  return count == OperandSpec::Optional ? random.chance(30) : random.within(1, 3);
}

Template makeTemplate(const OpSpec &spec, Random &random, MLIRContext *context) {
  Template made;
  made.spec = &spec;
  for (const OperandSpec &operand : spec.operands) {
    made.segments.push_back(makeCount(operand.count, random));
    for (int32_t i = 0; i < made.segments.back(); ++i)
      made.operands.push_back(makeType(operand, made, random, context));
  }
  for (const AttributeSpec &attribute : spec.attributes)
    if (!attribute.optional || random.chance(50))
      if (Attribute value = makeAttribute(attribute, made, random, context))
        made.attributes.set(attribute.name, value);
  for (const OperandSpec &result : spec.results)
    for (int32_t i = makeCount(result.count, random); i > 0; --i)
      made.results.push_back(makeType(result, made, random, context));
  return made;
}

/// Gives operand `index` of the spec another number of values.
static void changeCount(Template &of, size_t index, Random &random, MLIRContext *context) {
  const OperandSpec &spec = of.spec->operands[index];
  int32_t count = makeCount(spec.count, random), &old = of.segments[index];
  int64_t end = 0;
  for (size_t i = 0; i <= index; ++i)
    end += of.segments[i];
  for (; old > count; --old)
    of.operands.erase(of.operands.begin() + --end);
  for (; old < count; ++old)
    of.operands.insert(of.operands.begin() + end++, makeType(spec, of, random, context));
}

/// The operand of the spec that value `index` belongs to.
static const OperandSpec &specOf(const Template &of, size_t index) {
  for (size_t i = 0;; index -= of.segments[i++])
    if (index < static_cast<size_t>(of.segments[i]))
      return of.spec->operands[i];
}

static RankedTensorType changedType(RankedTensorType type, const OperandSpec &spec,
                                    const Template &around, Random &random, MLIRContext *context) {
  if (random.chance(15))
    return makeType(spec, around, random, context);
  if (random.chance(25)) {
    auto elements = elementTypes(spec, context);
    return type.clone(random.pick(elements));
  }
  SmallVector<Shape> shapes = shapesOf(around);
  return type.clone(changed(Shape(type.getShape()), shapes, random));
}

/// Optional results stand last.
static void changeResult(Template &of, Random &random, MLIRContext *context) {
  const std::vector<OperandSpec> &specs = of.spec->results;
  bool isFull = of.results.size() >= specs.size();
  if (specs.back().count != OperandSpec::One && random.chance(30)) {
    if (isFull)
      of.results.pop_back();
    else
      of.results.push_back(makeType(specs[of.results.size()], of, random, context));
    return;
  }
  if (of.results.empty())
    return;
  size_t index = random.below(of.results.size());
  of.results[index] = changedType(cast<RankedTensorType>(of.results[index]),
                                  specs[std::min(index, specs.size() - 1)], of, random, context);
}

/// Gives the results one shape.
static void levelResults(Template &of, Random &random) {
  ArrayRef<int64_t> shape = cast<ShapedType>(random.pick(of.results)).getShape();
  for (Type &type : of.results)
    type = cast<RankedTensorType>(type).clone(shape);
}

/// Gives most values one shape, as ops of many operands need.
static void level(Template &of, Random &random) {
  RankedTensorType model = random.pick(of.operands);
  for (RankedTensorType &type : of.operands)
    if (random.chance(90))
      type = type.clone(model.getShape(),
                        random.chance(70) ? model.getElementType() : type.getElementType());
  for (Type &type : of.results)
    if (random.chance(90))
      type = model;
}

static void mutateOnce(Template &of, Random &random, MLIRContext *context) {
  const OpSpec &spec = *of.spec;
  int64_t choice = random.below(10);
  if (of.results.size() > 1 && random.chance(10))
    levelResults(of, random);
  else if (of.operands.size() > 1 && random.chance(5))
    level(of, random);
  else if (choice < 5 && !of.operands.empty()) {
    size_t index = random.below(of.operands.size());
    of.operands[index] = changedType(of.operands[index], specOf(of, index), of, random, context);
  } else if (choice < 6 && !spec.operands.empty()) {
    changeCount(of, random.below(spec.operands.size()), random, context);
  } else if (choice < 8 && !spec.attributes.empty()) {
    const AttributeSpec &attribute = random.pick(spec.attributes);
    Attribute old = of.attributes.get(attribute.name);
    if (old && attribute.optional && random.chance(40))
      of.attributes.erase(attribute.name);
    else if (Attribute value = changedAttribute(attribute, old, of, random, context))
      of.attributes.set(attribute.name, value);
  } else if (!spec.results.empty()) {
    changeResult(of, random, context);
  }
}

Template mutate(Template base, Random &random, MLIRContext *context) {
  for (int64_t i = random.within(1, 3); i > 0; --i)
    mutateOnce(base, random, context);
  return base;
}

} // namespace reprise::fuzz
