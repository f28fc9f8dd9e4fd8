// reprise: distributes the pieces of a step to one program per device
#include "reprise/Dialect/Pipe/Transforms/Passes.h"

#include "DevicePrograms.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"

#include <map>

using namespace mlir;

namespace reprise::pipe {
#define GEN_PASS_DEF_SPLITSTAGESPASS
#include "reprise/Dialect/Pipe/Transforms/Passes.h.inc"

namespace {

using Key = std::tuple<PieceKind, int64_t, int64_t, int64_t>;

/// The pieces of every device in the order of its row. The step may have no pieces of some passes.
std::vector<std::vector<PieceOp>> orderPieces(ProgramOp step, ScheduleOp schedule) {
  pipeline::Schedule order = schedule.getSchedule();
  std::map<Key, PieceOp> passes;
  size_t ranks = order.shape.ranks, devices = schedule.getReplicas() * ranks;
  std::vector<std::vector<PieceOp>> rows(devices), after(devices);
  for (PieceOp piece : getPieces(step)) {
    size_t rank = order.shape.rankOf(static_cast<int>(piece.getStage()));
    size_t device = piece.getReplica() * ranks + rank;
    if (piece.isPass())
      passes[{piece.getKind(), piece.getStage(), *piece.getMicrobatch(), piece.getRound()}] = piece;
    else
      (piece.getKind() == PieceKind::Before ? rows : after)[device].push_back(piece);
  }
  static constexpr PieceKind kKinds[] = {PieceKind::Forward, PieceKind::Backward,
                                         PieceKind::Weight};
  for (auto [device, row] : llvm::enumerate(rows)) {
    int64_t begin = static_cast<int64_t>(device / ranks) * schedule.countOwnMicrobatches();
    for (int64_t round = 0; round < static_cast<int64_t>(schedule.getRounds()); ++round)
      for (const pipeline::Piece &piece : order.ranks[device % ranks])
        if (auto found = passes.find({kKinds[static_cast<int>(piece.pass)], piece.stage,
                                      begin + piece.microbatch, round});
            found != passes.end())
          row.push_back(found->second);
    llvm::append_range(row, after[device]);
  }
  return rows;
}

struct SplitStagesPass : impl::SplitStagesPassBase<SplitStagesPass> {
  using Base::Base;

  void runOnOperation() override {
    for (ProgramOp step : findPrograms(getOperation()))
      if (ScheduleOp schedule = findSchedule(step); schedule && !step->hasAttr(kEntryAttr))
        if (failed(split(step, schedule)))
          return signalPassFailure();
  }

private:
  LogicalResult split(ProgramOp step, ScheduleOp schedule) {
    for (StringRef name : {kCutsAttr, kTimingAttr})
      if (Attribute found = step->removeAttr(name))
        getOperation()->setAttr(name, found);
    pipeline::Shape shape = schedule.getSchedule().shape;
    if (failed(DevicePrograms(step, shape, orderPieces(step, schedule)).build()))
      return failure();
    step.erase();
    return success();
  }
};

} // namespace
} // namespace reprise::pipe
