// reprise: expands normalizations of the primal into the chains that define them.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "ExpandDefinition.h"
#include "Plan.h"
#include "reprise/Dialect/Reprise/IR/Decompose.h"
#include "reprise/Dialect/Reprise/IR/Labels.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_EXPANDNORMALIZATIONSPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// Copies the attributes of `from` except those of single results.
void inherit(Operation *op, Operation *from) {
  for (NamedAttribute attribute : from->getDiscardableAttrs())
    if (!llvm::is_contained({kNamesAttr, kResultLabelsAttr, kResultRulesAttr}, attribute.getName()))
      op->setDiscardableAttr(attribute.getName(), attribute.getValue());
}

/// Copies to the op of `value` the attributes of one result.
void inheritResult(Value value, OpResult from) {
  Operation *op = value.getDefiningOp(), *source = from.getOwner();
  for (StringRef name : {kNamesAttr, kResultLabelsAttr, kResultRulesAttr})
    if (auto each = source->getAttrOfType<ArrayAttr>(name))
      op->setDiscardableAttr(name, ArrayAttr::get(op->getContext(), each[from.getResultNumber()]));
}

/// Returns whether an op of a definition, which begins behind `before`, is a view of an operand.
bool showsOperand(Operation *made, Operation *before) {
  while (isa<ViewOpInterface>(made)) {
    Operation *shown = made->getOperand(0).getDefiningOp();
    bool isInside = shown && shown->getBlock() == made->getBlock() &&
                    (!before || before->isBeforeInBlock(shown));
    if (!isInside)
      return true;
    made = shown;
  }
  return false;
}

/// Removes a MUST from an op that shows memory of an operand: the label of the expanded op is about
/// the values of its definition, and a MUST of a view holds for the memory.
void dropForeignMust(Operation *made, Operation *before) {
  auto label = made->getAttrOfType<LabelAttr>(kLabelAttr);
  if (!label || !isMust(label.getValue()) || !showsOperand(made, before))
    return;
  made->removeDiscardableAttr(kLabelAttr);
  made->removeDiscardableAttr(kRuleAttr);
}

} // namespace

void expandDefinition(DecomposableOpInterface op) {
  Operation *before = op->getPrevNode();
  SmallVector<Value> values = buildDefinition(op);
  Operation *first = before ? before->getNextNode() : &op->getBlock()->front();
  for (Operation *made = first; made != op.getOperation(); made = made->getNextNode())
    if (!made->hasTrait<OpTrait::ConstantLike>()) {
      inherit(made, op);
      dropForeignMust(made, before);
    }
  for (auto [value, result] : llvm::zip_equal(values, op->getResults())) {
    if (!llvm::is_contained(op->getOperands(), value))
      inheritResult(value, result);
    result.replaceAllUsesWith(value);
  }
  op.erase();
}

namespace {
struct ExpandNormalizationsPass : impl::ExpandNormalizationsPassBase<ExpandNormalizationsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<DecomposableOpInterface> found;
    getOperation().walk([&](DecomposableOpInterface op) {
      // Statistics that micro-batches will cut stay unexpanded until then.
      if (microbatches > 1 && isa<BatchStatisticsOp>(op.getOperation()))
        return;
      if (isa<NormalizationOpInterface>(op.getOperation()) && op->getNumResults() > 1 &&
          isPrimal(op))
        found.push_back(op);
    });
    for (DecomposableOpInterface op : found)
      expandDefinition(op);
  }
};

} // namespace
} // namespace reprise
