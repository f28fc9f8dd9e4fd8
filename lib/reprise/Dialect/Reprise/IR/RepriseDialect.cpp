// reprise: the dialect, its kinds of attributes and its verifiers of attributes
#include "reprise/Dialect/Reprise/IR/AttributeTable.h"
#include "reprise/Dialect/Reprise/IR/Call.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include "Assembly.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
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
/// Inliner interface: every op may move with its function's body.
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
  addOperations<CustomCallOp, PauseOp>();
}

Operation *RepriseDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                               Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, location, elements);
}

//===-- Initial values ------------------------------------------------------------------------===//

/// Returns true if a decimal integer comes next. The parser itself cannot tell without consuming
/// the sign, and reads the hexadecimal form of infinities as an integer.
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

//===-- Attributes of ops, arguments and results ----------------------------------------------===//

LogicalResult RepriseDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyAttribute(getAttributeTable(), {AttributePlace::Op, op}, attribute);
}

LogicalResult RepriseDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                       NamedAttribute attribute) {
  auto type =
      dyn_cast<RankedTensorType>(cast<FunctionOpInterface>(op).getArgumentTypes()[argument]);
  if (!type || !type.hasStaticShape())
    return op->emitError("expected a statically shaped tensor for an argument with reprise "
                         "attributes (argument ")
           << argument << ")";
  return verifyArgumentAttribute(getAttributeTable(), op, argument, attribute);
}

LogicalResult RepriseDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                          NamedAttribute attribute) {
  return verifyResultAttribute(getAttributeTable(), op, result, attribute);
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
