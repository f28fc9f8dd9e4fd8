// reprise: the order of the ops of the parts of a model on several stages
#include "PartOrder.h"

#include "Places.h"
#include "mlir/Transforms/RegionUtils.h"
#include "reprise/Support/StableSort.h"

#include <map>

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;

namespace {

/// Pass of a stage over a micro-batch of its replica.
using StagePass = std::tuple<bool, int64_t, int64_t>; // backward, stage, micro-batch

/// Place of an op in the order of a step: its pass, and its number in the pass. Replicas run equal
/// passes, so equal numbers of all replicas stand beside each other.
using Turn = std::pair<int64_t, int64_t>;

/// Returns the passes of all stages in one order.
std::map<StagePass, int64_t> rankPasses(const pipeline::Schedule &schedule) {
  std::map<StagePass, int64_t> ranks;
  std::vector<size_t> next(schedule.ranks.size(), 0);
  int64_t stages = schedule.shape.stages();
  auto isReady = [&](const StagePass &pass) {
    auto [isBackward, stage, microbatch] = pass;
    if (!isBackward)
      return stage == 0 || ranks.count({false, stage - 1, microbatch});
    return ranks.count({false, stage, microbatch}) &&
           (stage == stages - 1 || ranks.count({true, stage + 1, microbatch}));
  };
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (auto [rank, row] : llvm::enumerate(schedule.ranks)) {
      if (next[rank] == row.size())
        continue;
      const pipeline::Piece &piece = row[next[rank]];
      StagePass pass{piece.pass != pipeline::Pass::Forward, piece.stage, piece.microbatch};
      if (!isReady(pass))
        continue;
      ranks.try_emplace(pass, static_cast<int64_t>(ranks.size()));
      ++next[rank];
      hasChanged = true;
    }
  }
  return ranks;
}

} // namespace

void reprise::pipe::orderParts(ProgramOp step, const pipeline::Schedule &schedule,
                               int64_t replicas) {
  Places places(step, schedule.shape.stages(), replicas, /*splitsBackward=*/false);
  std::map<StagePass, int64_t> ranks = rankPasses(schedule);
  Block &block = step.getBody().front();
  DenseMap<Operation *, Turn> turnOf;
  std::map<StagePass, int64_t> counts; // ops by sweep, stage, and micro-batch of all replicas
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator()) {
    Turn turn{-1, 0};
    if (std::optional<Place> place = places.get(&op)) {
      bool isBackward = place->sweep % 2 != 0;
      // Sums of one stage run beside the last backward pass, so that gradients leave one by one.
      if (place->kind == Place::After && schedule.shape.stages() > 1)
        turn = {static_cast<int64_t>(ranks.size()), 0};
      else if (place->kind == Place::Within)
        turn = {
            ranks.at({isBackward, place->stage, place->microbatch % schedule.shape.microbatches}),
            counts[{isBackward, place->stage, place->microbatch}]++};
    }
    llvm::SetVector<Value> read(op.operand_begin(), op.operand_end());
    getUsedValuesDefinedAbove(op.getRegions(), read);
    for (Value value : read)
      if (Operation *maker = value.getDefiningOp())
        turn = std::max(turn, turnOf.lookup(maker));
    turnOf[&op] = turn;
    ops.push_back(&op);
  }
  sortStably(ops, [&](Operation *left, Operation *right) {
    return turnOf.lookup(left) < turnOf.lookup(right);
  });
  for (Operation *op : ops)
    op->moveBefore(block.getTerminator());
}
