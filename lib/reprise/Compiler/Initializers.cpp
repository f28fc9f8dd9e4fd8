// reprise: the programs that write initial parameters and inputs
#include "Initializers.h"

#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

/// FNV-1a with 64 bits; the top bit keeps these streams apart from those of the model.
static int64_t initialStream(StringRef name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : name.bytes())
    hash = (hash ^ c) * 0x100000001b3;
  return static_cast<int64_t>(hash | uint64_t{1} << 63);
}

static Value scalar(ImplicitLocOpBuilder &b, int64_t value) {
  auto type = RankedTensorType::get({}, b.getI64Type());
  return ConstantOp::create(b, DenseElementsAttr::get(type, b.getI64IntegerAttr(value)));
}

static Value fill(ImplicitLocOpBuilder &b, RankedTensorType type, double value) {
  Type element = type.getElementType();
  Attribute splat = isa<FloatType>(element)
                        ? Attribute(b.getFloatAttr(element, value))
                        : b.getIntegerAttr(element, static_cast<int64_t>(value));
  return ConstantOp::create(b, DenseElementsAttr::get(type, splat));
}

static Value draw(ImplicitLocOpBuilder &b, RankedTensorType type, Attribute init, StringRef name,
                  Value seed, Value offset) {
  auto stream = b.getI64IntegerAttr(initialStream(name));
  auto shape = b.getDenseI64ArrayAttr(type.getShape());
  if (auto normal = dyn_cast<NormalInitAttr>(init))
    return RandomNormalOp::create(b, type, seed, offset, Value(), normal.getMean(), normal.getStd(),
                                  stream, shape, nullptr);
  if (auto uniform = dyn_cast<UniformInitAttr>(init))
    return RandomUniformOp::create(b, type, seed, offset, Value(), uniform.getLow(),
                                   uniform.getHigh(), stream, shape, nullptr);
  if (auto uniform = dyn_cast<UniformIntInitAttr>(init))
    return RandomUniformIntOp::create(b, type, seed, offset, Value(),
                                      b.getI64IntegerAttr(uniform.getLow()),
                                      b.getI64IntegerAttr(uniform.getHigh()), stream, shape);
  return fill(b, type, cast<FillInitAttr>(init).getValue().getValueAsDouble());
}

/// Adds one initializer for the arguments that `wanted` picks.
static void addInitializer(ModuleOp module, func::FuncOp step, StringRef name, bool inputs) {
  auto types = llvm::to_vector(step.getArgumentTypes());
  types.push_back(RankedTensorType::get({}, IntegerType::get(step.getContext(), 64)));
  auto function =
      func::FuncOp::create(step.getLoc(), name, FunctionType::get(step.getContext(), types, {}));
  module.push_back(function);
  setDevice(function, getDevice(step).value_or(0));
  Block *body = function.addEntryBlock();
  ImplicitLocOpBuilder b = ImplicitLocOpBuilder::atBlockEnd(step.getLoc(), body);
  EntrySignature signature(step);
  Value seed, number = body->getArguments().back();
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    function.setArgAttr(i, EntrySignature::kName, signature.getArgumentName(i));
    if (signature.getRole(i) == "seed")
      seed = body->getArgument(i);
  }
  SmallVector<Value> values;
  SmallVector<Type> resultTypes;
  SmallVector<Attribute> names;
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    Attribute init = signature.getInit(i);
    bool isInput = signature.getRole(i) == "input";
    if (!init || isInput != inputs)
      continue;
    auto type = cast<RankedTensorType>(step.getArgument(i).getType());
    Value words = scalar(b, llvm::alignTo(type.getNumElements(), 4));
    Value offset = inputs ? MulOp::create(b, number, words).getResult() : scalar(b, 0);
    StringAttr argumentName = signature.getArgumentName(i);
    values.push_back(draw(b, type, init, argumentName.getValue(), seed, offset));
    resultTypes.push_back(type);
    names.push_back(argumentName);
  }
  func::ReturnOp::create(b, values);
  function.setFunctionType(FunctionType::get(step.getContext(), types, resultTypes));
  for (auto [i, resultName] : llvm::enumerate(names))
    function.setResultAttr(i, EntrySignature::kName, resultName);
}

OwningOpRef<ModuleOp> buildInitializers(func::FuncOp step) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(step.getLoc());
  addInitializer(*module, step, "init_parameters", false);
  addInitializer(*module, step, "init_inputs", true);
  return module;
}

} // namespace reprise
