// reprise: the entries for training a model
#include "LossScale.h"
#include "Optimizers.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"

using namespace mlir;

namespace reprise::zoo {

namespace {

/// Builds functions on the arguments of a model.
class EntryBuilder {
public:
  EntryBuilder(ModuleOp module, const Model &model, const Options &options)
      : module(module), model(model), options(options), builder(module.getContext()) {}

  void addForward();
  /// @loss, or @scaled_loss: the loss times the argument loss_scale, then the loss.
  void addLoss(bool isScaled);
  void addGrad();
  void addDirectional();
  void addHvp();
  void addTrain();

private:
  /// Argument of a function under construction.
  struct Argument {
    Tensor tensor;
    Role role;
  };
  using Arguments = std::vector<Argument>;

  /// Starts a function; `values` gets its arguments by name.
  func::FuncOp start(StringRef name, ArrayRef<Argument> arguments, bool isPrivate, Values &values);
  /// Writes roles, names and initializers on the function's arguments.
  void describe(func::FuncOp function, ArrayRef<Argument> arguments);
  /// Ends the function with named results.
  void finish(func::FuncOp function, GraphBuilder &g, const NamedValues &results, bool named);

  static void append(Arguments &arguments, ArrayRef<Tensor> tensors, Role role);
  Arguments modelArguments() const;
  Arguments withDirections();
  SmallVector<Value> pick(const Values &values, ArrayRef<Argument> arguments) const;
  /// Returns all results of the function, then the gradients for all parameters.
  SmallVector<Value> differentiate(GraphBuilder &g, StringRef function, const Values &values,
                                   ArrayRef<Argument> arguments);
  /// The gradients at the end of the results of `differentiate`.
  ArrayRef<Value> gradients(ArrayRef<Value> results) const {
    return results.take_back(model.parameters.size());
  }
  /// Blends the batch's statistics into the running statistics.
  void appendStatistics(GraphBuilder &g, const Values &values, ArrayRef<Value> statistics,
                        NamedValues &results);
  bool scalesLoss() const { return options.precision == Precision::F16; }
  RankedTensorType scalarType() { return RankedTensorType::get({}, builder.getF32Type()); }

  ModuleOp module;
  const Model &model;
  const Options &options;
  OpBuilder builder;
  std::vector<std::string> statistics; ///< states that a loss function's last results update
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

/// Sets all attributes together, because each list of attributes is unique in the context and lives
/// as long as the context.
void EntryBuilder::describe(func::FuncOp function, ArrayRef<Argument> arguments) {
  SmallVector<DictionaryAttr> attributes;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    NamedAttrList list;
    static constexpr const char *roles[] = {"input", "parameter", "state"};
    list.set(EntrySignature::kRole,
             builder.getStringAttr(roles[static_cast<size_t>(argument.role)]));
    list.set(EntrySignature::kName, builder.getStringAttr(argument.tensor.name));
    list.set(EntrySignature::kInit, argument.tensor.init);
    bool isBatched = argument.role == Role::Input && argument.tensor.type.getRank() > 0 &&
                     i < model.inputs.size();
    if (isBatched)
      list.set(EntrySignature::kBatchDim, builder.getI64IntegerAttr(0));
    attributes.push_back(list.getDictionary(builder.getContext()));
  }
  function.setAllArgAttrs(attributes);
}

void EntryBuilder::finish(func::FuncOp function, GraphBuilder &g, const NamedValues &results,
                          bool named) {
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
            builder.getNamedAttr(EntrySignature::kName, builder.getStringAttr(result.first));
        return builder.getDictionaryAttr(name);
      }));
}

void EntryBuilder::append(Arguments &arguments, ArrayRef<Tensor> tensors, Role role) {
  for (const Tensor &tensor : tensors)
    arguments.push_back({tensor, role});
}

EntryBuilder::Arguments EntryBuilder::modelArguments() const {
  Arguments arguments;
  append(arguments, model.inputs, Role::Input);
  append(arguments, model.parameters, Role::Parameter);
  return arguments;
}

EntryBuilder::Arguments EntryBuilder::withDirections() {
  Arguments arguments = modelArguments();
  GraphBuilder g(builder);
  for (const Tensor &parameter : model.parameters)
    arguments.push_back(
        {{"direction/" + parameter.name, parameter.type, normalInit(g.b, 1.0)}, Role::Input});
  return arguments;
}

SmallVector<Value> EntryBuilder::pick(const Values &values, ArrayRef<Argument> arguments) const {
  return llvm::map_to_vector(arguments,
                             [&](const Argument &a) { return values.lookup(a.tensor.name); });
}

SmallVector<Value> EntryBuilder::differentiate(GraphBuilder &g, StringRef function,
                                               const Values &values, ArrayRef<Argument> arguments) {
  SmallVector<int64_t> wrt;
  auto callee = module.lookupSymbol<func::FuncOp>(function);
  SmallVector<Type> types = llvm::to_vector(callee.getResultTypes());
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (argument.role == Role::Parameter) {
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
  Arguments arguments;
  append(arguments, ArrayRef(model.inputs).drop_back(), Role::Input);
  append(arguments, model.parameters, Role::Parameter);
  append(arguments, model.states, Role::State);
  func::FuncOp function = start("forward", arguments, false, values);
  Forward f(builder, options, values);
  finish(function, f.g, {{"logits", model.logits(f)}}, true);
}

void EntryBuilder::addLoss(bool isScaled) {
  Values values;
  Arguments arguments = modelArguments();
  GraphBuilder g(builder);
  if (isScaled)
    arguments.push_back({lossScaleState(g).front(), Role::State});
  func::FuncOp function = start(isScaled ? "scaled_loss" : "loss", arguments, true, values);
  Forward f(builder, options, values);
  f.isTraining = true;
  f.dropout = options.dropout;
  Value logits = model.logits(f);
  f.g.scope("loss");
  Value loss =
      model.loss
          ? model.loss(f, logits)
          : f.g.mean(CrossEntropyOp::create(f.g.b, logits, f.input(model.inputs.back().name)));
  for (Value penalty : f.penalties)
    loss = f.g.add(loss, penalty);
  NamedValues results;
  if (isScaled)
    results.push_back({"scaled_loss", f.g.mul(loss, values.lookup("loss_scale"))});
  results.push_back({"loss", loss});
  statistics.clear();
  for (const Forward::Statistic &statistic : f.statistics) {
    results.push_back({statistic.state, statistic.batch});
    statistics.push_back(statistic.state);
  }
  finish(function, f.g, results, false);
}

void EntryBuilder::addGrad() {
  Values values;
  Arguments arguments = modelArguments();
  func::FuncOp function = start("grad", arguments, false, values);
  GraphBuilder g(builder);
  SmallVector<Value> results = differentiate(g, "loss", values, arguments);
  NamedValues named{{"loss", results[0]}};
  for (auto [parameter, gradient] : llvm::zip(model.parameters, gradients(results)))
    named.push_back({"gradient/" + parameter.name, gradient});
  finish(function, g, named, true);
}

void EntryBuilder::addDirectional() {
  Values values;
  Arguments arguments = withDirections();
  func::FuncOp function = start("directional", arguments, true, values);
  GraphBuilder g(builder);
  g.scope("directional");
  SmallVector<Value> results = differentiate(g, "loss", values, modelArguments());
  Value total;
  for (auto [parameter, gradient] : llvm::zip(model.parameters, gradients(results))) {
    Value part = g.sum(g.mul(gradient, values.lookup("direction/" + parameter.name)));
    total = total ? g.add(total, part) : part;
  }
  finish(function, g, {{"directional", total}}, false);
}

void EntryBuilder::addHvp() {
  Values values;
  Arguments arguments = withDirections();
  func::FuncOp function = start("hvp", arguments, false, values);
  GraphBuilder g(builder);
  SmallVector<Value> results = differentiate(g, "directional", values, arguments);
  NamedValues named;
  for (auto [parameter, product] : llvm::zip(model.parameters, gradients(results)))
    named.push_back({"hvp/" + parameter.name, product});
  finish(function, g, named, true);
}

void EntryBuilder::appendStatistics(GraphBuilder &g, const Values &values, ArrayRef<Value> fresh,
                                    NamedValues &results) {
  constexpr double momentum = 0.1; // by PyTorch's convention
  for (auto [name, value] : llvm::zip(statistics, fresh))
    results.push_back({name, g.add(g.mul(values.lookup(name), g.scalar(1.0 - momentum)),
                                   g.mul(value, g.scalar(momentum)))});
}

void EntryBuilder::addTrain() {
  GraphBuilder g(builder);
  Values values;
  Arguments loss = modelArguments();
  std::vector<Tensor> scale = scalesLoss() ? lossScaleState(g) : std::vector<Tensor>();
  Arguments arguments = loss;
  Tensor rate{"learning_rate", scalarType(), fillInit(g.b, defaultRate(options.optimizer))};
  arguments.insert(arguments.begin() + model.inputs.size(), {rate, Role::Input});
  append(arguments, optimizerState(g, options.optimizer, model.parameters), Role::State);
  append(arguments, model.states, Role::State);
  append(arguments, scale, Role::State);
  if (scalesLoss())
    loss.push_back({scale.front(), Role::State});
  func::FuncOp function = start("train", arguments, false, values);
  g = GraphBuilder(builder);
  auto results = differentiate(g, scalesLoss() ? "scaled_loss" : "loss", values, loss);
  g.scope("optimizer");
  size_t numGradients = model.parameters.size(), numPrimal = results.size() - numGradients;
  MutableArrayRef<Value> gradients = MutableArrayRef(results).drop_front(numPrimal);
  Value finite;
  if (scalesLoss()) {
    unscale(g, values, gradients);
    finite = areFinite(g, gradients);
  }
  Value norm;
  if (options.clipNorm > 0)
    norm = clipNorm(g, gradients, options.clipNorm);
  NamedValues next;
  appendUpdates(g, options.optimizer, model.parameters, values, gradients, next);
  appendStatistics(g, values,
                   ArrayRef(results).slice(numPrimal - statistics.size(), statistics.size()), next);
  if (scalesLoss()) {
    skipUnless(g, finite, values, next);
    appendLossScale(g, finite, values, next);
  }
  next.insert(next.begin(), {"loss", results[scalesLoss() ? 1 : 0]});
  if (norm)
    next.insert(next.begin() + 1, {"gradient_norm", norm});
  finish(function, g, next, true);
}

} // namespace

void addEntries(ModuleOp module, const Model &model, const Options &options) {
  EntryBuilder entries(module, model, options);
  entries.addLoss(/*isScaled=*/false);
  if (options.precision == Precision::F16)
    entries.addLoss(/*isScaled=*/true);
  entries.addTrain();
  entries.addGrad();
  entries.addDirectional();
  entries.addHvp();
  entries.addForward();
}

} // namespace reprise::zoo
