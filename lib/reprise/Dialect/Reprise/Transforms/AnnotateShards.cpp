// reprise: writes the shardings of all values
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "ModelCuts.h"
#include "reprise/Dialect/Reprise/IR/Shardings.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_ANNOTATESHARDSPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

struct AnnotateShardsPass : impl::AnnotateShardsPassBase<AnnotateShardsPass> {
  using Base::Base;

  void runOnOperation() override {
    ProgramOp step = getOperation();
    FailureOr<ModelCuts> cuts = ModelCuts::find(step, rules, lanes, parts);
    if (failed(cuts))
      return signalPassFailure();
    if (lanes == 1)
      return markAllAnalysesPreserved();
    for (BlockArgument argument : step.getArguments())
      if (cuts->getDim(argument) >= 0)
        step.setArgAttr(argument.getArgNumber(), kShardAttr, getSharding(argument, *cuts));
    for (Operation &op : step.getBody().front().without_terminator())
      annotate(op, *cuts);
  }

private:
  ArrayAttr getSharding(Value value, const ModelCuts &cuts) {
    return makeSharding(&getContext(), cast<RankedTensorType>(value.getType()).getRank(),
                        cuts.getDim(value));
  }

  void annotate(Operation &op, const ModelCuts &cuts) {
    const ModelCut *cut = cuts.get(&op);
    if (!cut)
      return;
    if (cut->isSum())
      op.setAttr(kSumOverAttr, StringAttr::get(&getContext(), kModelAxis));
    if (llvm::none_of(op.getResults(), [&](Value value) { return cuts.getDim(value) >= 0; }))
      return;
    SmallVector<Attribute> shardings;
    for (Value result : op.getResults())
      shardings.push_back(getSharding(result, cuts));
    op.setAttr(kShardsAttr, ArrayAttr::get(&getContext(), shardings));
  }
};

} // namespace
} // namespace reprise
