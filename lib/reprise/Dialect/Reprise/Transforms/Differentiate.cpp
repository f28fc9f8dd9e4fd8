// reprise: expands value_and_grad by the derivative rules of the ops.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "Signature.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// Marks every op that is made with what it inherits from its source op, and remembers it.
class Inheritance : public OpBuilder::Listener {
public:
  Inheritance(MLIRContext *context, unsigned height, bool outermost)
      : context(context), height(height), outermost(outermost) {
    setSource(nullptr);
  }

  /// What is made from now on comes from the rule of `source`, or from no op if it is null.
  void setSource(Operation *source) {
    Builder builder(context);
    NamedAttrList list;
    int64_t order = 0;
    if (source) {
      for (StringRef name : {"reprise.block", "reprise.label", "reprise.rule"})
        if (Attribute attribute = source->getDiscardableAttr(name))
          list.set(name, attribute);
      if (auto attribute =
              dyn_cast_or_null<IntegerAttr>(source->getDiscardableAttr("reprise.order")))
        order = attribute.getInt();
    }
    list.set("reprise.order", builder.getI64IntegerAttr(order + (int64_t{1} << height)));
    if (outermost)
      list.set("reprise.cotangent", builder.getUnitAttr());
    attributes = list.getDictionary(context);
  }

  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    op->setDiscardableAttrs(attributes);
    made.push_back(op);
  }

  /// Erases what the rules made in vain; consumers come after what they read. Returns how many ops
  /// stay.
  int64_t eraseUnused() {
    int64_t kept = 0;
    for (Operation *op : llvm::reverse(made)) {
      if (isOpTriviallyDead(op))
        op->erase();
      else
        ++kept;
    }
    made.clear();
    return kept;
  }

private:
  MLIRContext *context;
  unsigned height;
  bool outermost;
  DictionaryAttr attributes;
  SmallVector<Operation *> made;
};

bool isInteger(Type type) { return getElementTypeOrSelf(type).isIntOrIndex(); }

/// Expands one value_and_grad whose body is flat.
class Expansion {
public:
  Expansion(ValueAndGradOp op, unsigned height, bool outermost)
      : op(op), body(op.getBody().front()), outermost(outermost),
        inheritance(op.getContext(), height, outermost),
        builder(op.getLoc(), body.getTerminator(), &inheritance) {}

  /// Of the ops that run() made, those that are read.
  int64_t countMade() const { return kept; }

  LogicalResult run() {
    if (failed(collectPrimal()))
      return failure();
    findActive();
    Operation *yield = body.getTerminator();
    SmallVector<Value> gradients;
    for (int64_t result : op.getOf())
      if (failed(pullBack(yield->getOperand(result), gradients)))
        return failure();
    yield->insertOperands(yield->getNumOperands(), gradients);
    flatten(yield);
    kept = inheritance.eraseUnused();
    return success();
  }

private:
  LogicalResult collectPrimal();
  void findActive();
  LogicalResult pullBack(Value scalar, SmallVectorImpl<Value> &gradients);
  LogicalResult applyRule(Operation *source);
  LogicalResult check(Operation *source);
  void accumulate(Value value, Value cotangent, Operation *source);
  Value gradient(Value argument);
  RankedTensorType cotangentType(Value value);
  void flatten(Operation *yield);

  InFlightDiagnostic fail(Operation *source, const Twine &message) {
    InFlightDiagnostic diagnostic = source->emitError(message);
    diagnostic.attachNote(op.getLoc()) << "differentiated here";
    return diagnostic;
  }

  Value constant(RankedTensorType type, double value) {
    inheritance.setSource(nullptr);
    builder.setLoc(op.getLoc());
    auto attribute = builder.getFloatAttr(type.getElementType(), value);
    return ConstantOp::create(builder, DenseElementsAttr::get(type, attribute));
  }

  ValueAndGradOp op;
  Block &body;
  bool outermost;
  Inheritance inheritance;
  ImplicitLocOpBuilder builder;
  SmallVector<Operation *> primal;
  DenseSet<Value> active;     ///< depends on an argument to differentiate by
  DenseSet<Value> parameters; ///< those arguments, and the same elements in other shapes
  DenseMap<Value, Value> cotangents;
  DenseMap<Value, Operation *> lastSource; ///< of a parameter's cotangent
  int64_t kept = 0;
};

/// The ops of the differentiated function, which must be flat and pure.
LogicalResult Expansion::collectPrimal() {
  auto unit = UnitAttr::get(op.getContext());
  for (Operation &inner : body.without_terminator()) {
    auto random = dyn_cast<RandomOpInterface>(inner);
    if (random && random.draws() && !random.getSeedOperand())
      return fail(&inner, "expected a seed: random state is threaded before differentiation");
    if (inner.getNumRegions() != 0)
      return fail(&inner, "cannot differentiate '" + inner.getName().getStringRef() +
                              "': regions are flattened before differentiation");
    primal.push_back(&inner);
    if (outermost)
      inner.setDiscardableAttr("reprise.primal", unit);
  }
  return success();
}

/// Values that come to a float result from a `wrt` argument. Values from above are constants.
void Expansion::findActive() {
  for (int64_t argument : op.getWrt())
    parameters.insert(body.getArgument(argument));
  active = parameters;
  for (Operation *inner : primal) {
    if (llvm::any_of(inner->getOperands(), [&](Value v) { return active.contains(v); }))
      for (Value result : inner->getResults())
        if (!isInteger(result.getType()))
          active.insert(result);
    if (isa<ReshapeOp, TransposeOp, NameOp>(inner) && parameters.contains(inner->getOperand(0)))
      parameters.insert(inner->getResult(0));
  }
}

/// Appends the gradients of `scalar`, one per `wrt` argument.
LogicalResult Expansion::pullBack(Value scalar, SmallVectorImpl<Value> &gradients) {
  cotangents.clear();
  lastSource.clear();
  if (active.contains(scalar)) {
    cotangents[scalar] = constant(cotangentType(scalar), 1.0);
    for (Operation *source : llvm::reverse(primal))
      if (llvm::any_of(source->getResults(), [&](Value v) { return cotangents.contains(v); }))
        if (failed(applyRule(source)))
          return failure();
  }
  for (int64_t argument : op.getWrt())
    gradients.push_back(gradient(body.getArgument(argument)));
  return success();
}

/// What a rule relies on.
LogicalResult Expansion::check(Operation *source) {
  if (!isa<DifferentiableOpInterface>(source))
    return fail(source, "cannot differentiate '" + source->getName().getStringRef() + "'");
  if (!isa<ElementwiseOpInterface>(source))
    return success();
  auto shape = cast<RankedTensorType>(source->getResult(0).getType()).getShape();
  for (Value operand : source->getOperands())
    if (cast<RankedTensorType>(operand.getType()).getShape() != shape)
      return fail(source, "expected operands of the result's shape: broadcasts become ops before "
                          "differentiation");
  return success();
}

LogicalResult Expansion::applyRule(Operation *source) {
  if (failed(check(source)))
    return failure();
  SmallVector<Value> given(source->getNumOperands()), results;
  SmallVector<RankedTensorType> wanted;
  for (Value result : source->getResults())
    results.push_back(cotangents.lookup(result));
  for (Value operand : source->getOperands())
    wanted.push_back(active.contains(operand) ? cotangentType(operand) : RankedTensorType());
  inheritance.setSource(source);
  builder.setLoc(source->getLoc());
  cast<DifferentiableOpInterface>(source).buildPullback(builder, results, wanted, given);
  // Uses in reverse: the last operand first.
  for (size_t i = given.size(); i-- > 0;)
    if (given[i])
      accumulate(source->getOperand(i), given[i], source);
  return success();
}

void Expansion::accumulate(Value value, Value cotangent, Operation *source) {
  Value &sum = cotangents[value];
  sum = sum ? Value(AddOp::create(builder, sum, cotangent)) : cotangent;
  if (parameters.contains(value))
    lastSource[value] = source;
}

/// A 16-bit parameter's cotangent is added in f32 and rounded once, at the end.
RankedTensorType Expansion::cotangentType(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return parameters.contains(value) ? type.clone(getComputeType(type.getElementType())) : type;
}

/// The cotangent of an argument in the argument's type; zeros if the scalar does not depend on it.
Value Expansion::gradient(Value argument) {
  auto type = cast<RankedTensorType>(argument.getType());
  Value sum = cotangents.lookup(argument);
  if (!sum)
    return constant(type, 0.0);
  if (sum.getType() == type)
    return sum;
  Operation *source = lastSource.lookup(argument);
  inheritance.setSource(source);
  builder.setLoc(source ? source->getLoc() : op.getLoc());
  return CastOp::create(builder, type, sum);
}

/// Moves the body to where the op is; `yield` has one operand per result of the op.
void Expansion::flatten(Operation *yield) {
  for (auto [argument, operand] : llvm::zip(body.getArguments(), op.getOperands()))
    argument.replaceAllUsesWith(operand);
  op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations(), body.begin(),
                                         yield->getIterator());
  op->replaceAllUsesWith(yield->getOperands());
  op->erase();
}

/// The levels of value_and_grad inside each op, for every op that is to be expanded, inner ones
/// first.
SmallVector<std::pair<ValueAndGradOp, unsigned>> collectExpansions(ModuleOp module) {
  SmallVector<std::pair<ValueAndGradOp, unsigned>> expansions;
  DenseMap<Operation *, unsigned> heights;
  module.walk([&](ValueAndGradOp op) {
    unsigned height = heights.lookup(op);
    expansions.push_back({op, height});
    if (auto outer = op->getParentOfType<ValueAndGradOp>())
      heights[outer] = std::max(heights.lookup(outer), height + 1);
  });
  return expansions;
}

struct DifferentiatePass : impl::DifferentiatePassBase<DifferentiatePass> {
  using Base::Base;

  void runOnOperation() override {
    int64_t ops = 0;
    getOperation().walk([&](Operation *) { ++ops; });
    for (auto [op, height] : collectExpansions(getOperation()))
      if (failed(expand(op, height, ops)))
        return signalPassFailure();
    for (auto entry : getOperation().getOps<func::FuncOp>())
      if (failed(checkSizes(entry)))
        return signalPassFailure();
  }

  /// `ops` counts the ops of the module.
  static LogicalResult expand(ValueAndGradOp op, unsigned height, int64_t &ops) {
    if (op.getBody().empty())
      return op.emitError("expected a body: functions are inlined before differentiation");
    // The level is a bit of the order, which is an i64.
    if (height > kMostLevels - 1)
      return op.emitError("gradients nest deeper than ") << kMostLevels << " levels";
    Location location = op.getLoc();
    bool outermost = !op->getParentOfType<ValueAndGradOp>();
    Expansion expansion(op, height, outermost);
    if (failed(expansion.run()))
      return failure();
    // Gradients of gradients multiply the graph at every level: stops before the machine's memory
    // does.
    ops += expansion.countMade();
    if (ops > kMostOps)
      return emitError(location, "the entry grows beyond 2^20 ops when gradients are expanded");
    return success();
  }

  static constexpr unsigned kMostLevels = 62;
  static constexpr int64_t kMostOps = int64_t(1) << 20;
};

} // namespace
} // namespace reprise
