// reprise: annealing of sequences
#include "Annealer.h"

#include <algorithm>
#include <cmath>

using namespace reprise::checkpoint;

static constexpr int kWindows = 128;

Annealer::Annealer(const Pieces &pieces, int64_t budget, double total, double enough, IsOver isOver)
    : pieces(pieces), budget(budget), costScale(total > 0 ? 100 / total : 0), enough(enough),
      isOver(std::move(isOver)) {}

bool Annealer::accepts(double growth) {
  return growth <= 0 || random.unit() < std::exp(-growth / temperature);
}

/// Notes that the sequence is the best one. It is copied before it gets worse, because better ones
/// come in long rows.
void Annealer::note(const Sequence &sequence) {
  if (sequence.excess() > 0 || (hasBest() && sequence.cost() >= bestCost - 1e-12 / costScale))
    return;
  bestCost = sequence.cost();
  isNoted = true;
}

void Annealer::keep(const Sequence &sequence) {
  if (!isNoted)
    return;
  found.reset();
  found.emplace(sequence);
  isNoted = false;
}

void Annealer::offer(const Sequence &sequence) {
  note(sequence);
  keep(sequence);
  keepSmallest(sequence);
}

void Annealer::keepSmallest(const Sequence &sequence) {
  if (least && sequence.peak() >= least->peak())
    return;
  least.reset();
  least.emplace(sequence);
}

int Annealer::pickExec(const Sequence &sequence) {
  const std::vector<int> &own = sequence.steps[sequence.order[random.below(sequence.size())]].execs;
  return own[own.size() == 1 ? 0 : random.below(static_cast<int>(own.size()))];
}

std::optional<std::pair<int, Annealer::Reader>> Annealer::pickRead(const Sequence &sequence) {
  int exec = pickExec(sequence), first = sequence.execs[exec].firstItem, count = 0;
  auto end = first + static_cast<int>(sequence.pieceOf(exec).results.size());
  for (int item = first; item < end; ++item)
    count += static_cast<int>(sequence.items[item].readers.size());
  int index = count == 0 ? 0 : random.below(count);
  for (int item = first; item < end; ++item) {
    const std::vector<Reader> &readers = sequence.items[item].readers;
    if (index < static_cast<int>(readers.size()))
      return std::make_pair(item, readers[index]);
    index -= static_cast<int>(readers.size());
  }
  return std::nullopt;
}

void Annealer::tryShift(Sequence &sequence) {
  static constexpr int kNear = 8, kFar = 200;
  int step = sequence.order[random.below(sequence.size())], place = sequence.steps[step].place;
  uint64_t bits = random.next();
  if (pieces.isOrdered && !sequence.steps[step].isReplay)
    return;
  bool isAhead = bits & 1;
  int slack = isAhead ? findSlackAhead(sequence, step) : findSlackBack(sequence, step);
  int reach = std::min(slack, bits & 2 ? kNear : kFar);
  if (reach <= 0)
    return;
  int way = 1 + random.below(reach);
  weigh(sequence, step, isAhead ? place + way : place - way, shift);
  if (!accepts(static_cast<double>(shift.growth) * bytesScale))
    return;
  if (shift.growth > 0)
    keep(sequence);
  apply(sequence, shift);
}

/// Tells whether no reader beside `exec` needs the item behind it, and none right before it.
static bool isGone(const Sequence &sequence, int item, int exec) {
  int place = sequence.placeOf(exec), end = sequence.placeOf(sequence.items[item].exec);
  for (Sequence::Reader reader : sequence.items[item].readers)
    if (reader.exec != exec)
      end = std::max(end, sequence.placeOf(reader.exec));
  return end + 1 < place;
}

/// Replays an item for a reader, and then what the replay reads of items that are gone.
void Annealer::grow(Sequence &sequence, int item, Reader reader, int depth) {
  Proposal own;
  int exec = propose(sequence, item, reader, own) ? make(sequence, own) : -1;
  if (exec < 0)
    return;
  grown.push_back({exec, std::move(own.moved)});
  growSources(sequence, exec, depth);
}

/// Replays what an execution reads of items that are gone.
void Annealer::growSources(Sequence &sequence, int exec, int depth) {
  static constexpr size_t kMost = 64;
  for (size_t read = 0; depth > 0 && read < sequence.execs[exec].sources.size(); ++read) {
    int source = sequence.execs[exec].sources[read];
    if (grown.size() < kMost && isGone(sequence, source, exec) && random.below(4))
      grow(sequence, source, {exec, static_cast<int>(read)}, depth - 1);
  }
}

void Annealer::tryReplay(Sequence &sequence, int depth) {
  auto read = pickRead(sequence);
  if (!read)
    return;
  if (pieces.isPlain)
    return tryPlainReplay(sequence, read->first, read->second, depth);
  double before = energyOf(sequence);
  keep(sequence);
  grown.clear();
  grow(sequence, read->first, read->second, depth);
  if (grown.empty() || accepts(energyOf(sequence) - before))
    return;
  takeBackGrown(sequence);
}

void Annealer::takeBackGrown(Sequence &sequence) {
  for (; !grown.empty(); grown.pop_back())
    takeBack(sequence, grown.back().exec, grown.back().moved);
}

/// Replays an item, weighed before it is made, because most replays are not. An execution that
/// nothing would read any more is moved instead.
void Annealer::tryPlainReplay(Sequence &sequence, int item, Reader reader, int depth) {
  if (!propose(sequence, item, reader, proposal))
    return;
  int exec = proposal.old, first = sequence.execs[exec].firstItem;
  size_t readers = 0;
  for (size_t result = 0; result < sequence.pieceOf(exec).results.size(); ++result)
    readers += sequence.items[first + static_cast<int>(result)].readers.size();
  bool isMoved = proposal.moved.size() == readers;
  if (depth == 0) {
    if (isMoved ||
        !accepts(pieces.pieces[proposal.piece].seconds, weigh(sequence, proposal, changes)))
      return;
    keep(sequence);
    make(sequence, proposal);
    return;
  }
  keep(sequence);
  double before = energyOf(sequence);
  int step = sequence.execs[exec].step, place = sequence.steps[step].place;
  int to = place + findSlackAhead(sequence, step);
  grown.clear();
  if (!isMoved) {
    grow(sequence, item, reader, depth);
  } else if (to > place) {
    weigh(sequence, step, to, shift);
    apply(sequence, shift);
    growSources(sequence, exec, depth);
  }
  if (accepts(energyOf(sequence) - before))
    return;
  takeBackGrown(sequence);
  if (isMoved && to > place) {
    weigh(sequence, step, place, shift);
    apply(sequence, shift);
  }
}

/// Removes a replay, and then the replays that only that one read.
void Annealer::shrink(Sequence &sequence, int exec) {
  std::vector<int> sources = sequence.execs[exec].sources;
  removed.push_back(remove(sequence, exec));
  for (int source : sources) {
    int maker = sequence.items[source].exec;
    const std::vector<int> &all = sequence.byCell[sequence.items[source].cell];
    bool exists = std::find(all.begin(), all.end(), source) != all.end();
    if (exists && sequence.isReplay(maker) && !sequence.isRead(maker))
      shrink(sequence, maker);
  }
}

/// Tells whether the execution alone reads some replay.
static bool isAloneReader(const Sequence &sequence, int exec) {
  const std::vector<int> &sources = sequence.execs[exec].sources;
  return std::any_of(sources.begin(), sources.end(), [&](int source) {
    return sequence.isReplay(sequence.items[source].exec) &&
           sequence.items[source].readers.size() == 1;
  });
}

void Annealer::tryRemove(Sequence &sequence) {
  int exec = pickExec(sequence);
  if (!canRemove(sequence, exec))
    return;
  if (pieces.isPlain && !isAloneReader(sequence, exec)) {
    int64_t growth = weighRemoval(sequence, exec, changes);
    if (!accepts(-sequence.pieceOf(exec).seconds, growth))
      return;
    keep(sequence);
    remove(sequence, exec);
    return;
  }
  double before = energyOf(sequence);
  keep(sequence);
  removed.clear();
  shrink(sequence, exec);
  if (accepts(energyOf(sequence) - before))
    return;
  for (; !removed.empty(); removed.pop_back())
    restore(sequence, removed.back());
}

void Annealer::move(Sequence &sequence, const Cooling &cooling) {
  static constexpr int kDeepest = 6;
  double kind = random.unit(), others = cooling.shifts + cooling.chains;
  if (kind < cooling.shifts)
    tryShift(sequence);
  else if (kind < others)
    tryReplay(sequence, random.below(kDeepest));
  else if (kind < (1 + others) / 2)
    tryReplay(sequence, 0);
  else
    tryRemove(sequence);
}

/// Returns true if some sequence on the way fits.
bool Annealer::walk(Sequence &sequence, const Cooling &cooling, int64_t moves, int window) {
  static constexpr int64_t kSteps = 256; // between changes of the temperature
  static constexpr double kColdest = 2e-3;
  bool fits = false;
  for (int64_t i = 0; i < moves && !isDone(); ++i) {
    if (i % kSteps == 0)
      temperature =
          cooling.hottest *
          std::pow(kColdest,
                   (window + static_cast<double>(i) / static_cast<double>(moves)) / kWindows);
    move(sequence, cooling);
    note(sequence);
    fits |= sequence.excess() == 0;
  }
  keep(sequence);
  return fits;
}

void Annealer::run(Sequence sequence, const Cooling &cooling, uint64_t seed) {
  static constexpr int kSteady = 77; // windows before the price changes
  static constexpr double kRise = 1.1, kFall = 0.97;
  random = SplitMix(seed);
  offer(sequence);
  double price = cooling.price;
  int64_t moves = std::max<int64_t>(1, cooling.moves / kWindows);
  for (int window = 0; window < kWindows && !isDone(); ++window) {
    if ((isCut = isOver && isOver()))
      return;
    bytesScale = price / static_cast<double>(std::max<int64_t>(1, budget));
    bool fits = walk(sequence, cooling, moves, window);
    keepSmallest(sequence);
    if (window >= kSteady)
      price = fits ? std::max(cooling.price, price * kFall) : price * kRise;
  }
}
