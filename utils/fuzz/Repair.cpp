// reprise: changes that an error message suggests
#include "Template.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace reprise::fuzz {

static SmallVector<int64_t> numbersIn(StringRef text) {
  SmallVector<int64_t> numbers;
  for (size_t i = 0; i < text.size(); ++i) {
    bool isStart = isdigit(text[i]) && (i == 0 || !isalnum(text[i - 1]) || text[i - 1] == 'x');
    int64_t number;
    if (isStart && !text.substr(i).consumeInteger(10, number) && number >= 0 &&
        number <= kMostElements)
      numbers.push_back(number);
  }
  return numbers;
}

static SmallVector<RankedTensorType> typesIn(StringRef text, MLIRContext *context) {
  SmallVector<RankedTensorType> types;
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
  for (size_t begin = 0; (begin = text.find("tensor<", begin)) != StringRef::npos; ++begin) {
    size_t end = text.find('>', begin);
    if (end == StringRef::npos)
      break;
    StringRef word = text.slice(begin, end + 1);
    if (auto type = dyn_cast_or_null<RankedTensorType>(parseType(word, context)))
      if (type.hasStaticShape())
        types.push_back(type);
  }
  return types;
}

namespace {
/// The places where a template holds numbers.
class Places {
public:
  Places(Template &of, MLIRContext *context) : of(of), context(context) {
    for (auto [i, type] : llvm::enumerate(of.results))
      addShape(Result, i, cast<ShapedType>(type).getShape());
    for (auto [i, type] : llvm::enumerate(of.operands))
      addShape(Operand, i, type.getShape());
    for (auto [i, attribute] : llvm::enumerate(of.attributes))
      if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute.getValue()))
        addShape(Array, i, array.asArrayRef());
      else if (auto number = dyn_cast<IntegerAttr>(attribute.getValue()))
        places.push_back({Number, i, 0, number.getValue().getSExtValue()});
  }

  /// Writes `to` at one place of `from`, or at any place if `from` does not occur.
  void replace(int64_t from, int64_t to, Random &random) {
    SmallVector<Place> equal;
    llvm::copy_if(places, std::back_inserter(equal),
                  [&](const Place &place) { return place.number == from; });
    if (places.empty())
      return;
    Place chosen = equal.empty() ? random.pick(places) : random.pick(equal);
    // Results often have one shape.
    bool together = chosen.kind == Result && random.chance(50);
    for (const Place &place : places)
      if (together && place.kind == Result && place.position == chosen.position)
        write(place, to);
    write(chosen, to);
  }

private:
  enum Kind { Result, Operand, Array, Number };
  struct Place {
    Kind kind;
    size_t index, position;
    int64_t number;
  };

  void addShape(Kind kind, size_t index, ArrayRef<int64_t> numbers) {
    for (auto [position, number] : llvm::enumerate(numbers))
      places.push_back({kind, index, position, number});
  }

  void write(const Place &place, int64_t number) {
    auto change = [&](RankedTensorType type) {
      SmallVector<int64_t> shape(type.getShape());
      shape[place.position] = number;
      return type.clone(shape);
    };
    if (place.kind == Result) {
      Type &type = of.results[place.index];
      type = change(cast<RankedTensorType>(type));
    } else if (place.kind == Operand) {
      RankedTensorType &type = of.operands[place.index];
      type = change(type);
    } else if (place.kind == Number) {
      NamedAttribute attribute = of.attributes.getAttrs()[place.index];
      Type type = cast<IntegerAttr>(attribute.getValue()).getType();
      of.attributes.set(attribute.getName(), IntegerAttr::get(type, number));
    } else {
      NamedAttribute attribute = of.attributes.getAttrs()[place.index];
      SmallVector<int64_t> values(cast<DenseI64ArrayAttr>(attribute.getValue()).asArrayRef());
      values[place.position] = number;
      of.attributes.set(attribute.getName(), DenseI64ArrayAttr::get(context, values));
    }
  }

  Template &of;
  MLIRContext *context;
  SmallVector<Place> places;
};
} // namespace

Template repair(Template base, StringRef message, Random &random, MLIRContext *context) {
  SmallVector<RankedTensorType> types = typesIn(message, context);
  SmallVector<int64_t> numbers = numbersIn(message);
  if (!types.empty() && random.chance(50)) {
    RankedTensorType type = random.pick(types);
    if (!base.results.empty() && (base.operands.empty() || random.chance(70)))
      random.pick(base.results) = type;
    else if (!base.operands.empty())
      random.pick(base.operands) = type;
  } else if (!numbers.empty()) {
    Places(base, context).replace(random.pick(numbers), random.pick(numbers), random);
  }
  return base;
}

} // namespace reprise::fuzz
