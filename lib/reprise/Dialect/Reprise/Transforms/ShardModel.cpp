// reprise: cuts values along the model axis
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "ModelSplitter.h"
#include "reprise/Dialect/Reprise/IR/Shardings.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_SHARDMODELPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

struct ShardModelPass : impl::ShardModelPassBase<ShardModelPass> {
  using Base::Base;

  void runOnOperation() override {
    ProgramOp step = getOperation();
    FailureOr<ModelCuts> cuts = ModelCuts::find(step, rules, lanes, parts);
    if (failed(cuts))
      return signalPassFailure();
    auto name = StringAttr::get(&getContext(), kShardAttr);
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      step.removeArgAttr(i, name);
    if (lanes > 1)
      ModelSplitter(step, *cuts, lanes, parts).run();
  }
};

} // namespace
} // namespace reprise
