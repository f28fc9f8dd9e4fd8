// reprise: judgement of an op by the dialect
#include "Template.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "reprise/Compiler.h"

using namespace mlir;

namespace reprise::fuzz {

std::string kindOf(StringRef message) {
  std::string result;
  for (char c : message)
    if (!isdigit(c) && c != 'x' && c != ',' && c != ' ' && c != '-')
      result += c;
  return result;
}

/// Returns a text that is never empty.
static std::string messageOf(const std::string &text) { return text.empty() ? "no message" : text; }

Operation *Judge::create(OpBuilder &builder, const Template &candidate, ValueRange operands) {
  OperationState state(builder.getUnknownLoc(), candidate.spec->name);
  state.addOperands(operands);
  state.addTypes(candidate.results);
  state.addAttributes(candidate.attributes);
  for (unsigned i = 0; i < candidate.spec->regions; ++i)
    state.addRegion();
  auto name = OperationName(candidate.spec->name, builder.getContext());
  if (name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    state.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr(candidate.segments));
  return builder.create(state);
}

/// Infers the results. Returns true unless the op infers its results and fails. Errors in the types
/// of attributes are left to the verifier.
bool Judge::infer(Template &candidate, ValueRange operands) {
  OperationName name(candidate.spec->name, context);
  auto *interface = name.getInterface<InferTypeOpInterface>();
  if (!interface)
    return true;
  NamedAttrList attributes = candidate.attributes;
  if (name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    attributes.set("operandSegmentSizes", DenseI32ArrayAttr::get(context, candidate.segments));
  Location location = UnknownLoc::get(context);
  std::vector<uint64_t> storage(name.getOpPropertyByteSize() / 8 + 1);
  OpaqueProperties properties(storage.data());
  name.initOpProperties(properties, OpaqueProperties(nullptr));
  DictionaryAttr dictionary = attributes.getDictionary(context);
  auto error = [&] { return emitError(location); };
  SmallVector<Type> results;
  bool good = succeeded(name.verifyInherentAttrs(attributes, error)) &&
              succeeded(name.setOpPropertiesFromAttribute(name, properties, dictionary, error)) &&
              succeeded(interface->inferReturnTypes(context, location, operands, dictionary,
                                                    properties, {}, results));
  name.destroyOpProperties(properties);
  if (good)
    candidate.results = results;
  return good;
}

std::string Judge::wellFormed(Template &candidate) {
  std::string text;
  ScopedDiagnosticHandler quiet(context, [&](Diagnostic &diagnostic) {
    text += diagnostic.str();
    return success();
  });
  Block block;
  for (RankedTensorType type : candidate.operands)
    block.addArgument(type, UnknownLoc::get(context));
  if (!infer(candidate, block.getArguments()))
    return messageOf(text);
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&block);
  Operation *op = create(builder, candidate, block.getArguments());
  return succeeded(verify(op)) ? "" : messageOf(text);
}

std::string Judge::importable(Template &candidate) {
  std::string text = wellFormed(candidate);
  if (!text.empty())
    return text;
  ScopedDiagnosticHandler quiet(context, [&](Diagnostic &diagnostic) {
    text += diagnostic.str();
    return success();
  });
  OpBuilder builder(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  SmallVector<Type> inputs(candidate.operands.begin(), candidate.operands.end());
  auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), "train",
                                       builder.getFunctionType(inputs, candidate.results));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  Operation *op = create(builder, candidate, function.getArguments());
  func::ReturnOp::create(builder, builder.getUnknownLoc(), op->getResults());
  return succeeded(runPhases(*module, Phase::Random, {})) ? "" : messageOf(text);
}

} // namespace reprise::fuzz
