// reprise: labels the passes of stages that are replayed
#include "reprise/Dialect/Pipe/Transforms/Passes.h"

#include "reprise/Dialect/Pipe/IR/CheckpointModes.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"

using namespace mlir;

namespace reprise::pipe {
#define GEN_PASS_DEF_LABELPIECESPASS
#include "reprise/Dialect/Pipe/Transforms/Passes.h.inc"

namespace {

struct LabelPiecesPass : impl::LabelPiecesPassBase<LabelPiecesPass> {
  using Base::Base;

  void runOnOperation() override {
    for (ProgramOp step : findPrograms(getOperation()))
      if (ScheduleOp schedule = findSchedule(step))
        for (PieceOp piece : getPieces(step))
          if (piece.isPass())
            label(piece, schedule);
  }

private:
  /// Labels a pass as one unit, so that it is replayed as a whole, from its received values, as in
  /// GPipe and torchgpipe.
  void label(PieceOp piece, ScheduleOp schedule) {
    auto microbatch = static_cast<int64_t>(*piece.getMicrobatch());
    int64_t own = schedule.countOwnMicrobatches();
    bool isLast = microbatch % own == own - 1;
    auto stages = static_cast<int64_t>(schedule.getStages());
    int64_t unit = microbatch * stages + static_cast<int64_t>(piece.getStage());
    const CheckpointMode *mode = findCheckpointMode(checkpoint);
    bool isSaved = mode && !(isLast ? mode->replaysLast : mode->replaysOthers);
    Builder builder(&getContext());
    for (Operation &op : piece.getBody().front().without_terminator()) {
      op.setDiscardableAttr(kBlockAttr, builder.getDenseI64ArrayAttr({unit}));
      if (piece.getSweep() != 0 || op.hasAttr(kLabelAttr) || op.hasAttr(kResultLabelsAttr))
        continue;
      op.setDiscardableAttr(
          kLabelAttr,
          LabelAttr::get(&getContext(), isSaved ? Label::prefer_save : Label::prefer_recompute));
      op.setDiscardableAttr(kRuleAttr, builder.getStringAttr("--checkpoint=" + checkpoint));
    }
  }
};

} // namespace
} // namespace reprise::pipe
