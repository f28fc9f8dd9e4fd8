// reprise: canonicalizes the graph; labels stay with their values.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "Plan.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "reprise/Dialect/Reprise/IR/Labels.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_CANONICALIZEPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// Listener that passes the label of an erased op to the op that replaces it.
class LabelKeeper : public RewriterBase::Listener {
public:
  bool hasFailed() const { return failed; }

  void notifyOperationReplaced(Operation *op, ValueRange replacement) override {
    auto label = op->getAttrOfType<LabelAttr>(kLabelAttr);
    for (Value value : replacement)
      if (Operation *heir = value.getDefiningOp(); label && heir && canTake(heir))
        hand(op, label, heir);
  }

private:
  /// Constants and ops with regions have no value that a plan could keep.
  static bool canTake(Operation *op) {
    return op->getNumRegions() == 0 && !op->hasTrait<OpTrait::ConstantLike>();
  }

  /// Passes a label on. A MUST outranks a PREFER; otherwise the heir's own label stays.
  void hand(Operation *op, LabelAttr label, Operation *heir) {
    auto own = heir->getAttrOfType<LabelAttr>(kLabelAttr);
    if (own && isMust(own.getValue()) && isMust(label.getValue()) && own != label) {
      failed = true;
      heir->emitError("contradictory labels for one value: '")
          << stringifyLabel(own.getValue()) << "' and, on an equal op, '"
          << stringifyLabel(label.getValue()) << "'";
      return;
    }
    if (own && (isMust(own.getValue()) || !isMust(label.getValue())))
      return;
    heir->setDiscardableAttr(kLabelAttr, label);
    if (Attribute rule = op->getDiscardableAttr(kRuleAttr))
      heir->setDiscardableAttr(kRuleAttr, rule);
  }

  bool failed = false;
};

struct CanonicalizePass : impl::CanonicalizePassBase<CanonicalizePass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet collected(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(collected);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      op.getCanonicalizationPatterns(collected, context);
    patterns = FrozenRewritePatternSet(std::move(collected));
    return success();
  }

  void runOnOperation() override {
    LabelKeeper keeper;
    GreedyRewriteConfig config;
    config.setListener(&keeper).setUseTopDownTraversal(true).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Normal);
    (void)applyPatternsGreedily(getOperation(), patterns, config);
    if (keeper.hasFailed())
      signalPassFailure();
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace reprise
