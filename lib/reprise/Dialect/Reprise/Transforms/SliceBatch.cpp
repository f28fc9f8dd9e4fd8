// reprise: runs a step micro-batch by micro-batch.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "BatchSlicer.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_SLICEBATCHPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

struct SliceBatchPass : impl::SliceBatchPassBase<SliceBatchPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp step = getOperation();
    if (step.isExternal() || microbatches <= 1)
      return;
    FailureOr<BatchStates> states = BatchStates::find(step);
    if (failed(states))
      return signalPassFailure();
    if (microbatches > states->getBatch()) {
      step.emitError() << static_cast<int64_t>(microbatches)
                       << " micro-batches cannot share a batch of " << states->getBatch()
                       << (states->getBatch() == 1 ? " sample" : " samples");
      return signalPassFailure();
    }
    BatchSlicer(step, *states).run(microbatches);
  }
};

} // namespace
} // namespace reprise
