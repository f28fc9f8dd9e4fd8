// reprise: replaces contractions with lanes by contractions and adds
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "ModelSums.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/ReplayNumber.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_EXPANDLANESPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// Returns some indices of a dimension, as a view.
Value takeLane(ImplicitLocOpBuilder &b, Value operand, int64_t dim, int64_t lane, int64_t lanes) {
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape());
  int64_t size = limits[dim] / lanes;
  starts[dim] = lane * size;
  limits[dim] = starts[dim] + size;
  return SliceOp::create(b, operand, starts, limits, SmallVector<int64_t>(type.getRank(), 1));
}

Value sumLane(ImplicitLocOpBuilder &b, DotLanesOp op, int64_t lane) {
  auto lanes = static_cast<int64_t>(op.getLanes());
  auto dot = DotGeneralOp::create(
      b, widenSums(op.getType()), takeLane(b, op.getLhs(), op.getLhsCut(), lane, lanes),
      takeLane(b, op.getRhs(), op.getRhsCut(), lane, lanes), op.getLhsBatchAttr(),
      op.getRhsBatchAttr(), op.getLhsContractingAttr(), op.getRhsContractingAttr(),
      op.getAccumulationAttr(), op.getReplayAttr());
  return dot;
}

void expand(DotLanesOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Operation *before = op->getPrevNode();
  Value root = roundSum(b,
                        addNeighbours(b, 0, static_cast<int64_t>(op.getLanes()),
                                      [&](int64_t lane) { return sumLane(b, op, lane); }),
                        op.getType());
  Block::iterator first = before ? std::next(before->getIterator()) : op->getBlock()->begin();
  for (Operation &made : llvm::make_range(first, op->getIterator())) {
    made.setDiscardableAttrs(op->getDiscardableAttrDictionary());
    setReplayNumber(&made, getReplayNumber(op));
    // Labels and names are of the result.
    if (&made != root.getDefiningOp())
      for (StringRef name :
           {kLabelAttr, kRuleAttr, kNamesAttr, kResultLabelsAttr, kResultRulesAttr})
        made.removeDiscardableAttr(name);
  }
  op.replaceAllUsesWith(root);
  op.erase();
}

struct ExpandLanesPass : impl::ExpandLanesPassBase<ExpandLanesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<DotLanesOp> found;
    getOperation().walk([&](DotLanesOp op) { found.push_back(op); });
    if (found.empty())
      return markAllAnalysesPreserved();
    for (DotLanesOp op : found)
      expand(op);
  }
};

} // namespace
} // namespace reprise
