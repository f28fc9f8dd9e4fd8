// reprise: makes a device program of each device of a pipeline
#include "reprise/Dialect/Pipe/Transforms/Passes.h"

#include "DevicePrograms.h"
#include "Order.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/Transforms/PlanningScopes.h"

using namespace mlir;

namespace reprise::pipe {
#define GEN_PASS_DEF_SPLITSTAGESPASS
#include "reprise/Dialect/Pipe/Transforms/Passes.h.inc"

namespace {

using Key = std::tuple<int64_t, int64_t, bool, int64_t>;

Key getKey(const Place &place) {
  return {place.stage, place.sweep, place.isWeight, place.microbatch};
}

/// Forward, backward and weight passes, as schedules know them.
Place getPlace(const pipeline::Piece &piece) {
  bool isForward = piece.pass == pipeline::Pass::Forward;
  return {Place::Within, piece.stage, isForward ? 0 : 1, piece.pass == pipeline::Pass::Weight,
          piece.microbatch};
}

/// The passes of every device in the order of a schedule.
std::vector<std::vector<Place>> orderPasses(const Places &places,
                                            const pipeline::Schedule &schedule) {
  const pipeline::Shape &shape = schedule.shape;
  std::vector<std::vector<Place>> ranks(shape.ranks);
  if (places.countSweeps() <= 2) {
    for (auto [rank, pieces] : llvm::zip(ranks, schedule.ranks))
      for (const pipeline::Piece &piece : pieces)
        if (piece.pass == pipeline::Pass::Forward || places.countSweeps() == 2)
          rank.push_back(getPlace(piece));
    return ranks;
  }
  // gpipe, one sweep after the other.
  for (int64_t sweep = 0; sweep < places.countSweeps(); ++sweep)
    for (int64_t microbatch = 0; microbatch < shape.microbatches; ++microbatch)
      for (int stage = 0; stage < shape.stages(); ++stage)
        ranks[shape.rankOf(stage)].push_back({Place::Within, stage, sweep, false, microbatch});
  return ranks;
}

std::vector<std::vector<Turn>> makeTurns(func::FuncOp step, const Places &places,
                                         const pipeline::Schedule &schedule) {
  std::map<Key, SmallVector<Operation *>> passes;
  std::vector<std::vector<Turn>> before(schedule.shape.ranks), after(schedule.shape.ranks);
  for (Operation &op : step.getBody().front().without_terminator()) {
    std::optional<Place> place = places.get(&op);
    if (!place)
      continue;
    int rank = schedule.shape.rankOf(static_cast<int>(place->stage));
    if (place->kind == Place::Within)
      passes[getKey(*place)].push_back(&op);
    else
      (place->kind == Place::Before ? before : after)[rank].push_back({*place, {&op}});
  }
  std::vector<std::vector<Turn>> turns;
  for (auto [rank, pieces] : llvm::enumerate(orderPasses(places, schedule))) {
    std::vector<Turn> &own = turns.emplace_back();
    own.push_back({{Place::Before}, {}});
    llvm::append_range(own, before[rank]);
    for (const Place &place : pieces)
      own.push_back({place, passes[getKey(place)]});
    llvm::append_range(own, after[rank]);
    own.push_back({{Place::After}, {}});
  }
  return turns;
}

/// Whether a stage replays its forward pass over a micro-batch, as GPipe and torchgpipe do. A pass
/// is one unit, so that it is replayed as a whole, from what it received.
void label(ArrayRef<Turn> turns, const pipeline::Shape &shape, StringRef mode) {
  for (const Turn &turn : turns) {
    const Place &place = turn.place;
    if (place.kind != Place::Within)
      continue;
    bool isLast = place.microbatch + 1 == shape.microbatches;
    bool isSaved = mode == "never" || (mode == "except-last" && isLast);
    for (Operation *op : turn.ops) {
      Builder builder(op->getContext());
      int64_t unit = place.microbatch * shape.stages() + place.stage;
      op->setDiscardableAttr("reprise.block", builder.getDenseI64ArrayAttr({unit}));
      if (place.sweep != 0 || op->hasAttr("reprise.label") || op->hasAttr("reprise.result_labels"))
        continue;
      op->setDiscardableAttr(
          "reprise.label",
          LabelAttr::get(op->getContext(), isSaved ? Label::prefer_save : Label::prefer_recompute));
      op->setDiscardableAttr("reprise.rule", builder.getStringAttr("--checkpoint=" + mode));
    }
  }
}

/// True if a forward pass stands behind a backward pass.
bool isInterleaved(ArrayRef<Turn> turns) {
  bool hasBackward = false;
  for (const Turn &turn : turns) {
    if (turn.place.kind != Place::Within || turn.ops.empty())
      continue;
    if (hasBackward && turn.place.sweep == 0)
      return true;
    hasBackward |= turn.place.sweep > 0;
  }
  return false;
}

struct SplitStagesPass : impl::SplitStagesPassBase<SplitStagesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<func::FuncOp> programs = findPrograms(getOperation());
    if (programs.size() != 1) {
      getOperation().emitError("expected one step to cut into stages, got ")
          << programs.size() << " device programs";
      return signalPassFailure();
    }
    if (failed(split(programs.front())))
      signalPassFailure();
  }

private:
  /// Scopes may name more stages than there are, or fewer.
  static LogicalResult checkMarks(func::FuncOp step, int64_t stages) {
    int64_t marked = 0;
    for (Operation &op : step.getBody().front())
      if (auto stage = op.getAttrOfType<IntegerAttr>(kStageAttr))
        marked = std::max(marked, stage.getInt() + 1);
    if (marked <= stages)
      return success();
    return step.emitError("the step has ") << marked << " stages, and the schedule " << stages;
  }

  LogicalResult split(func::FuncOp step) {
    FailureOr<Order> order = Order::find(step, schedule, devices, chunks);
    if (failed(order) || failed(checkMarks(step, order->getShape().stages())))
      return failure();
    Places places(step, order->getShape().stages(), order->splitsBackward());
    FailureOr<pipeline::Schedule> made = order->make(step, places.countMicrobatches());
    if (failed(made))
      return failure();
    std::vector<std::vector<Turn>> turns = makeTurns(step, places, *made);
    SmallVector<bool> interleaved;
    for (ArrayRef<Turn> own : turns) {
      interleaved.push_back(isInterleaved(own));
      if (!checkpoint.empty())
        label(own, made->shape, checkpoint);
    }
    if (failed(DevicePrograms(step, places, made->shape, std::move(turns)).build()))
      return failure();
    step.erase();
    for (func::FuncOp program : findPrograms(getOperation()))
      if (interleaved[*getDevice(program)])
        program->setAttr(kOneScopeAttr, UnitAttr::get(&getContext()));
    return success();
  }
};

} // namespace
} // namespace reprise::pipe
