// reprise: modules of the C API, built op by op
#include "Handles.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace reprise::capi;

namespace {
/// Op whose region is under construction.
struct OpenOp {
  OperationState state;
  std::unique_ptr<Region> region;
  OpBuilder::InsertPoint outside;
  size_t begin; ///< index of the first value of the region
};
} // namespace

struct reprise_builder {
  explicit reprise_builder(SessionPtr session, const char *name)
      : session(std::move(session)), name(name), builder(&this->session->context) {
    begin();
  }
  ~reprise_builder() { reset(); }

  void begin() { module = ModuleOp::create(FileLineColLoc::get(&session->context, name, 1, 1)); }
  /// Drops open ops from the innermost on, because values live in open regions.
  void reset() {
    while (!open.empty())
      open.pop_back();
    module = nullptr;
  }

  reprise_error *fail(const std::string &what) { return session->fail(what, REPRISE_BAD_USAGE); }
  Location place(const reprise_op &op) const;
  LogicalResult readTypes(const char *const *texts, size_t count, SmallVectorImpl<Type> &types);
  FailureOr<NamedAttribute> read(const reprise_attribute &attribute);
  LogicalResult describe(const reprise_op &op, OperationState &state);
  LogicalResult create(const OperationState &state, reprise_value *results);
  void number(ValueRange range, reprise_value *numbers);
  LogicalResult say(const Twine &what) {
    session->say({REPRISE_ERROR, what.str(), "", 0, 0});
    return failure();
  }
  /// Copies the fields that the caller's version of the struct has.
  template <typename T> static T copyOf(const T &given) {
    T copy = {};
    std::memcpy(&copy, &given, std::min(given.struct_size, sizeof copy));
    return copy;
  }

  SessionPtr session;
  std::string name;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  std::vector<Value> values; ///< values of the function, by number
  std::map<size_t, SmallVector<NamedAttribute>> resultAttributes;
  std::vector<std::unique_ptr<OpenOp>> open;
};

Location reprise_builder::place(const reprise_op &op) const {
  MLIRContext *context = &session->context;
  Location known = op.file ? Location(FileLineColLoc::get(context, op.file, op.line, op.column))
                           : Location(FileLineColLoc::get(context, name, 1, 1));
  if (!op.scope || !*op.scope)
    return known;
  return NameLoc::get(StringAttr::get(context, op.scope), known);
}

LogicalResult reprise_builder::readTypes(const char *const *texts, size_t count,
                                         SmallVectorImpl<Type> &types) {
  for (size_t i = 0; i < count; ++i) {
    if (!texts[i])
      return say("type " + Twine(i) + " is null");
    Type type = parseType(texts[i], &session->context);
    if (!type)
      return say("'" + Twine(texts[i]) + "' is no type");
    types.push_back(type);
  }
  return success();
}

FailureOr<NamedAttribute> reprise_builder::read(const reprise_attribute &given) {
  reprise_attribute own = copyOf(given);
  bool isText = own.kind <= REPRISE_ATTRIBUTE_SYMBOL;
  bool isArray = own.kind == REPRISE_ATTRIBUTE_INTEGERS && own.num_integers > 0;
  if (!own.name)
    return say("argument 'attribute.name' is null");
  if ((isText && !own.text) || (isArray && !own.integers))
    return say("'" + Twine(isText ? "text" : "integers") + "' of attribute '" + own.name +
               "' is null");
  Attribute value;
  switch (own.kind) {
  case REPRISE_ATTRIBUTE_TEXT:
    value = parseAttribute(own.text, &session->context);
    break;
  case REPRISE_ATTRIBUTE_STRING:
    value = builder.getStringAttr(own.text);
    break;
  case REPRISE_ATTRIBUTE_SYMBOL:
    value = FlatSymbolRefAttr::get(&session->context, own.text);
    break;
  case REPRISE_ATTRIBUTE_INTEGER:
    if (own.integers && own.num_integers == 1)
      value = builder.getI64IntegerAttr(own.integers[0]);
    break;
  case REPRISE_ATTRIBUTE_FLOAT:
    value = builder.getF32FloatAttr(static_cast<float>(own.number));
    break;
  case REPRISE_ATTRIBUTE_INTEGERS:
    value = builder.getDenseI64ArrayAttr(ArrayRef(own.integers, own.num_integers));
    break;
  case REPRISE_ATTRIBUTE_UNIT:
    value = builder.getUnitAttr();
    break;
  }
  if (!value)
    return say("attribute '" + Twine(own.name) + "' cannot be read");
  return builder.getNamedAttr(own.name, value);
}

LogicalResult reprise_builder::describe(const reprise_op &op, OperationState &state) {
  if (!state.name.isRegistered())
    return say("there is no op '" + Twine(op.name) + "'");
  for (size_t i = 0; i < op.num_operands; ++i) {
    if (op.operands[i] >= values.size())
      return say("operand " + Twine(i) + " of '" + op.name + "' is no value of the function");
    state.addOperands(values[op.operands[i]]);
  }
  SmallVector<Type> types;
  if (failed(readTypes(op.result_types, op.num_results, types)))
    return failure();
  state.addTypes(types);
  for (size_t i = 0; i < op.num_attributes; ++i) {
    FailureOr<NamedAttribute> attribute = read(op.attributes[i]);
    if (failed(attribute))
      return failure();
    state.addAttribute(attribute->getName(), attribute->getValue());
  }
  for (size_t i = 0; i < op.num_empty_regions; ++i)
    state.addRegion();
  return success();
}

void reprise_builder::number(ValueRange range, reprise_value *numbers) {
  for (auto [i, value] : llvm::enumerate(range)) {
    numbers[i] = static_cast<reprise_value>(values.size());
    values.push_back(value);
  }
}

/// Creates an op, and erases it again if it is invalid. A terminator is not verified here, because
/// its verifier reads the op around it, which is created later.
LogicalResult reprise_builder::create(const OperationState &state, reprise_value *results) {
  Operation *op = builder.create(state);
  if (!op->hasTrait<OpTrait::IsTerminator>() && failed(verify(op))) {
    op->erase();
    return failure();
  }
  number(op->getResults(), results);
  return success();
}

reprise_error *reprise_builder_create(reprise_session *session, const char *name,
                                      reprise_builder **builder) {
  if (reprise_error *error =
          refuseNull({{"session", session}, {"name", name}, {"builder", builder}}))
    return error;
  session->state->begin();
  *builder = new reprise_builder(session->state, name);
  return nullptr;
}

void reprise_builder_destroy(reprise_builder *builder) { delete builder; }

reprise_error *reprise_builder_begin_function(reprise_builder *builder, const char *name,
                                              const char *const *argument_types,
                                              size_t num_arguments, reprise_value *arguments) {
  if (reprise_error *error = refuseNull({{"builder", builder},
                                         {"name", name},
                                         {"argument_types", argument_types, num_arguments},
                                         {"arguments", arguments, num_arguments}}))
    return error;
  builder->session->begin();
  if (builder->function)
    return builder->fail("function '" + builder->function.getName().str() + "' has no end");
  SmallVector<Type> types;
  if (failed(builder->readTypes(argument_types, num_arguments, types)))
    return builder->session->fail(REPRISE_BAD_USAGE);
  if (builder->module->lookupSymbol(name))
    return builder->fail("a function '" + std::string(name) + "' exists already");
  OpBuilder &own = builder->builder;
  own.setInsertionPointToEnd(builder->module->getBody());
  builder->function =
      func::FuncOp::create(own, builder->module->getLoc(), name, own.getFunctionType(types, {}));
  Block *block = builder->function.addEntryBlock();
  own.setInsertionPointToEnd(block);
  builder->values.clear();
  builder->resultAttributes.clear();
  builder->number(block->getArguments(), arguments);
  return nullptr;
}

reprise_error *reprise_builder_set_argument(reprise_builder *builder, size_t index,
                                            const reprise_attribute *attribute) {
  if (reprise_error *error = refuseNull({{"builder", builder}, {"attribute", attribute}}))
    return error;
  builder->session->begin();
  if (!builder->function || index >= builder->function.getNumArguments())
    return builder->fail("there is no argument " + std::to_string(index));
  FailureOr<NamedAttribute> read = builder->read(*attribute);
  if (failed(read))
    return builder->session->fail(REPRISE_BAD_USAGE);
  builder->function.setArgAttr(index, read->getName(), read->getValue());
  return nullptr;
}

reprise_error *reprise_builder_set_result(reprise_builder *builder, size_t index,
                                          const reprise_attribute *attribute) {
  if (reprise_error *error = refuseNull({{"builder", builder}, {"attribute", attribute}}))
    return error;
  builder->session->begin();
  FailureOr<NamedAttribute> read = builder->read(*attribute);
  if (failed(read))
    return builder->session->fail(REPRISE_BAD_USAGE);
  builder->resultAttributes[index].push_back(*read);
  return nullptr;
}

static reprise_error *refuseNullIn(const reprise_op &op) {
  return refuseNull({{"op.name", op.name},
                     {"op.operands", op.operands, op.num_operands},
                     {"op.result_types", op.result_types, op.num_results},
                     {"op.attributes", op.attributes, op.num_attributes}});
}

reprise_error *reprise_builder_add(reprise_builder *builder, const reprise_op *given,
                                   reprise_value *results) {
  if (reprise_error *error = refuseNull({{"builder", builder}, {"op", given}}))
    return error;
  builder->session->begin();
  if (!builder->function)
    return builder->fail("an op needs a function around it");
  reprise_op op = reprise_builder::copyOf(*given);
  if (reprise_error *error = refuseNull({{"results", results, op.num_results}}))
    return error;
  if (reprise_error *error = refuseNullIn(op))
    return error;
  OperationState state(builder->place(op), op.name);
  if (failed(builder->describe(op, state)) || failed(builder->create(state, results)))
    return builder->session->fail(REPRISE_BAD_USAGE);
  return nullptr;
}

reprise_error *reprise_builder_open(reprise_builder *builder, const reprise_op *given,
                                    const char *const *argument_types, size_t num_arguments,
                                    reprise_value *arguments) {
  if (reprise_error *error = refuseNull({{"builder", builder},
                                         {"op", given},
                                         {"argument_types", argument_types, num_arguments},
                                         {"arguments", arguments, num_arguments}}))
    return error;
  builder->session->begin();
  if (!builder->function)
    return builder->fail("an op needs a function around it");
  reprise_op op = reprise_builder::copyOf(*given);
  if (reprise_error *error = refuseNullIn(op))
    return error;
  auto open = std::make_unique<OpenOp>(
      OpenOp{OperationState(builder->place(op), op.name), std::make_unique<Region>(),
             builder->builder.saveInsertionPoint(), builder->values.size()});
  SmallVector<Type> types;
  if (failed(builder->describe(op, open->state)) ||
      failed(builder->readTypes(argument_types, num_arguments, types)))
    return builder->session->fail(REPRISE_BAD_USAGE);
  Block &block = open->region->emplaceBlock();
  for (Type type : types)
    block.addArgument(type, open->state.location);
  builder->builder.setInsertionPointToEnd(&block);
  builder->number(block.getArguments(), arguments);
  builder->open.push_back(std::move(open));
  return nullptr;
}

reprise_error *reprise_builder_close(reprise_builder *builder, reprise_value *results) {
  if (reprise_error *error = refuseNull({{"builder", builder}}))
    return error;
  builder->session->begin();
  if (builder->open.empty())
    return builder->fail("no op is open");
  size_t numResults = builder->open.back()->state.types.size();
  if (reprise_error *error = refuseNull({{"results", results, numResults}}))
    return error;
  std::unique_ptr<OpenOp> open = std::move(builder->open.back());
  builder->open.pop_back();
  builder->builder.restoreInsertionPoint(open->outside);
  open->state.addRegion(std::move(open->region));
  if (succeeded(builder->create(open->state, results)))
    return nullptr;
  builder->values.resize(open->begin); // the values of the region no longer exist
  return builder->session->fail(REPRISE_BAD_USAGE);
}

reprise_error *reprise_builder_return(reprise_builder *builder, const reprise_value *numbers,
                                      size_t num_values) {
  if (reprise_error *error = refuseNull({{"builder", builder}, {"values", numbers, num_values}}))
    return error;
  builder->session->begin();
  if (!builder->function || !builder->open.empty())
    return builder->fail(builder->function ? "an op is open" : "there is no function to end");
  SmallVector<Value> values;
  for (size_t i = 0; i < num_values; ++i) {
    if (numbers[i] >= builder->values.size())
      return builder->fail("result " + std::to_string(i) + " is no value of the function");
    values.push_back(builder->values[numbers[i]]);
  }
  func::FuncOp function = builder->function;
  OpBuilder &own = builder->builder;
  function.setFunctionType(
      own.getFunctionType(function.getArgumentTypes(), ValueRange(values).getTypes()));
  func::ReturnOp::create(own, function.getLoc(), values);
  for (auto &[index, attributes] : builder->resultAttributes) {
    if (index >= num_values)
      return builder->fail("there is no result " + std::to_string(index));
    for (NamedAttribute attribute : attributes)
      function.setResultAttr(index, attribute.getName(), attribute.getValue());
  }
  builder->function = nullptr;
  return nullptr;
}

reprise_error *reprise_builder_finish(reprise_builder *builder, reprise_module **module) {
  if (reprise_error *error = refuseNull({{"builder", builder}, {"module", module}}))
    return error;
  builder->session->begin();
  if (builder->function)
    return builder->fail("function '" + builder->function.getName().str() + "' has no end");
  if (failed(verify(*builder->module)))
    return builder->session->fail();
  *module = new reprise_module{builder->session, std::move(builder->module), ""};
  builder->begin();
  return nullptr;
}
