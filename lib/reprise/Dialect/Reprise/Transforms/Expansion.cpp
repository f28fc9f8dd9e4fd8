// reprise: expands one value_and_grad by the derivative rules of the ops.
#include "Expansion.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"

using namespace mlir;
using namespace reprise;

void Inheritance::setSource(Operation *source) {
  Builder builder(context);
  NamedAttrList list;
  int64_t order = 0;
  if (source) {
    for (StringRef name : {kBlockAttr, kLabelAttr, kRuleAttr, kIterationsAttr, kStageAttr})
      if (Attribute attribute = source->getDiscardableAttr(name))
        list.set(name, attribute);
    if (auto attribute = dyn_cast_or_null<IntegerAttr>(source->getDiscardableAttr(kOrderAttr)))
      order = attribute.getInt();
  }
  list.set(kOrderAttr, builder.getI64IntegerAttr(order + (int64_t{1} << height)));
  if (outermost)
    list.set(kCotangentAttr, builder.getUnitAttr());
  attributes = list.getDictionary(context);
}

int64_t Inheritance::eraseUnused() {
  int64_t kept = 0;
  DenseSet<Operation *> gone; // with the ops in their regions
  for (Operation *op : llvm::reverse(made)) {
    if (gone.contains(op))
      continue;
    if (isOpTriviallyDead(op)) {
      op->walk([&](Operation *inner) { gone.insert(inner); });
      op->erase();
    } else {
      ++kept;
    }
  }
  made.clear();
  return kept;
}

static bool isInteger(Type type) { return getElementTypeOrSelf(type).isIntOrIndex(); }

LogicalResult Expansion::run() {
  if (failed(collectPrimal()))
    return failure();
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

InFlightDiagnostic Expansion::fail(Operation *source, const Twine &message) {
  InFlightDiagnostic diagnostic = source->emitError(message);
  diagnostic.attachNote(op.getLoc()) << "differentiated here";
  return diagnostic;
}

Value Expansion::constant(RankedTensorType type, double value) {
  inheritance.setSource(nullptr);
  builder.setLoc(op.getLoc());
  auto attribute = builder.getFloatAttr(type.getElementType(), value);
  return ConstantOp::create(builder, DenseElementsAttr::get(type, attribute));
}

/// Collects the ops of the differentiated function, which must be pure and flat except for loops.
LogicalResult Expansion::collectPrimal() {
  auto unit = UnitAttr::get(op.getContext());
  for (Operation &source : body.without_terminator()) {
    WalkResult result = source.walk([&](Operation *inner) {
      auto random = dyn_cast<RandomOpInterface>(inner);
      bool hasNoSeed = random && random.draws() && !random.getSeedOperand();
      bool isNested = inner->getNumRegions() != 0 && !isa<LoopOp, CustomVjpOp>(inner);
      bool isRule = inner->getParentOfType<CustomVjpOp>() != nullptr;
      if (hasNoSeed)
        fail(inner, "expected a seed: random state is threaded before differentiation");
      else if (isNested)
        fail(inner, "cannot differentiate '" + inner->getName().getStringRef() +
                        "': regions are flattened before differentiation");
      else if (outermost && !isRule && !inner->hasTrait<OpTrait::IsTerminator>() &&
               !isa<PauseOp>(inner))
        inner->setDiscardableAttr(kPrimalAttr, unit);
      return hasNoSeed || isNested ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    primal.push_back(&source);
  }
  return success();
}

/// Values that come to a float result from a `wrt` argument. Values from above are constants.
void Expansion::findActive(Block &block) {
  for (Operation &inner : block.without_terminator()) {
    if (auto loop = dyn_cast<LoopOp>(inner)) {
      findActiveInLoop(loop);
      continue;
    }
    if (llvm::any_of(inner.getOperands(), [&](Value v) { return active.contains(v); }))
      for (Value result : inner.getResults())
        if (!isInteger(result.getType()))
          active.insert(result);
    if (isa<ReshapeOp, TransposeOp, NameOp>(inner) && parameters.contains(inner.getOperand(0)))
      parameters.insert(inner.getResult(0));
  }
}

/// Appends the gradients of `scalar`, one per `wrt` argument.
LogicalResult Expansion::pullBack(Value scalar, SmallVectorImpl<Value> &gradients) {
  cotangents.clear();
  lastSource.clear();
  // We find active values again for each scalar, because the last scalar may have replaced loops by
  // wider loops.
  parameters.clear();
  for (int64_t argument : op.getWrt())
    parameters.insert(body.getArgument(argument));
  active = parameters;
  findActive(body);
  if (active.contains(scalar)) {
    cotangents[scalar] = constant(cotangentType(scalar), 1.0);
    for (Operation *&source : llvm::reverse(primal)) {
      Block *inner = isa<LoopOp>(source) ? &cast<LoopOp>(source).getBlock() : nullptr;
      if (failed(pullBackOp(source)))
        return failure();
      // A loop that stacks values for its cotangents is a new op.
      if (inner)
        source = inner->getParentOp();
    }
  }
  for (int64_t argument : op.getWrt())
    gradients.push_back(gradient(body.getArgument(argument)));
  return success();
}

/// Adds the cotangents of the op's operands, if one of its results has a cotangent.
LogicalResult Expansion::pullBackOp(Operation *source) {
  if (!llvm::any_of(source->getResults(), [&](Value v) { return cotangents.contains(v); }))
    return success();
  if (auto loop = dyn_cast<LoopOp>(source))
    return pullBackLoop(loop);
  return applyRule(source);
}

/// Verifies the preconditions of a rule.
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
      accumulate(source->getOpOperand(i), given[i]);
  return success();
}

void Expansion::accumulate(OpOperand &use, Value cotangent) {
  Value value = use.get();
  if (parameters.contains(value))
    lastSource[value] = {inheritance.getAttributes(), LocationAttr(builder.getLoc())};
  // Cotangents at the boundary of a loop have the type of the carry or of the row.
  if (RankedTensorType type = cotangentType(value); cotangent.getType() != type)
    cotangent = CastOp::create(builder, type, cotangent);
  // Values that a body reads from above have one sum per use, which is carried through all
  // iterations.
  Value &sum = isLocal(value) ? cotangents[value]
                              : accumulator(use, cast<RankedTensorType>(cotangent.getType()));
  sum = sum ? Value(AddOp::create(builder, sum, cotangent)) : cotangent;
}

/// A 16-bit parameter's cotangent is added in f32 and rounded once, at the end.
RankedTensorType Expansion::cotangentType(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return parameters.contains(value) ? type.clone(getComputeType(type.getElementType())) : type;
}

/// Returns the cotangent of an argument in the argument's type; zeros if the scalar does not depend
/// on it.
Value Expansion::gradient(Value argument) {
  auto type = cast<RankedTensorType>(argument.getType());
  Value sum = cotangents.lookup(argument);
  if (!sum)
    return constant(type, 0.0);
  if (sum.getType() == type)
    return sum;
  inheritance.setSource(nullptr);
  builder.setLoc(op.getLoc());
  if (auto source = lastSource.find(argument); source != lastSource.end()) {
    inheritance.setAttributes(source->second.first);
    builder.setLoc(Location(source->second.second));
  }
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
