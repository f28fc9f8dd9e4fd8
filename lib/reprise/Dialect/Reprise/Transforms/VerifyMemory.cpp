// reprise: verifies that MUSTs hold for memory, through all views
#include "VerifyMemory.h"

#include "reprise/Dialect/Reprise/IR/Choice.h"
#include "reprise/Dialect/Reprise/IR/Labels.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"

using namespace mlir;
using namespace reprise;

/// Returns the value of its block that a primal op shows; null if it computes new values. Values
/// before the gradient are in memory in any case.
static Value findShown(Operation *op) {
  if (!isPrimal(op) || isReplay(op) || op->getNumResults() != 1)
    return {};
  Value shown = getViewed(op->getResult(0));
  if (!shown && isa<PadOp>(op) && isChoice(op))
    shown = op->getOperand(0);
  Operation *maker = shown ? shown.getDefiningOp() : nullptr;
  bool isPart = maker && maker->getBlock() == op->getBlock() && isPrimal(maker);
  return isPart ? shown : Value();
}

/// Returns whether a loop keeps a copy of a view, if the gradient is that of the whole loop.
static bool isCopied(Operation *view) {
  LoopOp loop = getLoop(view->getBlock());
  return loop && (isPrimal(loop) || isCotangent(loop));
}

void reprise::addViews(Value value, const Uses &uses, Use &use) {
  for (Operation *user : value.getUsers()) {
    if (!isa<ViewOpInterface>(user) || isCopied(user) || findShown(user) != value)
      continue;
    Use view = uses.lookup(user->getResult(0));
    if (view.replayed || (!view.held && !view.viewed))
      continue;
    use.viewed = true;
    use.viewOutlives |= view.outlives || view.viewOutlives;
  }
}

LogicalResult reprise::verifyLabel(OpResult result, const Use &use, checkpoint::Reason why) {
  auto fail = [&](const Twine &message) {
    return result.getOwner()->emitError("result ") << result.getResultNumber() << " " << message;
  };
  std::optional<Label> label = getLabel(result);
  if (!label)
    return success();
  using checkpoint::Reason;
  auto name = stringifyLabel(*label).str();
  bool isPrefer = llvm::is_contained(
      {Label::prefer_save, Label::prefer_recompute, Label::prefer_offload}, *label);
  bool forBudget = why == Reason::Budget && isPrefer;
  if (use.replayed && asksToSave(*label) && !forBudget)
    return fail("is replayed against its label '" + name + "' from " + getRule(result));
  bool isThere = (use.outlives || use.viewOutlives) && why == Reason::Outlives;
  bool isHeld = use.held || (use.viewed && !use.replayed);
  if (!isHeld || !asksToRecompute(*label) || isThere)
    return success();
  bool isInput = why == Reason::BlockInput && (use.crossesUnits || !use.held);
  bool excused = forBudget || isInput || why == Reason::LastUnit;
  if (*label == Label::must_recompute || !excused)
    return fail("is kept against its label '" + name + "' from " + getRule(result));
  return success();
}

/// Returns true for values that the plan may not keep on the device.
static bool mustGo(OpResult value) {
  std::optional<Label> label = getLabel(value);
  return label == Label::must_recompute ||
         (label == Label::must_offload && isa<OffloadOp>(value.getOwner()));
}

/// A view that speaks of the memory: the user's own, with no more elements than that has.
static bool speaksOfMemory(Operation *view) {
  return isa<ViewOpInterface>(view) && getOrder(view) == 0 && !repeats(view);
}

/// Returns, per value, the value whose label forbids keeping its memory.
static DenseMap<Value, OpResult> findMusts(const Scope &scope) {
  DenseMap<Value, OpResult> musts;
  for (Operation *op : llvm::reverse(scope)) {
    if (!op || !isPrimal(op))
      continue;
    for (OpResult value : op->getOpResults())
      if (mustGo(value))
        musts[value] = value;
    Value shown = findShown(op);
    auto own = shown ? musts.find(op->getResult(0)) : musts.end();
    if (own != musts.end() && speaksOfMemory(op))
      musts.try_emplace(shown, OpResult(own->second));
  }
  for (Operation *op : scope) {
    Value shown = op ? findShown(op) : Value();
    auto of = shown ? musts.find(shown) : musts.end();
    bool isApart = shown && isCopied(op) && getLabel(op->getResult(0)) == Label::must_save;
    if (of != musts.end() && !isApart)
      musts.try_emplace(op->getResult(0), OpResult(of->second));
  }
  return musts;
}

LogicalResult reprise::verifyMemory(const Scope &scope, const Uses &uses) {
  DenseMap<Value, OpResult> musts = findMusts(scope);
  if (musts.empty())
    return success();
  for (Operation *op : scope) {
    if (!op || !isPrimal(op))
      continue;
    for (OpResult value : op->getOpResults()) {
      auto must = musts.find(value);
      Use use = uses.lookup(value);
      if (must == musts.end() || !use.held || use.outlives)
        continue;
      OpResult labelled = must->second;
      return op->emitError("result ")
             << value.getResultNumber() << " is kept and holds the memory of "
             << describeOp(labelled.getOwner()) << ", against its label '"
             << stringifyLabel(*getLabel(labelled)) << "' from " << getRule(labelled);
    }
  }
  return success();
}
