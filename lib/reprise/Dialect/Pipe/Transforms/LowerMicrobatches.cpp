// reprise: replaces slices and sums of micro-batches by ops of the model graph
#include "reprise/Dialect/Pipe/Transforms/Passes.h"

using namespace mlir;

namespace reprise::pipe {
#define GEN_PASS_DEF_LOWERMICROBATCHESPASS
#include "reprise/Dialect/Pipe/Transforms/Passes.h.inc"

namespace {

Operation *lower(OpBuilder &builder, pipe::SliceOp op) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()),
      strides(type.getRank(), 1);
  std::tie(starts[op.getDim()], limits[op.getDim()]) = op.getRange();
  return reprise::SliceOp::create(builder, op.getLoc(), op.getValue(), starts, limits, strides);
}

Operation *lower(OpBuilder &builder, AccumulateOp op) {
  return AddOp::create(builder, op.getLoc(), op.getSum(), op.getSummand());
}

Operation *lower(OpBuilder &builder, MergeOp op) {
  return AddOp::create(builder, op.getLoc(), op.getLeft(), op.getRight());
}

struct LowerMicrobatchesPass : impl::LowerMicrobatchesPassBase<LowerMicrobatchesPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto slice = dyn_cast<pipe::SliceOp>(op))
        replace(slice);
      else if (auto sum = dyn_cast<AccumulateOp>(op))
        replace(sum);
      else if (auto merge = dyn_cast<MergeOp>(op))
        replace(merge);
    });
  }

private:
  template <typename Op> static void replace(Op op) {
    OpBuilder builder(op);
    Operation *made = lower(builder, op);
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op->replaceAllUsesWith(made);
    op->erase();
  }
};

} // namespace
} // namespace reprise::pipe
