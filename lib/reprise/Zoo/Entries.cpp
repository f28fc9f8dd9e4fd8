// reprise: the entries that training makes of a model
#include "Model.h"

#include "Optimizers.h"

using namespace mlir;

namespace reprise::zoo {

namespace {

/// Builds functions on the arguments of a model.
class EntryBuilder {
public:
  EntryBuilder(ModuleOp module, const Model &model, const Options &options)
      : module(module), model(model), options(options), builder(module.getContext()) {}

  void addForward();
  void addLoss();
  void addGrad();
  void addDirectional();
  void addHvp();
  void addTrain();

private:
  /// An argument of a function under construction.
  struct Argument {
    Tensor tensor;
    const char *role;
  };

  /// Starts a function; `values` gets its arguments by name.
  func::FuncOp start(StringRef name, ArrayRef<Argument> arguments, bool isPrivate, Values &values);
  /// Writes roles, names and initializers on the function's arguments.
  void describe(func::FuncOp function, ArrayRef<Argument> arguments);
  /// Ends it with named results.
  void finish(func::FuncOp function, GraphBuilder &g,
              ArrayRef<std::pair<std::string, Value>> results, bool named);

  std::vector<Argument> modelArguments(bool withLabels = true) const;
  std::vector<Argument> withDirections();
  SmallVector<Value> pick(const Values &values, ArrayRef<Argument> arguments) const;
  /// Loss (or directional derivative) and gradients for all parameters.
  SmallVector<Value> differentiate(GraphBuilder &g, StringRef function, const Values &values,
                                   ArrayRef<Argument> arguments, Type result);
  RankedTensorType scalarType() { return RankedTensorType::get({}, builder.getF32Type()); }

  ModuleOp module;
  const Model &model;
  const Options &options;
  OpBuilder builder;
};

func::FuncOp EntryBuilder::start(StringRef name, ArrayRef<Argument> arguments, bool isPrivate,
                                 Values &values) {
  auto types =
      llvm::map_to_vector(arguments, [](const Argument &a) -> Type { return a.tensor.type; });
  auto function = func::FuncOp::create(module.getLoc(), name,
                                       FunctionType::get(module.getContext(), types, {}));
  if (isPrivate)
    function.setPrivate();
  module.push_back(function);
  Block *body = function.addEntryBlock();
  for (auto [i, argument] : llvm::enumerate(arguments))
    values[argument.tensor.name] = body->getArgument(i);
  if (!isPrivate)
    describe(function, arguments);
  builder.setInsertionPointToEnd(body);
  return function;
}

/// All at once: each list of attributes is unique in the context and lives as long.
void EntryBuilder::describe(func::FuncOp function, ArrayRef<Argument> arguments) {
  SmallVector<DictionaryAttr> attributes;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    NamedAttrList list;
    list.set("reprise.role", builder.getStringAttr(argument.role));
    list.set("reprise.name", builder.getStringAttr(argument.tensor.name));
    list.set("reprise.init", argument.tensor.init);
    bool isBatched = StringRef(argument.role) == "input" && argument.tensor.type.getRank() > 0 &&
                     i < model.inputs.size();
    if (isBatched)
      list.set("reprise.batch_dim", builder.getI64IntegerAttr(0));
    attributes.push_back(list.getDictionary(builder.getContext()));
  }
  function.setAllArgAttrs(attributes);
}

void EntryBuilder::finish(func::FuncOp function, GraphBuilder &g,
                          ArrayRef<std::pair<std::string, Value>> results, bool named) {
  SmallVector<Value> values;
  SmallVector<Type> types;
  for (const auto &[name, value] : results) {
    values.push_back(value);
    types.push_back(value.getType());
  }
  func::ReturnOp::create(g.b, values);
  function.setFunctionType(builder.getFunctionType(function.getArgumentTypes(), types));
  if (!named)
    return;
  function.setAllResultAttrs(
      llvm::map_to_vector(results, [&](const auto &result) -> DictionaryAttr {
        NamedAttribute name =
            builder.getNamedAttr("reprise.name", builder.getStringAttr(result.first));
        return builder.getDictionaryAttr(name);
      }));
}

std::vector<EntryBuilder::Argument> EntryBuilder::modelArguments(bool withLabels) const {
  std::vector<Argument> arguments;
  for (const Tensor &input : ArrayRef(model.inputs).drop_back(withLabels ? 0 : 1))
    arguments.push_back({input, "input"});
  for (const Tensor &parameter : model.parameters)
    arguments.push_back({parameter, "parameter"});
  return arguments;
}

std::vector<EntryBuilder::Argument> EntryBuilder::withDirections() {
  std::vector<Argument> arguments = modelArguments();
  auto one = FloatAttr::get(Float64Type::get(module.getContext()), 1.0);
  auto zero = FloatAttr::get(Float64Type::get(module.getContext()), 0.0);
  for (const Tensor &parameter : model.parameters)
    arguments.push_back({{"direction/" + parameter.name, parameter.type,
                          NormalInitAttr::get(module.getContext(), zero, one)},
                         "input"});
  return arguments;
}

SmallVector<Value> EntryBuilder::pick(const Values &values, ArrayRef<Argument> arguments) const {
  return llvm::map_to_vector(arguments,
                             [&](const Argument &a) { return values.lookup(a.tensor.name); });
}

SmallVector<Value> EntryBuilder::differentiate(GraphBuilder &g, StringRef function,
                                               const Values &values, ArrayRef<Argument> arguments,
                                               Type result) {
  SmallVector<int64_t> wrt;
  SmallVector<Type> types{result};
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (StringRef(argument.role) == "parameter") {
      wrt.push_back(i);
      types.push_back(argument.tensor.type);
    }
  auto op =
      ValueAndGradOp::create(g.b, types, FlatSymbolRefAttr::get(module.getContext(), function),
                             pick(values, arguments), wrt, ArrayRef<int64_t>{0});
  return llvm::to_vector_of<Value>(op.getResults());
}

void EntryBuilder::addForward() {
  Values values;
  auto arguments = modelArguments(/*withLabels=*/false);
  func::FuncOp function = start("forward", arguments, false, values);
  GraphBuilder g(builder);
  finish(function, g, {{"logits", model.logits(g, values, 0.0)}}, true);
}

void EntryBuilder::addLoss() {
  Values values;
  func::FuncOp function = start("loss", modelArguments(), true, values);
  GraphBuilder g(builder);
  Value logits = model.logits(g, values, options.dropout);
  g.scope("loss");
  Value each = g.crossEntropy(logits, values.lookup(model.inputs.back().name));
  finish(function, g, {{"loss", g.mean(each)}}, false);
}

void EntryBuilder::addGrad() {
  Values values;
  auto arguments = modelArguments();
  func::FuncOp function = start("grad", arguments, false, values);
  GraphBuilder g(builder);
  SmallVector<Value> results = differentiate(g, "loss", values, arguments, scalarType());
  std::vector<std::pair<std::string, Value>> named{{"loss", results[0]}};
  for (auto [i, parameter] : llvm::enumerate(model.parameters))
    named.push_back({"gradient/" + parameter.name, results[i + 1]});
  finish(function, g, named, true);
}

void EntryBuilder::addDirectional() {
  Values values;
  auto arguments = withDirections();
  func::FuncOp function = start("directional", arguments, true, values);
  GraphBuilder g(builder);
  g.scope("directional");
  SmallVector<Value> results = differentiate(g, "loss", values, modelArguments(), scalarType());
  Value total;
  for (auto [i, parameter] : llvm::enumerate(model.parameters)) {
    Value part = g.sum(g.mul(results[i + 1], values.lookup("direction/" + parameter.name)));
    total = total ? g.add(total, part) : part;
  }
  finish(function, g, {{"directional", total}}, false);
}

void EntryBuilder::addHvp() {
  Values values;
  auto arguments = withDirections();
  func::FuncOp function = start("hvp", arguments, false, values);
  GraphBuilder g(builder);
  SmallVector<Value> results = differentiate(g, "directional", values, arguments, scalarType());
  std::vector<std::pair<std::string, Value>> named;
  for (auto [i, parameter] : llvm::enumerate(model.parameters))
    named.push_back({"hvp/" + parameter.name, results[i + 1]});
  finish(function, g, named, true);
}

void EntryBuilder::addTrain() {
  Values values;
  std::vector<Argument> arguments = modelArguments(), state;
  auto makeScalar = [&](StringRef name, double value, const char *role) {
    auto init = FillInitAttr::get(module.getContext(), builder.getF64FloatAttr(value));
    arguments.insert(arguments.begin() + model.inputs.size(),
                     {{name.str(), scalarType(), init}, role});
  };
  makeScalar("learning_rate", defaultRate(options.optimizer), "input");
  auto loss = modelArguments();
  for (const Tensor &tensor : optimizerState(builder, options.optimizer, model.parameters))
    arguments.push_back({tensor, "state"});
  func::FuncOp function = start("train", arguments, false, values);
  GraphBuilder g(builder);
  SmallVector<Value> results = differentiate(g, "loss", values, loss, scalarType());
  std::vector<std::pair<std::string, Value>> named{{"loss", results[0]}};
  g.scope("optimizer");
  appendUpdates(g, options.optimizer, model.parameters, values, ArrayRef(results).drop_front(),
                named);
  finish(function, g, named, true);
}

} // namespace

void addEntries(ModuleOp module, const Model &model, const Options &options) {
  EntryBuilder entries(module, model, options);
  entries.addLoss();
  entries.addTrain();
  entries.addGrad();
  entries.addDirectional();
  entries.addHvp();
  entries.addForward();
}

} // namespace reprise::zoo
