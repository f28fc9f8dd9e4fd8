// reprise: expands value_and_grad by the derivative rules of the ops.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "Expansion.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Sizes.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// Returns, for every op to expand, inner ops first, the levels of value_and_grad inside it.
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

/// The readers of a stack of a split loop may share a view again once all cotangents are added.
void mergeSplitViews(ModuleOp module) {
  DenseMap<std::tuple<Block *, Value, Type>, ReshapeOp> first;
  module.walk([&](ReshapeOp op) {
    if (!op->removeDiscardableAttr(kSplitAttr))
      return;
    auto [known, isNew] = first.try_emplace({op->getBlock(), op.getOperand(), op.getType()}, op);
    if (isNew)
      return;
    op.replaceAllUsesWith(known->second.getResult());
    op.erase();
  });
}

/// Replaces the results of custom_vjp by the primals when no gradient is left.
void dropRules(ModuleOp module) {
  module.walk([](CustomVjpOp op) {
    op.replaceAllUsesWith(op.getPrimals());
    op.erase();
  });
}

struct DifferentiatePass : impl::DifferentiatePassBase<DifferentiatePass> {
  using Base::Base;

  void runOnOperation() override {
    int64_t ops = 0;
    getOperation().walk([&](Operation *) { ++ops; });
    for (auto [op, height] : collectExpansions(getOperation()))
      if (failed(expand(op, height, ops)))
        return signalPassFailure();
    dropRules(getOperation());
    mergeSplitViews(getOperation());
    for (auto entry : getOperation().getOps<func::FuncOp>())
      if (failed(checkSizes(entry)))
        return signalPassFailure();
  }

  /// `ops` counts the ops of the module.
  static LogicalResult expand(ValueAndGradOp op, unsigned height, int64_t &ops) {
    if (op.getBody().empty())
      return op.emitError(
          "expected a gradient with a body: functions are inlined before differentiation");
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
