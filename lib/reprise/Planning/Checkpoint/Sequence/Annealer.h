// reprise: annealing of sequences
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_ANNEALER_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_ANNEALER_H

#include "SequenceMoves.h"
#include "Shift.h"
#include "reprise/Planning/IsOver.h"
#include "reprise/Support/SplitMix.h"

namespace reprise::checkpoint {

/// How a run goes: its moves, temperatures in percent of cost, and the price of excess.
struct Cooling {
  int64_t moves = 0;
  double hottest = 1;
  double price = 3;    ///< percent of cost for an excess of one budget
  double shifts = 0.7; ///< shares of moves; the others are replays and removals alike
  double chains = 0.05;
};

/// Runs from a sequence towards cheaper ones that fit (after FastSA, Imanishi et al., NeurIPS
/// 2023). Keeps the cheapest sequence that fits of all runs. Seeds and counts decide, not the
/// clock.
class Annealer {
public:
  /// `total` are the seconds of all originals. A cost of `enough` seconds ends the search.
  Annealer(const Pieces &pieces, int64_t budget, double total, double enough, IsOver isOver);

  void run(Sequence sequence, const Cooling &cooling, uint64_t seed);
  /// Makes a sequence that fits the best one, if it is cheaper.
  void offer(const Sequence &sequence);

  const Sequence *best() const { return found ? &*found : nullptr; }
  /// Returns the sequence of the least peak among those that runs looked at now and then.
  const Sequence &smallest() const { return *least; }
  bool isTruncated() const { return isCut; }
  bool isDone() const { return isCut || (hasBest() && bestCost <= enough); }

private:
  using Reader = Sequence::Reader;
  struct Grown {
    int exec;
    std::vector<Moved> moved;
  };

  bool hasBest() const { return found || isNoted; }
  double energyOf(const Sequence &sequence) const {
    return sequence.cost() * costScale + static_cast<double>(sequence.excess()) * bytesScale;
  }
  bool accepts(double growth);
  bool accepts(double seconds, int64_t excess) {
    return accepts(seconds * costScale + static_cast<double>(excess) * bytesScale);
  }
  bool walk(Sequence &sequence, const Cooling &cooling, int64_t moves, int window);
  void move(Sequence &sequence, const Cooling &cooling);
  void tryShift(Sequence &sequence);
  void tryReplay(Sequence &sequence, int depth);
  void tryPlainReplay(Sequence &sequence, int item, Reader reader, int depth);
  void tryRemove(Sequence &sequence);
  std::optional<std::pair<int, Reader>> pickRead(const Sequence &sequence);
  int pickExec(const Sequence &sequence);
  void grow(Sequence &sequence, int item, Reader reader, int depth);
  void growSources(Sequence &sequence, int exec, int depth);
  void takeBackGrown(Sequence &sequence);
  void shrink(Sequence &sequence, int exec);
  void note(const Sequence &sequence);
  void keepSmallest(const Sequence &sequence);
  void keep(const Sequence &sequence);

  const Pieces &pieces;
  int64_t budget;
  double costScale, bytesScale = 0, temperature = 0, enough, bestCost = 0;
  IsOver isOver;
  SplitMix random{0};
  std::optional<Sequence> found;
  bool isNoted = false; ///< the sequence is better than `found`, which was not changed yet
  bool isCut = false;
  std::optional<Sequence> least;
  std::vector<Grown> grown;
  std::vector<Removed> removed;
  Shift shift;
  Changes changes;
  Proposal proposal;
};

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_ANNEALER_H
