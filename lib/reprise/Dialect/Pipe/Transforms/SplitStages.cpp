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

/// Sorts the pieces of a step into the rows of the devices.
class PieceOrder {
public:
  PieceOrder(ProgramOp step, ScheduleOp schedule)
      : order(schedule.getSchedule()), own(schedule.countOwnMicrobatches()),
        rounds(static_cast<int64_t>(schedule.getRounds())), ranks(order.shape.ranks),
        rows(schedule.getReplicas() * ranks), after(rows.size()) {
    for (PieceOp piece : getPieces(step))
      sort(piece);
  }

  /// Returns the pieces of every device in the order of its row. The step may have no pieces of
  /// some passes.
  std::vector<std::vector<PieceOp>> run() {
    for (size_t device = 0; device < rows.size(); ++device) {
      int64_t begin = static_cast<int64_t>(device / ranks) * own;
      for (int64_t round = 0; round < rounds; ++round)
        for (const pipeline::Piece &piece : order.ranks[device % ranks])
          append(device, {kKinds[static_cast<int>(piece.pass)], piece.stage,
                          begin + piece.microbatch, round});
      llvm::append_range(rows[device], after[device]);
    }
    return std::move(rows);
  }

private:
  using Key = std::tuple<PieceKind, int64_t, int64_t, int64_t>;
  static constexpr PieceKind kKinds[] = {PieceKind::Forward, PieceKind::Backward,
                                         PieceKind::Weight};

  void sort(PieceOp piece) {
    auto stage = static_cast<int64_t>(piece.getStage());
    size_t device = piece.getReplica() * ranks + order.shape.rankOf(static_cast<int>(stage));
    auto segment = static_cast<int64_t>(piece.getSegment().value_or(0));
    if (piece.isPass())
      passes[{piece.getKind(), stage, *piece.getMicrobatch(), piece.getRound()}][segment] = piece;
    else if (piece.getSegment())
      early[{device, stage}][segment].push_back(piece);
    else
      (piece.getKind() == PieceKind::Before ? rows : after)[device].push_back(piece);
  }

  /// Appends the segments of a pass, each with the pieces that run behind it.
  void append(size_t device, const Key &key) {
    auto found = passes.find(key);
    if (found == passes.end())
      return;
    for (auto &[segment, piece] : found->second) {
      rows[device].push_back(piece);
      if (piece.getSegment())
        appendEarly(device, std::get<1>(key),
                    segment == found->second.rbegin()->first ? INT64_MAX : segment);
    }
  }

  /// Appends the pieces that run behind segments up to `last`.
  void appendEarly(size_t device, int64_t stage, int64_t last) {
    auto &own = early[{device, stage}];
    for (auto it = own.begin(); it != own.end() && it->first <= last; it = own.erase(it))
      llvm::append_range(rows[device], it->second);
  }

  const pipeline::Schedule order; ///< that of each replica
  int64_t own, rounds;
  size_t ranks;
  std::map<Key, std::map<int64_t, PieceOp>> passes; ///< segments by pass
  /// Pieces behind segments, by device and stage.
  std::map<std::pair<size_t, int64_t>, std::map<int64_t, std::vector<PieceOp>>> early;
  std::vector<std::vector<PieceOp>> rows, after; ///< pieces by device
};

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
    std::optional<Label> label = gathers == "saved"      ? std::optional(Label::prefer_save)
                                 : gathers == "replayed" ? std::optional(Label::prefer_recompute)
                                                         : std::nullopt;
    if (!gathers.empty() && !label)
      return step.emitError("unknown gathers '") << gathers << "': expected saved or replayed";
    if (failed(DevicePrograms(step, shape, PieceOrder(step, schedule).run(), label).build()))
      return failure();
    step.erase();
    return success();
  }
};

} // namespace
} // namespace reprise::pipe
