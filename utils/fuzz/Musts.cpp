// reprise: whether MUSTs hold for bytes
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

/// The value whose bytes a reader of `value` reads.
Value findMemory(Value value) {
  while (auto view = value.getDefiningOp<ViewOpInterface>())
    value = view->getOperand(0);
  return value;
}

bool hasLabel(Operation *op, Label label) {
  auto own = op->getAttrOfType<LabelAttr>("reprise.label");
  return own && own.getValue() == label && op->getNumResults() == 1;
}

/// Memory that is read after the gradient is there in any case.
bool isReturned(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return !isBackward(user) && !user->hasAttr("reprise.primal");
  });
}

std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << *op;
  return text;
}

} // namespace

std::string findBrokenMust(ModuleOp planned) {
  llvm::DenseMap<Value, Operation *> asked; // by memory: the op that says that it may not be kept
  planned.walk([&](Operation *op) {
    bool isView = isa<ViewOpInterface>(op);
    bool speaks =
        isOriginal(op) && (!isView || !isa<BroadcastOp>(op)) && !op->getParentOfType<LoopOp>();
    auto order = op->getAttrOfType<IntegerAttr>("reprise.order");
    bool isDerived = isView && order && order.getInt() != 0;
    if (speaks && !isDerived &&
        (hasLabel(op, Label::must_recompute) || hasLabel(op, Label::must_offload)))
      asked.try_emplace(findMemory(op->getResult(0)), op);
  });
  std::string broken;
  planned.walk([&](Operation *op) {
    bool isFetch = isReplay(op) && isa<OffloadOp>(op);
    if (isFetch || !isBackward(op) || op->getParentOfType<LoopOp>())
      return;
    for (Value operand : op->getOperands()) {
      Value memory = findMemory(operand);
      auto found = asked.find(memory);
      if (found == asked.end() || !isOriginal(memory.getDefiningOp()) || isReturned(operand) ||
          isReturned(memory))
        continue;
      broken = print(op) + " reads what must not be kept: " + print(found->second);
    }
  });
  return broken;
}

std::string findBrokenMust(const ReportedPlan &plan) {
  for (const ReportedValue &value : plan.values) {
    bool isGone = value.decision == "not needed" || value.reason == "returned";
    StringRef label = value.label ? StringRef(*value.label) : "";
    bool isKept = label == "must_recompute" && value.decision != "replayed" && !isGone;
    bool stays = label == "must_offload" && value.decision == "saved";
    bool isMade = label == "must_save" && value.decision == "replayed";
    // A replayed value may be kept for a gradient inside of a loop, which belongs to the forward
    // pass of the gradient around the loop: the check of the planned ops tells the two apart.
    bool hasBytes = label == "must_offload" && value.savedBytes > 0 && value.reason != "returned";
    if (isKept || stays || isMade || hasBytes)
      return value.id + " is " + value.decision + " with " + std::to_string(value.savedBytes) +
             " saved bytes, but its label is " + label.str();
  }
  return "";
}

} // namespace reprise::fuzz
