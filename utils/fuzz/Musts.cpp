// reprise: checks that MUSTs hold for bytes
#include "Musts.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace reprise::fuzz {
namespace {

bool isBackward(Operation *op) { return op->hasAttr("reprise.cotangent") || isReplay(op); }

/// A value of the forward pass, executed for the first time.
bool isOriginal(Operation *op) {
  return op && op->hasAttr("reprise.primal") && !isReplay(op) &&
         !op->hasTrait<OpTrait::ConstantLike>();
}

/// Returns the values whose bytes a reader of `value` reads: the value, and the values that its
/// chain of views shows.
SmallVector<Value> findChain(Value value) {
  SmallVector<Value> chain{value};
  while (auto view = chain.back().getDefiningOp<ViewOpInterface>())
    chain.push_back(view->getOperand(0));
  return chain;
}

/// Returns the memory to which a label on `value` applies. A label does not apply behind a
/// broadcast, since the operand of a broadcast has fewer bytes.
Value findLabelled(Value value) {
  while (auto view = value.getDefiningOp<ViewOpInterface>()) {
    if (isa<BroadcastOp>(view))
      break;
    value = view->getOperand(0);
  }
  return value;
}

bool hasLabel(Operation *op, Label label) {
  auto own = op->getAttrOfType<LabelAttr>("reprise.label");
  return own && own.getValue() == label && op->getNumResults() == 1;
}

/// Returns true if a backward pass begins between the ops of one block, `first` and `second`.
bool areOfTwoGradients(Operation *first, Operation *second) {
  Operation *reader = first->getBlock()->findAncestorOpInBlock(*second);
  if (!reader || !first->isBeforeInBlock(reader))
    return false;
  for (Operation *op = first->getNextNode(); op != reader; op = op->getNextNode())
    if (op->hasAttr("reprise.cotangent"))
      return true;
  return false;
}

/// Returns true if an op behind the gradient reads the value, or the forward pass of another
/// gradient does. The memory of such a value is kept in any case.
bool isReturned(Value value) {
  Operation *definition = value.getDefiningOp();
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (isBackward(user))
      return false;
    return !user->hasAttr("reprise.primal") || (definition && areOfTwoGradients(definition, user));
  });
}

std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << *op;
  return text;
}

} // namespace

/// Memory that may not be kept, and the op that says so.
using Forbidden = llvm::DenseMap<Value, Operation *>;

static Forbidden findForbidden(ModuleOp planned) {
  Forbidden forbidden;
  planned.walk([&](Operation *op) {
    auto order = op->getAttrOfType<IntegerAttr>("reprise.order");
    bool isDerived = isa<ViewOpInterface>(op) && order && order.getInt() != 0;
    if (isOriginal(op) && !isDerived && !op->getParentOfType<LoopOp>() &&
        (hasLabel(op, Label::must_recompute) || hasLabel(op, Label::must_offload)))
      forbidden.try_emplace(findLabelled(op->getResult(0)), op);
  });
  return forbidden;
}

/// Returns the op that forbids keeping the memory that a reader of `operand` reads; null if there
/// is none.
static Operation *findRefusal(Value operand, const Forbidden &forbidden) {
  SmallVector<Value> chain = findChain(operand);
  if (llvm::any_of(chain, isReturned))
    return nullptr;
  for (Value memory : chain)
    if (auto found = forbidden.find(memory);
        found != forbidden.end() && isOriginal(memory.getDefiningOp()))
      return found->second;
  return nullptr;
}

std::string findBrokenMust(ModuleOp planned) {
  Forbidden forbidden = findForbidden(planned);
  std::string broken;
  planned.walk([&](Operation *op) {
    bool isFetch = isReplay(op) && isa<OffloadOp>(op);
    if (isFetch || !isBackward(op) || op->getParentOfType<LoopOp>())
      return;
    for (Value operand : op->getOperands())
      if (Operation *refusal = findRefusal(operand, forbidden))
        broken = print(op) + " reads what must not be kept: " + print(refusal);
  });
  return broken;
}

std::string findBrokenMust(const ReportedPlan &plan) {
  for (const ReportedValue &value : plan.values) {
    using checkpoint::Decision;
    using checkpoint::ValueLabel;
    bool isThere = value.why == checkpoint::Reason::Outlives;
    bool isGone = value.decision == Decision::NotNeeded || isThere;
    // An `offload` of the program is a copy in host memory, with its own label: the row of the
    // copied value says "offloaded", and the value itself is not kept.
    bool isCopied = value.decision == Decision::Offloaded && value.savedBytes == 0;
    bool isKept = value.label == ValueLabel::MustRecompute &&
                  value.decision != Decision::Replayed && !isGone && !isCopied;
    bool stays = value.label == ValueLabel::MustOffload && value.decision == Decision::Saved;
    bool isMade = value.label == ValueLabel::MustSave && value.decision == Decision::Replayed;
    bool mayNotStay =
        value.label == ValueLabel::MustOffload || value.label == ValueLabel::MustRecompute;
    bool hasBytes = mayNotStay && value.savedBytes > 0 && !isThere;
    if (isKept || stays || isMade || hasBytes)
      return value.id + " is " + std::string(getText(value.decision)) + " with " +
             std::to_string(value.savedBytes) + " saved bytes, but its label is " +
             std::string(getText(value.label));
  }
  return "";
}

} // namespace reprise::fuzz
