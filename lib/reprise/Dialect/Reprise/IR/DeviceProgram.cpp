// reprise: device programs: assembly, verification and attributes.
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"

#include "mlir/Interfaces/FunctionImplementation.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;
using namespace reprise;

//===-- program -------------------------------------------------------------------------------===//

static constexpr int64_t kMostOfDevice = 1023;

void ProgramOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type,
                      ArrayRef<int64_t> devices) {
  build(builder, state, name, type, devices, /*arg_attrs=*/nullptr, /*res_attrs=*/nullptr);
}

static ParseResult parseDevices(OpAsmParser &parser, OperationState &result) {
  if (parser.parseKeyword("devices"))
    return failure();
  Attribute devices = DenseI64ArrayAttr::parse(parser, Type());
  if (!devices)
    return failure();
  result.addAttribute(ProgramOp::getDevicesAttrName(result.name), devices);
  return success();
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> resultTypes;
  SmallVector<DictionaryAttr> resultAttributes;
  bool isVariadic = false;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes) ||
      parseDevices(parser, result) ||
      function_interface_impl::parseFunctionSignatureWithArguments(
          parser, /*allowVariadic=*/false, arguments, isVariadic, resultTypes, resultAttributes) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  SmallVector<Type> types =
      llvm::map_to_vector(arguments, [](const OpAsmParser::Argument &each) { return each.type; });
  result.addAttribute(getFunctionTypeAttrName(result.name),
                      TypeAttr::get(builder.getFunctionType(types, resultTypes)));
  call_interface_impl::addArgAndResultAttrs(builder, result, arguments, resultAttributes,
                                            getArgAttrsAttrName(result.name),
                                            getResAttrsAttrName(result.name));
  return parser.parseRegion(*result.addRegion(), arguments);
}

void ProgramOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << " devices ";
  getDevicesAttr().print(printer);
  printer << ' ';
  function_interface_impl::printFunctionSignature(printer, *this, getArgumentTypes(),
                                                  /*isVariadic=*/false, getResultTypes());
  function_interface_impl::printFunctionAttributes(printer, *this,
                                                   {getFunctionTypeAttrName(), getDevicesAttrName(),
                                                    getArgAttrsAttrName(), getResAttrsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ProgramOp::verify() {
  if (getDevices().empty())
    return emitOpError("expected at least one device");
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t device : getDevices()) {
    if (device < 0 || device > kMostOfDevice)
      return emitOpError("expected devices from 0 to ") << kMostOfDevice << ", got " << device;
    if (!seen.insert(device).second)
      return emitOpError("device ") << device << " is listed twice";
  }
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  if (getBody().front().empty() || !isa<ReturnOp>(getBody().front().back()))
    return emitOpError("expected a body that ends in reprise.return");
  return success();
}

LogicalResult ReturnOp::verify() {
  auto program = cast<ProgramOp>((*this)->getParentOp());
  if (getOperandTypes() != TypeRange(program.getResultTypes()))
    return emitOpError("expected operands of the types of the program's results");
  return success();
}

//===-- Attributes ----------------------------------------------------------------------------===//

namespace reprise {

std::optional<int64_t> findOnlyDevice(FunctionOpInterface function) {
  auto program = dyn_cast<ProgramOp>(function.getOperation());
  bool isOne = program && program.getDevices().size() == 1;
  return isOne ? std::optional(program.getDevices().front()) : std::nullopt;
}

LogicalResult verifyOneDevice(ProgramOp program) {
  if (findOnlyDevice(program))
    return success();
  return program.emitError("expected a program of one device, got one of ")
         << program.getDevices().size();
}

int64_t getEnoughArena(ProgramOp program) {
  auto plan = program->getAttrOfType<PlanAttr>(kPlanAttr);
  return plan ? plan.getEnoughArena() : 0;
}

StringRef getEntryName(FunctionOpInterface program) {
  auto entry = program->getAttrOfType<StringAttr>(kEntryAttr);
  return entry ? entry.getValue() : program.getName();
}

InFlightDiagnostic emitNoProgram(ModuleOp module) {
  return module.emitError("expected a device program, a '") << ProgramOp::getOperationName() << "'";
}

SmallVector<ProgramOp> findPrograms(ModuleOp module) {
  return llvm::to_vector(module.getOps<ProgramOp>());
}

} // namespace reprise
