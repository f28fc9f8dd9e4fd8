// reprise: values of the attributes of an entry function's arguments and results
#include "ArgumentAttributes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Dialect/Reprise/IR/Shardings.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace reprise {

static bool isKnownRole(Attribute value) {
  auto role = dyn_cast<StringAttr>(value);
  return role && llvm::StringSwitch<bool>(role.getValue())
                     .Cases({"input", "parameter", "state", "seed", "offset", "step"}, true)
                     .Default(false);
}

/// Tells whether the role is about a number that the caller counts or draws.
static bool isScalarRole(Attribute value) {
  return isKnownRole(value) &&
         llvm::is_contained({"seed", "offset", "step"}, cast<StringAttr>(value).getValue());
}

bool isRole(const AttributePlace &place, Attribute value) {
  return isKnownRole(value) && (!isScalarRole(value) || isI64Scalar(place.type));
}

std::string explainRole(const AttributePlace &, Attribute value) {
  return isScalarRole(value)
             ? "expected a tensor<i64> of role \"" + cast<StringAttr>(value).str() + "\""
             : "";
}

/// Returns the fault of the initial value of integers of type `element`, each of which must be in
/// the range of the type.
static std::string checkIntegers(Attribute value, Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  if (auto range = dyn_cast<UniformIntInitAttr>(value)) {
    if (width == 1)
      return "expected an initializer for i1, such as #reprise.fill";
    bool fits = llvm::isIntN(width, range.getLow()) && llvm::isIntN(width, range.getHigh() - 1);
    return fits ? "" : "expected 'reprise.init' to be a range of the argument's type";
  }
  if (auto fill = dyn_cast<FillInitAttr>(value)) {
    bool exact = false;
    APSInt integer(width, /*isUnsigned=*/width == 1);
    fill.getValue().getValue().convertToInteger(integer, APFloat::rmTowardZero, &exact);
    return exact ? "" : "expected 'reprise.init' to be an integer of the argument's type";
  }
  return "expected an initializer for integers, such as #reprise.uniform_int";
}

std::string explainInitializer(const AttributePlace &place, Attribute value) {
  if (!isa<NormalInitAttr, UniformInitAttr, UniformIntInitAttr, FillInitAttr>(value))
    return "";
  Type element = cast<ShapedType>(place.type).getElementType();
  if (element.isInteger())
    return checkIntegers(value, element);
  return isa<UniformIntInitAttr>(value)
             ? "expected an initializer for floats, such as #reprise.normal"
             : "";
}

bool isInitializer(const AttributePlace &place, Attribute value) {
  return isa<NormalInitAttr, UniformInitAttr, UniformIntInitAttr, FillInitAttr>(value) &&
         explainInitializer(place, value).empty();
}

bool isEntryName(const AttributePlace &place, Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  return name && (place.kind == AttributePlace::Result || !name.empty());
}

/// Reads a number from 0 on that an i64 can hold, of any type of integers; -1 for another
/// attribute.
static int64_t readNumber(Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  bool isSmall = number && (number.getType().isIndex() || (number.getType().isSignlessInteger() &&
                                                           number.getValue().getBitWidth() <= 64));
  return isSmall ? number.getInt() : -1;
}

bool isBatchDim(const AttributePlace &place, Attribute value) {
  int64_t dim = readNumber(value);
  return dim >= 0 && dim < cast<ShapedType>(place.type).getRank();
}

bool isPosition(const AttributePlace &, Attribute value) { return readNumber(value) >= 0; }
bool isText(const AttributePlace &, Attribute value) { return isa<StringAttr>(value); }

bool isShardingOf(Type type, Attribute value) {
  auto sharding = dyn_cast<ArrayAttr>(value);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!sharding || !tensor || static_cast<int64_t>(sharding.size()) != tensor.getRank())
    return false;
  auto model = StringAttr::get(value.getContext(), kModelAxis);
  return llvm::all_of(sharding,
                      [&](Attribute axis) { return axis == model || isa<UnitAttr>(axis); }) &&
         llvm::count(sharding, model) <= 1;
}

bool isSharding(const AttributePlace &place, Attribute value) {
  return isShardingOf(place.type, value);
}

bool isRows(const AttributePlace &place, Attribute value) {
  auto rows = dyn_cast<DenseI64ArrayAttr>(value);
  auto tensor = dyn_cast<RankedTensorType>(place.type);
  if (!rows || (rows.size() != 3 && rows.size() != 4) || !tensor)
    return false;
  int64_t dim = rows.size() == 4 ? rows[3] : 0;
  return dim >= 0 && dim < tensor.getRank() && rows[0] >= 0 && rows[0] < rows[1] &&
         rows[1] <= rows[2] && rows[1] - rows[0] == tensor.getDimSize(dim);
}

bool isCheck(const AttributePlace &place, Attribute value) {
  auto function = cast<FunctionOpInterface>(place.op);
  return isa<StringAttr>(value) && !function.getResultAttr(place.number, EntrySignature::kName);
}

bool isReplayOf(const AttributePlace &place, Attribute value) {
  auto function = cast<FunctionOpInterface>(place.op);
  int64_t original = readNumber(value);
  return original >= 0 && original < static_cast<int64_t>(place.number) &&
         function.getResultAttr(place.number, EntrySignature::kCheck) &&
         function.getResultTypes()[original] == place.type;
}

} // namespace reprise
