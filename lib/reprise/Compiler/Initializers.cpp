// reprise: construction of the programs that write initial parameters and inputs
#include "Initializers.h"

#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

/// Returns the FNV-1a hash with 64 bits; the top bit separates these streams from those of the
/// model.
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

namespace {
/// The array that an argument is, or is rows of.
struct WholeArray {
  StringRef name;
  RankedTensorType type;
  SmallVector<int64_t> origin; ///< of rows; empty for the whole array
};
} // namespace

static WholeArray findWhole(const EntrySignature &signature, unsigned argument,
                            RankedTensorType type) {
  std::optional<EntrySignature::Rows> rows = signature.getArgumentRows(argument);
  if (!rows)
    return {signature.getArgumentName(argument).getValue(), type, {}};
  SmallVector<int64_t> shape(type.getShape()), origin(type.getRank(), 0);
  shape[rows->dim] = rows->of;
  origin[rows->dim] = rows->first;
  return {rows->whole.getValue(), type.clone(shape), origin};
}

/// Returns the begin of rows in their array; null for the whole array.
static Value getOrigin(ImplicitLocOpBuilder &b, const WholeArray &whole) {
  if (whole.origin.empty())
    return Value();
  auto type = RankedTensorType::get({whole.type.getRank()}, b.getI64Type());
  return ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef<int64_t>(whole.origin)));
}

static Value draw(ImplicitLocOpBuilder &b, RankedTensorType type, Attribute init,
                  const WholeArray &whole, Value seed, Value offset) {
  if (auto constant = dyn_cast<FillInitAttr>(init))
    return fill(b, type, constant.getValue().getValueAsDouble());
  auto stream = b.getI64IntegerAttr(initialStream(whole.name));
  auto shape = b.getDenseI64ArrayAttr(whole.type.getShape());
  Value origin = getOrigin(b, whole);
  if (auto normal = dyn_cast<NormalInitAttr>(init))
    return RandomNormalOp::create(b, type, seed, offset, origin, normal.getMean(), normal.getStd(),
                                  stream, shape, nullptr);
  if (auto uniform = dyn_cast<UniformInitAttr>(init))
    return RandomUniformOp::create(b, type, seed, offset, origin, uniform.getLow(),
                                   uniform.getHigh(), stream, shape, nullptr);
  auto uniform = cast<UniformIntInitAttr>(init);
  return RandomUniformIntOp::create(b, type, seed, offset, origin,
                                    b.getI64IntegerAttr(uniform.getLow()),
                                    b.getI64IntegerAttr(uniform.getHigh()), stream, shape);
}

/// Adds one initializer for the arguments that `wanted` picks.
static void addInitializer(ModuleOp module, ProgramOp step, StringRef name, bool inputs) {
  auto types = llvm::to_vector(step.getArgumentTypes());
  types.push_back(RankedTensorType::get({}, IntegerType::get(step.getContext(), 64)));
  OpBuilder end = OpBuilder::atBlockEnd(module.getBody());
  auto function = ProgramOp::create(end, step.getLoc(), name, end.getFunctionType(types, {}),
                                    step.getDevices());
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
    WholeArray whole = findWhole(signature, i, type);
    Value words = scalar(b, llvm::alignTo(whole.type.getNumElements(), 4));
    Value offset = inputs ? MulOp::create(b, number, words).getResult() : scalar(b, 0);
    StringAttr argumentName = signature.getArgumentName(i);
    values.push_back(draw(b, type, init, whole, seed, offset));
    resultTypes.push_back(type);
    names.push_back(argumentName);
  }
  ReturnOp::create(b, values);
  function.setFunctionType(FunctionType::get(step.getContext(), types, resultTypes));
  for (auto [i, resultName] : llvm::enumerate(names))
    function.setResultAttr(i, EntrySignature::kName, resultName);
}

OwningOpRef<ModuleOp> buildInitializers(ProgramOp step) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(step.getLoc());
  addInitializer(*module, step, "init_parameters", false);
  addInitializer(*module, step, "init_inputs", true);
  return module;
}

} // namespace reprise
