// reprise: annealing over order and replays together (after FastSA, Imanishi et al., NeurIPS 2023)
#include "reprise/Planning/Rematerialization/Anneal.h"

#include "Sequence.h"
#include "reprise/Support/SplitMix.h"
#include <algorithm>
#include <cmath>

namespace reprise::remat {

namespace {

enum class Start {
  Order,
  Best,
  Given,      // the best, if it was given, is not beaten yet and far from what is enough
  NothingFits // in order, if there is nothing yet
};

/// How a run goes. The energy is the cost in percent, and the bytes beyond the budget in shares of
/// it at a price, which rises as long as nothing fits.
struct Setting {
  double share;          // of all moves
  double hottest, price; // at first
  double shifts, chains; // shares of moves; the others are replays and merges alike
  Start start;
};

/// Operations of a graph that gets one long run, and of one that gets it from what is given.
constexpr size_t kLarge = 250, kHuge = 4096;

class Annealer {
public:
  Annealer(const Problem &problem, int64_t budget, const AnnealOptions &options)
      : problem(problem), budget(budget), options(options) {
    for (const Operation &op : problem.operations)
      least += op.cost;
    costScale = least > 0 ? 100 / least : 0;
  }
  Annealed run() {
    lowestPeak = measure(problem, inOrder(problem)).peak;
    if (options.start)
      keep(*options.start);
    givenCost = best ? bestCost : -1;
    runAll();
    return {std::move(best), lowestPeak, isOver};
  }

private:
  void runAll();
  bool hasBest() const { return best || isNoted; }
  bool isDone() const {
    return isOver || (hasBest() && bestCost <= (least + options.enough) * (1 + 1e-12));
  }
  double energyOf(double cost, int64_t excess) const {
    return cost * costScale + static_cast<double>(excess) * bytesScale;
  }
  bool accepts(double growth) {
    return growth <= 0 || random.unit() < std::exp(-growth / temperature);
  }
  void anneal(const Setting &setting, uint64_t seed);
  template <typename Temperature>
  bool walk(Sequence &sequence, const Setting &setting, int64_t moves, Temperature temperatureAt);
  void tryShift(Sequence &sequence);
  void tryReplay(Sequence &sequence);
  void tryChain(Sequence &sequence);
  int replayChain(Sequence &sequence, int execution, int place, int depth);
  void tryMerge(Sequence &sequence);
  void note(const Sequence &sequence);
  void keep(const Sequence &sequence);
  void keep(const Schedule &schedule);

  const Problem &problem;
  int64_t budget;
  const AnnealOptions &options;
  SplitMix random{0};
  double least = 0, costScale = 0, bytesScale = 0, temperature = 0;
  double bestCost = 0, givenCost = 0;
  int64_t lowestPeak = 0;
  bool isOver = false;
  std::optional<Schedule> best;
  bool isNoted = false; // the sequence is better than `best`, which was not changed yet
  std::vector<std::pair<int, int>> chain; // replays and what they repeat
};

// Neither a hot start nor a cold one is better everywhere, nor one price of bytes; on large graphs
// one long run and a colder one after it are better than several. What was given where no run from
// the order fits is far from the least cost, and a high price keeps it from being lost.
void Annealer::runAll() {
  static constexpr Setting small[] = {
      {0.2, 1, 3, 0.8, 0.0005, Start::Order},   {0.1, 0.1, 1, 0.8, 0.0005, Start::Order},
      {0.3, 4, 4, 0.9, 0.0005, Start::Order},   {0.2, 10, 40, 0.8, 0.05, Start::Order},
      {0.2, 0.2, 20, 0.8, 0.02, Start::Best},   {0.2, 3, 300, 0.8, 0.05, Start::Given},
      {0.2, 10, 1000, 0.8, 0.05, Start::Given}, {0.5, 4, 15, 0.8, 0.05, Start::NothingFits}};
  size_t count = problem.operations.size();
  double few = 100 / static_cast<double>(count); // percent, of an operation
  const Setting large[] = {{0.15, 1, 20, 1, 0, Start::Order},
                           {0.8, 1, 5, 0.9, 0.0005, Start::Order},
                           {0.25, 1.5 * few, 5, 0.9, 0.0005, Start::Best},
                           {0.3, few, 5, 0.9, 0.0005, Start::Given},
                           {0.5, 4, 40, 0.9, 0.02, Start::NothingFits}};
  const Setting huge[] = {{1, few, 20, 0.9, 0.0005, Start::Best}};
  uint64_t seed = options.seed;
  auto runEach = [&](const auto &settings) {
    for (const Setting &setting : settings)
      anneal(setting, seed++);
  };
  if (count <= kLarge)
    runEach(small);
  else if (count <= kHuge)
    runEach(large);
  else
    runEach(huge);
}

void Annealer::anneal(const Setting &setting, uint64_t seed) {
  static constexpr double far = 3; // percent above what is enough
  bool isGiven =
      best && bestCost == givenCost && (bestCost - least - options.enough) * costScale > far;
  if (isDone() || (best && setting.start == Start::NothingFits) ||
      (!isGiven && setting.start == Start::Given))
    return;
  static constexpr double coldest = 2e-3;         // of the hottest
  static constexpr int windows = 128, rises = 77; // the price changes from the latter on
  random = SplitMix(seed);
  double price = setting.price;
  Sequence sequence(problem, budget,
                    best && setting.start != Start::Order ? *best : inOrder(problem));
  note(sequence);
  keep(sequence);
  int64_t window = std::max<int64_t>(
      1, std::llround(setting.share * static_cast<double>(options.moves) / windows));
  for (int i = 0; i < windows && !isDone(); ++i) {
    if ((isOver = options.isOver()))
      return;
    bytesScale = price / static_cast<double>(std::max<int64_t>(1, budget));
    bool fits = walk(sequence, setting, window, [&](double part) {
      return setting.hottest * std::pow(coldest, (i + part) / windows);
    });
    lowestPeak = std::min(lowestPeak, sequence.peak());
    if (i >= rises)
      price = fits ? std::max(setting.price, price * 0.97) : price * 1.1;
  }
}

/// Whether some schedule on the way fits.
template <typename Temperature>
bool Annealer::walk(Sequence &sequence, const Setting &setting, int64_t moves,
                    Temperature temperatureAt) {
  static constexpr int64_t steps = 256; // between changes of the temperature
  bool fits = false;
  for (int64_t move = 0; move < moves && !isDone(); ++move) {
    if (move % steps == 0)
      temperature = temperatureAt(static_cast<double>(move) / static_cast<double>(moves));
    double kind = random.unit();
    if (kind < setting.shifts)
      tryShift(sequence);
    else if (kind < setting.shifts + setting.chains)
      tryChain(sequence);
    else if (kind < (1 + setting.shifts + setting.chains) / 2)
      tryReplay(sequence);
    else
      tryMerge(sequence);
    note(sequence);
    fits |= sequence.excess() == 0;
  }
  keep(sequence);
  return fits;
}

/// It is copied before it gets worse: the better ones come in long rows.
void Annealer::note(const Sequence &sequence) {
  if (sequence.excess() > 0 || (hasBest() && sequence.cost() >= bestCost * (1 - 1e-12)))
    return;
  bestCost = sequence.cost();
  isNoted = true;
}

void Annealer::keep(const Sequence &sequence) {
  if (isNoted)
    best = sequence.schedule();
  isNoted = false;
}

void Annealer::keep(const Schedule &schedule) {
  Measure found = measure(problem, schedule);
  if (found.peak > budget)
    return;
  bestCost = found.cost;
  best = schedule;
}

void Annealer::tryShift(Sequence &sequence) {
  int execution = sequence.at(random.below(sequence.size())), place = sequence.placeOf(execution);
  uint64_t bits = random.next();
  bool isAhead = bits & 1;
  static constexpr int near = 8, far = 200;
  int slack = isAhead ? sequence.slackAhead(execution) : sequence.slackBack(execution);
  int reach = std::min(slack, bits & 2 ? near : far);
  if (reach <= 0)
    return;
  int way = 1 + random.below(reach), target = isAhead ? place + way : place - way;
  int64_t growth = sequence.weighShift(execution, target);
  if (!accepts(energyOf(0, growth)))
    return;
  if (growth > 0)
    keep(sequence);
  sequence.shift(execution, target);
}

/// Before one of its readers, which reads the replay with all that come later.
void Annealer::tryReplay(Sequence &sequence) {
  int execution = sequence.at(random.below(sequence.size()));
  int reader = sequence.readerOf(execution, random.next());
  if (reader < 0 || sequence.placeOf(reader) == sequence.placeOf(execution) + 1)
    return;
  int place = sequence.placeOf(reader);
  double cost = problem.operations[sequence.operationOf(execution)].cost;
  if (!accepts(energyOf(cost, sequence.weighReplay(execution, place))))
    return;
  keep(sequence);
  sequence.replay(execution, place);
}

/// Replays what the replay reads, too, where that is gone; returns the place behind.
int Annealer::replayChain(Sequence &sequence, int execution, int place, int depth) {
  static constexpr size_t most = 64; // as operations with many operands would make them endless
  for (int value : problem.operations[sequence.operationOf(execution)].operands) {
    int source = sequence.findLatest(problem.values[value].operation, place);
    if (depth > 0 && chain.size() < most && sequence.endOf(source) < place && random.below(4))
      place = replayChain(sequence, source, place, depth - 1);
  }
  chain.push_back({sequence.replay(execution, place), execution});
  return place + 1;
}

void Annealer::tryChain(Sequence &sequence) {
  int execution = sequence.at(random.below(sequence.size()));
  int reader = sequence.readerOf(execution, random.next());
  if (reader < 0 || sequence.placeOf(reader) == sequence.placeOf(execution) + 1)
    return;
  double cost = sequence.cost();
  int64_t excess = sequence.excess();
  keep(sequence);
  chain.clear();
  replayChain(sequence, execution, sequence.placeOf(reader), random.below(6));
  if (accepts(energyOf(sequence.cost() - cost, sequence.excess() - excess)))
    return;
  for (; !chain.empty(); chain.pop_back())
    sequence.merge(chain.back().first, chain.back().second);
}

/// Its readers read the execution before it instead.
void Annealer::tryMerge(Sequence &sequence) {
  int execution = sequence.at(random.below(sequence.size()));
  int operation = sequence.operationOf(execution);
  int heir = sequence.heirOf(execution);
  if (heir < 0)
    return;
  double cost = problem.operations[operation].cost;
  int64_t growth = sequence.weighMerge(execution, heir);
  if (!accepts(energyOf(-cost, growth)))
    return;
  if (growth > 0)
    keep(sequence);
  sequence.merge(execution, heir);
}

} // namespace

Annealed anneal(const Problem &problem, int64_t budget, const AnnealOptions &options) {
  return Annealer(problem, budget, options).run();
}

} // namespace reprise::remat
