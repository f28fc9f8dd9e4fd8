// reprise: runs a step one micro-batch after the other.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "BatchSlicer.h"
#include "ExpandDefinition.h"
#include "reprise/Dialect/Pipe/IR/Pipe.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_SLICEBATCHPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// Fails if a micro-batch has statistics of one element, at their op.
LogicalResult checkStatistics(ProgramOp step, const BatchStates &states, int64_t microbatches) {
  int64_t fewest = states.getBatch() / microbatches;
  WalkResult walked = step.walk([&](BatchStatisticsOp op) {
    int64_t count = op.getCount(), own = count / states.getBatch() * fewest;
    if (!states.isCut(op) || op.getDeferred() || own > 1)
      return WalkResult::advance();
    op.emitError("micro-batches of one element per channel have no variance: expected fewer of "
                 "them, or statistics that are `deferred`");
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

struct SliceBatchPass : impl::SliceBatchPassBase<SliceBatchPass> {
  using Base::Base;

  void runOnOperation() override {
    ProgramOp step = getOperation();
    if (lanes < 1 || microbatches % lanes != 0) {
      step.emitError() << "expected lanes of equally many micro-batches, got "
                       << static_cast<int64_t>(lanes) << " for "
                       << static_cast<int64_t>(microbatches) << " micro-batches";
      return signalPassFailure();
    }
    if (replicas > 1 && (lanes % replicas != 0 || !llvm::isPowerOf2_64(lanes / replicas))) {
      step.emitError() << "expected replicas of 1, 2, 4, 8, ... lanes each, got "
                       << static_cast<int64_t>(replicas) << " replicas for "
                       << static_cast<int64_t>(lanes) << " lanes: set --lanes";
      return signalPassFailure();
    }
    if (replicas > 1)
      step->setAttr(kMicrobatchesAttr, Builder(&getContext()).getI64IntegerAttr(microbatches));
    if (microbatches <= 1)
      return;
    if (PauseOp pause = findPause(step)) {
      pause.emitError("a step that pauses is not cut into micro-batches");
      return signalPassFailure();
    }
    FailureOr<BatchStates> states = BatchStates::find(step);
    if (failed(states))
      return signalPassFailure();
    if (microbatches > states->getBatch()) {
      step.emitError() << static_cast<int64_t>(microbatches)
                       << " micro-batches are too many for a batch of " << states->getBatch()
                       << (states->getBatch() == 1 ? " sample" : " samples");
      return signalPassFailure();
    }
    if (failed(checkStatistics(step, *states, microbatches)))
      return signalPassFailure();
    BatchSlicer(step, *states, {states->getBatch(), microbatches, lanes}).run();
    SmallVector<BatchStatisticsOp> statistics;
    step.walk([&](BatchStatisticsOp op) { statistics.push_back(op); });
    for (BatchStatisticsOp op : statistics)
      expandDefinition(cast<DecomposableOpInterface>(op.getOperation()));
  }
};

} // namespace
} // namespace reprise
