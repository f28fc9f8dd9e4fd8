// reprise: inserts reprise.offload behind values that are moved to the host
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "Plan.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_OFFLOADVALUESPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

StringRef findOffloadObstacle(Operation *op, bool unroll) {
  if (op->getParentOfType<LoopOp>() && !unroll)
    return "the values of a loop stay on the device; --unroll takes them out of it";
  return isa<ViewOpInterface>(op) ? "the value is a view of another one" : "";
}

namespace {

/// Returns whether a value is labelled to be offloaded. A view is offloaded as the value that it
/// shows.
bool asksToOffload(OpResult result) {
  std::optional<Label> label = getLabel(result);
  if (isa<ViewOpInterface>(result.getOwner()))
    return false;
  return label == Label::must_offload || label == Label::prefer_offload;
}

bool isOffloaded(Value value) {
  return isa_and_present<OffloadOp>(value.getDefiningOp()) ||
         llvm::any_of(value.getUsers(), llvm::IsaPred<OffloadOp>);
}

struct OffloadValuesPass : impl::OffloadValuesPassBase<OffloadValuesPass> {
  using Base::Base;

  void runOnOperation() override {
    llvm::SmallDenseSet<int64_t> wanted(values.begin(), values.end());
    SmallVector<OpResult> chosen;
    int64_t number = 0;
    for (Operation &op : getOperation().getBody().front())
      for (OpResult result : op.getResults()) {
        bool isNumbered = wanted.contains(number++);
        if (isPrimal(&op) && !isOffloaded(result) && (isNumbered || asksToOffload(result)))
          chosen.push_back(result);
      }
    llvm::for_each(chosen, offload);
  }

  static void offload(OpResult value) {
    Operation *maker = value.getOwner();
    OpBuilder builder(maker->getContext());
    builder.setInsertionPointAfter(maker);
    auto offload = OffloadOp::create(builder, maker->getLoc(), value);
    value.replaceAllUsesExcept(offload.getResult(), offload);
    NamedAttrList attributes(maker->getDiscardableAttrDictionary());
    for (StringRef own : {kLabelAttr, kRuleAttr, kResultLabelsAttr, kResultRulesAttr, kNamesAttr,
                          kDecisionsAttr, kReasonsAttr, kIdAttr, kCopyAttr})
      attributes.erase(own);
    if (getLabel(value)) {
      attributes.set(kLabelAttr, LabelAttr::get(builder.getContext(), *getLabel(value)));
      attributes.set(kRuleAttr, builder.getStringAttr(getRule(value)));
    }
    offload->setDiscardableAttrs(attributes.getDictionary(builder.getContext()));
  }
};

} // namespace
} // namespace reprise
