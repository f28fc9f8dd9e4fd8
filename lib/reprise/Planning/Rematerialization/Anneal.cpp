// reprise: annealing over order and replays together (after FastSA, Imanishi et al., NeurIPS 2023)
#include "reprise/Planning/Rematerialization/Anneal.h"

#include "Sequence.h"
#include "reprise/Support/SplitMix.h"
#include <algorithm>
#include <cmath>

namespace reprise::remat {

namespace {

class Random : public SplitMix {
public:
  using SplitMix::SplitMix;
  int below(size_t count) { return static_cast<int>(next() % count); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
};

/// How a run begins. The energy is the cost in percent, and the bytes beyond the budget in shares
/// of it at this price.
struct Setting {
  double hottest, price;
  bool adapts; ///< the price doubles as long as nothing fits
};

class Annealer {
public:
  Annealer(const Problem &problem, int64_t budget, const AnnealOptions &options)
      : problem(problem), budget(budget), options(options) {
    for (const Operation &op : problem.operations)
      least += op.cost;
  }

  std::optional<Schedule> run() {
    // Neither a hot start nor a cold one is better everywhere, nor a fixed price of bytes.
    static constexpr Setting settings[] = {
        {2, 20, false}, {2, 20, true}, {0.5, 20, true}, {2, 5, true}};
    // Luck decides more than length, but not all.
    static constexpr int64_t shares[] = {16, 16, 16, 16, 8, 8, 4, 4};
    for (size_t i = 0; i < std::size(shares) && !isDone(); ++i)
      anneal(settings[i % std::size(settings)], options.moves / shares[i], options.seed + i);
    return best;
  }

private:
  /// Of a run: after each the price of bytes is looked at.
  static constexpr int64_t kWindows = 32;

  bool isDone() const { return best && bestCost <= (least + options.enough) * (1 + 1e-12); }
  double energy(const Sequence &sequence) const {
    double cost = least > 0 ? 100 * sequence.cost() / least : 0;
    return cost + price * static_cast<double>(sequence.excess()) /
                      static_cast<double>(std::max<int64_t>(1, budget));
  }
  bool accepts(Sequence &sequence) {
    double now = energy(sequence);
    if (now > current && random.unit() >= std::exp((current - now) / temperature))
      return false;
    current = now;
    return true;
  }

  void anneal(const Setting &setting, int64_t moves, uint64_t seed);
  void tryShift(Sequence &sequence);
  void tryReplay(Sequence &sequence);
  void tryMerge(Sequence &sequence);
  void keep(const Sequence &sequence);

  const Problem &problem;
  int64_t budget;
  const AnnealOptions &options;
  Random random{0};
  double least = 0, price = 0, temperature = 0, current = 0;
  double bestCost = 0;
  std::optional<Schedule> best;
};

void Annealer::anneal(const Setting &setting, int64_t moves, uint64_t seed) {
  static constexpr double coldest = 1e-3; // of the hottest
  random = Random(seed);
  price = setting.price;
  Sequence sequence(problem, budget);
  current = energy(sequence);
  keep(sequence);
  bool everFit = false;
  int64_t window = std::max<int64_t>(1, moves / kWindows);
  for (int64_t move = 0; move < moves && !isDone(); ++move) {
    double passed = static_cast<double>(move) / static_cast<double>(moves);
    temperature = setting.hottest * std::pow(coldest, passed);
    int kind = random.below(10);
    if (kind < 8)
      tryShift(sequence);
    else if (kind == 8)
      tryReplay(sequence);
    else
      tryMerge(sequence);
    keep(sequence);
    everFit |= sequence.excess() == 0;
    if ((move + 1) % window != 0)
      continue;
    // What replays cost beside bytes depends on the graph: bytes become dearer until it fits.
    if (!everFit && setting.adapts)
      price *= 2;
    everFit = false;
    current = energy(sequence);
  }
}

void Annealer::keep(const Sequence &sequence) {
  if (sequence.excess() > 0 || (best && sequence.cost() >= bestCost * (1 - 1e-12)))
    return;
  bestCost = sequence.cost();
  best = sequence.schedule();
}

void Annealer::tryShift(Sequence &sequence) {
  int execution = sequence.at(random.below(sequence.size()));
  int place = sequence.placeOf(execution), reach = random.below(2) ? 8 : 200;
  auto [first, last] = sequence.slackOf(execution);
  first = std::max(first, place - reach);
  last = std::min(last, place + reach);
  int target = first >= last ? place : first + random.below(last - first + 1);
  if (target == place)
    return;
  sequence.shift(execution, target);
  if (!accepts(sequence))
    sequence.shift(execution, place);
}

/// Before one of its readers, which reads the replay with all that come later.
void Annealer::tryReplay(Sequence &sequence) {
  int execution = sequence.at(random.below(sequence.size()));
  std::vector<int> readers = sequence.readersOf(execution);
  if (readers.empty())
    return;
  int place = sequence.placeOf(readers[random.below(readers.size())]);
  if (place == sequence.placeOf(execution) + 1)
    return;
  dropRepeats(readers);
  readers.erase(std::remove_if(readers.begin(), readers.end(),
                               [&](int reader) { return sequence.placeOf(reader) < place; }),
                readers.end());
  std::vector<int> sources;
  for (int value : problem.operations[sequence.operationOf(execution)].operands)
    sources.push_back(sequence.findLatest(problem.values[value].operation, place));
  int made = sequence.insert(execution, place, sources, readers);
  if (!accepts(sequence))
    sequence.remove(made, execution);
}

/// Its readers read the execution before it instead.
void Annealer::tryMerge(Sequence &sequence) {
  int execution = sequence.at(random.below(sequence.size()));
  int operation = sequence.operationOf(execution), place = sequence.placeOf(execution);
  int heir = sequence.findLatest(operation, place);
  if (heir < 0)
    return;
  std::vector<int> sources = sequence.sourcesOf(execution);
  std::vector<int> readers = sequence.readersOf(execution);
  dropRepeats(readers);
  sequence.remove(execution, heir);
  if (!accepts(sequence))
    sequence.insert(heir, place, sources, readers);
}

} // namespace

std::optional<Schedule> anneal(const Problem &problem, int64_t budget,
                               const AnnealOptions &options) {
  return Annealer(problem, budget, options).run();
}

} // namespace reprise::remat
