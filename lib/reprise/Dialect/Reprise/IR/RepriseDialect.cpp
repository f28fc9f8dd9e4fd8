// reprise: the dialect, its attributes and the attributes that it puts on functions.
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include "Assembly.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace reprise;

#include "reprise/Dialect/Reprise/IR/RepriseDialect.cpp.inc"
#include "reprise/Dialect/Reprise/IR/RepriseEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "reprise/Dialect/Reprise/IR/RepriseAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "reprise/Dialect/Reprise/IR/RepriseOps.cpp.inc"

namespace {
/// Every op may move with its function's body.
struct RepriseInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void RepriseDialect::initialize() {
  addInterfaces<RepriseInlinerInterface>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "reprise/Dialect/Reprise/IR/RepriseAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "reprise/Dialect/Reprise/IR/RepriseOps.cpp.inc"
      >();
  addOperations<PauseOp>();
}

Operation *RepriseDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                               Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, location, elements);
}

//===-- Initial values ------------------------------------------------------------------------===//

/// True if a decimal integer comes next. The parser itself cannot tell without eating the sign, and
/// reads the hexadecimal form in which infinities are printed as an integer.
static bool isAtDecimalInteger(AsmParser &parser) {
  const char *text = parser.getCurrentLocation().getPointer();
  text += *text == '-';
  if (text[0] == '0' && text[1] == 'x')
    return false;
  while (llvm::isDigit(*text))
    ++text;
  return *text != '.';
}

static ParseResult parseDouble(AsmParser &parser, double &value) {
  if (!isAtDecimalInteger(parser))
    return parser.parseFloat(value);
  int64_t integer;
  if (parser.parseInteger(integer))
    return failure();
  value = static_cast<double>(integer);
  return success();
}

/// Prints the shortest decimal that reads back as the same double.
static void printDouble(AsmPrinter &printer, FloatAttr value) {
  printer.printFloat(value.getValue());
}

static Attribute parsePair(AsmParser &parser, function_ref<Attribute(FloatAttr, FloatAttr)> make) {
  double first, second;
  if (parser.parseLess() || parseDouble(parser, first) || parser.parseComma() ||
      parseDouble(parser, second) || parser.parseGreater())
    return {};
  Builder &builder = parser.getBuilder();
  return make(builder.getF64FloatAttr(first), builder.getF64FloatAttr(second));
}

static void printPair(AsmPrinter &printer, FloatAttr first, FloatAttr second) {
  printer << "<";
  printDouble(printer, first);
  printer << ", ";
  printDouble(printer, second);
  printer << ">";
}

Attribute NormalInitAttr::parse(AsmParser &parser, Type) {
  return parsePair(
      parser, [&](FloatAttr mean, FloatAttr std) { return get(parser.getContext(), mean, std); });
}
void NormalInitAttr::print(AsmPrinter &printer) const { printPair(printer, getMean(), getStd()); }

Attribute UniformInitAttr::parse(AsmParser &parser, Type) {
  return parsePair(
      parser, [&](FloatAttr low, FloatAttr high) { return get(parser.getContext(), low, high); });
}
void UniformInitAttr::print(AsmPrinter &printer) const { printPair(printer, getLow(), getHigh()); }

Attribute FillInitAttr::parse(AsmParser &parser, Type) {
  double value;
  if (parser.parseLess() || parseDouble(parser, value) || parser.parseGreater())
    return {};
  return get(parser.getContext(), parser.getBuilder().getF64FloatAttr(value));
}
void FillInitAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printDouble(printer, getValue());
  printer << ">";
}

LogicalResult UniformIntInitAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t low,
                                         int64_t high) {
  if (low >= high || static_cast<uint64_t>(high) - static_cast<uint64_t>(low) > (uint64_t{1} << 32))
    return emitError() << "expected a range [low, high) of 1 to 2^32 integers, got [" << low << ", "
                       << high << ")";
  return success();
}

//===-- Attributes on functions and ops -------------------------------------------------------===//

LogicalResult RepriseDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == "reprise.label" && !isa<LabelAttr>(attribute.getValue()))
    return op->emitOpError("expected 'reprise.label' to be a #reprise.label attribute");
  if (attribute.getName() == kDeviceAttr) {
    auto device = dyn_cast<IntegerAttr>(attribute.getValue());
    bool isNumber = device && device.getType().isInteger(64) && device.getInt() >= 0;
    if (!isNumber || !isa<func::FuncOp>(op))
      return op->emitOpError("expected 'reprise.device' to be the number of a device, on a "
                             "function");
  }
  return success();
}

/// What is wrong with the initial value of integers of type `element`, each of which must be one of
/// the type's.
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

/// What is wrong with the initial value of elements of type `element`; empty if nothing is.
static std::string checkInitializer(Attribute value, Type element) {
  if (!isa<NormalInitAttr, UniformInitAttr, UniformIntInitAttr, FillInitAttr>(value))
    return "expected 'reprise.init' to be a #reprise initializer";
  if (element.isInteger())
    return checkIntegers(value, element);
  return isa<UniformIntInitAttr>(value)
             ? "expected an initializer for floats, such as #reprise.normal"
             : "";
}

/// What is wrong with an attribute of a function's argument of type `type`; empty if nothing is.
static std::string checkPosition(Attribute value) {
  auto position = dyn_cast<IntegerAttr>(value);
  return position && position.getInt() >= 0
             ? ""
             : "expected 'reprise.position' to be a number from 0 on";
}

/// Of rows of a larger array: which array, or which rows.
static std::string checkPart(NamedAttribute attribute, Type type) {
  if (attribute.getName() == EntrySignature::kWhole)
    return isa<StringAttr>(attribute.getValue()) ? "" : "expected 'reprise.whole' to be a string";
  auto rows = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
  auto tensor = dyn_cast<RankedTensorType>(type);
  bool isGood = rows && rows.size() == 3 && tensor && tensor.getRank() > 0 && rows[0] >= 0 &&
                rows[0] < rows[1] && rows[1] <= rows[2] &&
                rows[1] - rows[0] == tensor.getDimSize(0);
  return isGood ? "" : "expected 'reprise.rows' to be a range of rows and how many there are";
}

static bool isOfPart(StringRef name) {
  return name == EntrySignature::kWhole || name == EntrySignature::kRows;
}

static std::string checkArgumentAttribute(NamedAttribute attribute, Type type) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  auto shaped = dyn_cast<RankedTensorType>(type);
  if (!shaped || !shaped.hasStaticShape())
    return "expected a statically shaped tensor for an argument with reprise attributes";
  if (name == EntrySignature::kRole) {
    auto role = dyn_cast<StringAttr>(value);
    bool known = role && llvm::StringSwitch<bool>(role.getValue())
                             .Cases({"input", "parameter", "state", "seed", "offset", "step"}, true)
                             .Default(false);
    if (!known)
      return "expected 'reprise.role' to be \"input\", \"parameter\" or \"state\"";
    bool scalar = role == "seed" || role == "offset" || role == "step";
    return scalar && !isI64Scalar(type) ? "expected a tensor<i64> of role \"" + role.str() + "\""
                                        : "";
  }
  if (name == EntrySignature::kName)
    return isa<StringAttr>(value) && !cast<StringAttr>(value).empty()
               ? ""
               : "expected 'reprise.name' to be a name";
  if (name == EntrySignature::kBatchDim) {
    auto dim = dyn_cast<IntegerAttr>(value);
    bool inRange = dim && dim.getInt() >= 0 && dim.getInt() < shaped.getRank();
    return inRange ? "" : "expected 'reprise.batch_dim' to be a dimension of the argument";
  }
  if (name == EntrySignature::kInit)
    return checkInitializer(value, shaped.getElementType());
  if (name == EntrySignature::kPosition)
    return checkPosition(value);
  if (isOfPart(name))
    return checkPart(attribute, type);
  return ("unknown attribute '" + name + "' on an argument").str();
}

LogicalResult RepriseDialect::verifyRegionArgAttribute(Operation *op, unsigned region,
                                                       unsigned argument,
                                                       NamedAttribute attribute) {
  std::string wrong =
      checkArgumentAttribute(attribute, op->getRegion(region).getArgument(argument).getType());
  if (!wrong.empty())
    return op->emitError(wrong) << " (argument " << argument << ")";
  return success();
}

/// What is wrong with an attribute of a function's result; empty if nothing is.
static std::string checkResultAttribute(FunctionOpInterface function, unsigned result,
                                        NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == EntrySignature::kName)
    return isa<StringAttr>(attribute.getValue()) ? "" : "expected 'reprise.name' to be a string";
  // What the entry returns for the comparison of replays only is no result of the model.
  if (name == EntrySignature::kCheck) {
    bool alone = !function.getResultAttr(result, EntrySignature::kName);
    return alone && isa<StringAttr>(attribute.getValue())
               ? ""
               : "expected 'reprise.check' to be a string without a name beside it";
  }
  if (name == EntrySignature::kReplayOf) {
    auto original = dyn_cast<IntegerAttr>(attribute.getValue());
    bool earlier = original && original.getInt() >= 0 && original.getInt() < result;
    return earlier && function.getResultAttr(result, EntrySignature::kCheck) &&
                   function.getResultTypes()[original.getInt()] == function.getResultTypes()[result]
               ? ""
               : "expected 'reprise.replay_of' to be an earlier result of the same type, with "
                 "'reprise.check' beside it";
  }
  if (name == EntrySignature::kPosition)
    return checkPosition(attribute.getValue());
  if (isOfPart(name))
    return checkPart(attribute, function.getResultTypes()[result]);
  return ("unknown attribute '" + name + "'").str();
}

LogicalResult RepriseDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                          NamedAttribute attribute) {
  std::string wrong = checkResultAttribute(cast<FunctionOpInterface>(op), result, attribute);
  if (!wrong.empty())
    return op->emitError(wrong) << " (result " << result << ")";
  return success();
}

//===-- Helpers of the ops --------------------------------------------------------------------===//

bool reprise::isI64Scalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 && tensor.getElementType().isInteger(64);
}

Type reprise::getComputeType(Type elementType) {
  if (elementType.isBF16() || elementType.isF16())
    return Float32Type::get(elementType.getContext());
  return elementType;
}
