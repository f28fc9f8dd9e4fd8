// reprise: replays that run while their device waits for another one
#include "EarlyReplays.h"

#include "reprise/Dialect/Exec/IR/BackwardWaits.h"
#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Support/ByteSize.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace reprise {

namespace {

/// Bytes that live at each position of a program, before buffers have places. A next value counts
/// as stored in its argument.
class LiveLoads {
public:
  explicit LiveLoads(ProgramOp program) : positions(program.getBody().front()) {
    findReturned(program);
    Block &block = program.getBody().front();
    for (Operation &op : block.without_terminator()) {
      llvm::for_each(op.getResults(), [&](Value value) { touch(value, &op); });
      llvm::for_each(op.getOperands(), [&](Value value) { touch(value, &op); });
    }
    for (auto &[root, range] : ranges)
      add(range.first, range.second, getByteSize(root.getType()));
    peak = loads.empty() ? 0 : *llvm::max_element(loads);
  }

  int64_t getPeak() const { return peak; }
  int64_t placeOf(Operation *op) const { return positions.of(op).first; }
  /// Returns the most bytes between two positions.
  int64_t getMost(int64_t first, int64_t last) const {
    return *std::max_element(loads.begin() + first, loads.begin() + last + 1);
  }
  void add(int64_t first, int64_t last, int64_t bytes) {
    loads.resize(std::max<size_t>(loads.size(), last + 1));
    for (int64_t place = first; place <= last; ++place)
      loads[place] += bytes;
  }

private:
  void findReturned(ProgramOp program) {
    ArrayRef<int64_t> replaced = EntrySignature(program).getReplacedArguments();
    for (OpOperand &end : program.getBody().front().getTerminator()->getOpOperands())
      if (replaced[end.getOperandNumber()] >= 0)
        next.insert(exec::findStorage(end.get()).root);
  }

  void touch(Value value, Operation *op) {
    if (!isa<RankedTensorType>(value.getType()))
      return;
    Value root = exec::findStorage(value).root;
    if (!exec::isMade(root) || next.contains(root))
      return;
    auto [first, last] = positions.seenFrom(root, op);
    auto [found, isNew] = ranges.try_emplace(root, first, last);
    found->second.first = std::min(found->second.first, first);
    found->second.second = std::max(found->second.second, last);
  }

  exec::Positions positions;
  DenseSet<Value> next; ///< buffers of next values
  llvm::MapVector<Value, std::pair<int64_t, int64_t>> ranges;
  std::vector<int64_t> loads;
  int64_t peak = 0;
};

/// Waits and early seconds of the passes of a pipeline.
class Passes {
public:
  using Table = std::vector<std::vector<double>>; ///< by stage and micro-batch

  Passes(const PlannedPipeline &planned, ArrayRef<WaitingProgram> programs)
      : planned(planned), shape(planned.schedule.shape) {
    for (const WaitingProgram &own : programs)
      found.push_back(exec::findBackwardWaits(own.program));
    early = makeTable(0);
    for (auto [own, waits] : llvm::zip_equal(programs, found))
      for (const exec::BackwardWait &wait : waits)
        for (exec::LaunchOp launch : wait.early)
          of(early, wait) += countLaunchSeconds(launch, *own.costs) / countReplicas();
    for (auto [stage, passes] : llvm::enumerate(early))
      for (double &seconds : passes)
        seconds = std::min(seconds, planned.replays[stage]);
  }

  /// Moves launches of all programs. Returns the moved seconds.
  Table move(ArrayRef<WaitingProgram> programs) {
    Table waits = findWaits(), moved = makeTable(INFINITY);
    for (auto [own, passes] : llvm::zip_equal(programs, found)) {
      LiveLoads loads(own.program);
      for (const exec::BackwardWait &wait : llvm::reverse(passes)) {
        double seconds = std::min(of(waits, wait), of(early, wait));
        double taken = move(wait, seconds, own, loads);
        of(moved, wait) = std::min({of(moved, wait), taken, of(early, wait)});
      }
    }
    for (std::vector<double> &passes : moved)
      for (double &seconds : passes)
        seconds = std::isinf(seconds) ? 0 : seconds;
    return moved;
  }

private:
  Table makeTable(double value) const {
    return Table(shape.stages(), std::vector<double>(shape.microbatches, value));
  }
  /// Replicas run consecutive micro-batches.
  double &of(Table &table, const exec::BackwardWait &wait) const {
    return table[wait.stage][wait.microbatch % shape.microbatches];
  }
  double countReplicas() const {
    return static_cast<double>(found.size()) / static_cast<double>(shape.ranks);
  }

  /// Returns the seconds that devices wait for their backward passes, if all early launches move.
  Table findWaits() const {
    pipeline::Pipeline pipeline = planned.pipeline;
    pipeline.early = early;
    pipeline::Simulation simulation = pipeline::simulate(planned.schedule, pipeline);
    Table waits = makeTable(0);
    for (auto [rank, pieces] : llvm::enumerate(planned.schedule.ranks))
      for (auto [place, piece] : llvm::enumerate(pieces))
        if (piece.pass == pipeline::Pass::Backward)
          waits[piece.stage][piece.microbatch] = simulation.waits[rank][place];
    return waits;
  }

  /// Moves launches of one pass until they take `seconds`. Returns their seconds.
  static double move(const exec::BackwardWait &wait, double seconds, const WaitingProgram &own,
                     LiveLoads &loads) {
    double taken = 0;
    size_t count = 0;
    int64_t begin = loads.placeOf(wait.first);
    for (exec::LaunchOp launch : wait.early) {
      if (taken >= seconds)
        break;
      int64_t bytes = 0, end = loads.placeOf(launch);
      for (Value result : launch.getResults())
        bytes += getByteSize(result.getType());
      if (loads.getMost(begin, end) + bytes > loads.getPeak() + own.room)
        break;
      loads.add(begin, end, bytes);
      taken += countLaunchSeconds(launch, *own.costs);
      ++count;
    }
    exec::moveEarly(wait, count);
    return taken;
  }

  const PlannedPipeline &planned;
  const pipeline::Shape &shape;
  std::vector<std::vector<exec::BackwardWait>> found; ///< by program
  Table early;
};

} // namespace

std::vector<std::vector<double>> hideReplays(const PlannedPipeline &planned,
                                             ArrayRef<WaitingProgram> programs) {
  return Passes(planned, programs).move(programs);
}

} // namespace reprise
