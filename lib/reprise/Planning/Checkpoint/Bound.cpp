// reprise: what any plan within a budget costs at least
#include "reprise/Planning/Checkpoint/Bound.h"

#include "Lives.h"

#include <algorithm>

using namespace reprise;
using namespace reprise::checkpoint;

namespace {

/// How values cross a launch.
enum class Crossing : uint8_t { No, Always, IfKept };

class Bounder {
public:
  Bounder(const Problem &problem, const Footprint &footprint, int64_t budget)
      : problem(problem), footprint(footprint), budget(budget),
        lives(findLives(problem, footprint)), isViewed(problem.values.size()) {
    findPressure();
    for (size_t i = 0; i < problem.operations.size(); ++i)
      for (int operand : problem.operations[i].operands)
        if (operand != kAvailable && problem.operations[i].primal &&
            footprint.launches[i] == kNoLaunch)
          isViewed[operand] = true;
  }

  Bound run(int launches);

private:
  /// One point of the trade: bytes kept across the launch, and seconds of replays.
  struct Point {
    double bytes = 0, seconds = 0;
  };

  void findPressure();
  Crossing crossingOf(int value, int launch) const;
  int64_t countFixed(int launch) const;
  static constexpr int kMostPrices = 30;

  Point priceAt(int launch, double price, double second, PricedPlan &plan) const;
  Point readCut(int launch, const MinCut &cut, const std::vector<int> &needed,
                const std::vector<int> &again, PricedPlan &plan) const;
  void search(int launch, double room, Bound &bound) const;
  void findReadsAt(int launch);

  const Problem &problem;
  const Footprint &footprint;
  int64_t budget;
  std::vector<Life> lives;
  std::vector<bool> isViewed; // per value: by a view that may keep its buffer, whatever its label
  std::vector<int64_t> pressure; // per launch: bytes before it if everything is kept
  std::vector<bool> isReadHere;  // per value: from memory, by the launch at hand
  std::vector<int64_t> written;  // per launch: bytes of its results that lie beside its operands
};

} // namespace

Crossing Bounder::crossingOf(int value, int launch) const {
  const Life &life = lives[value];
  int operation = problem.values[value].operation;
  if (footprint.launches[operation] == kNoLaunch || life.made >= launch)
    return Crossing::No;
  if (life.lastForward >= launch || !footprint.isStored[value] || isReadHere[value])
    return Crossing::Always;
  return life.lastBackward >= launch ? Crossing::IfKept : Crossing::No;
}

void Bounder::findPressure() {
  pressure.assign(footprint.numLaunches + 1, 0);
  auto add = [&](int made, int last, int64_t bytes) {
    // Before the launches after `made`, up to and with `last`.
    last = std::min(last, footprint.numLaunches - 1);
    if (last <= made)
      return;
    pressure[made + 1] += bytes;
    pressure[last + 1] -= bytes;
  };
  for (size_t value = 0; value < problem.values.size(); ++value)
    if (footprint.launches[problem.values[value].operation] != kNoLaunch &&
        footprint.isStored[value])
      add(lives[value].made, std::max(lives[value].lastForward, lives[value].lastBackward),
          problem.values[value].bytes);
  for (const Neighbour &other : footprint.neighbours)
    add(other.first, other.last, other.bytes);
  // Other results may take the place of an operand.
  written.assign(footprint.numLaunches, 0);
  for (size_t value = 0; value < problem.values.size(); ++value) {
    int operation = problem.values[value].operation, launch = footprint.launches[operation];
    Kind kind = problem.operations[operation].kind;
    if (launch != kNoLaunch && footprint.isStored[value] && lives[value].lastForward > launch &&
        (kind == Kind::Contraction || kind == Kind::Other))
      written[launch] += problem.values[value].bytes;
  }
  for (size_t i = 1; i < pressure.size(); ++i)
    pressure[i] += pressure[i - 1];
}

/// What a launch reads from memory is there when it runs, original or replay.
void Bounder::findReadsAt(int launch) {
  isReadHere.assign(problem.values.size(), false);
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    const Operation &op = problem.operations[i];
    bool fromMemory = op.kind == Kind::Contraction || op.kind == Kind::Other;
    if (footprint.launches[i] != launch || !fromMemory)
      continue;
    for (int operand : op.operands)
      if (int root = findRoot(problem, footprint, operand); root >= 0)
        isReadHere[root] = true;
  }
}

/// Bytes before the launch, and of its own results, that are there whatever is chosen.
int64_t Bounder::countFixed(int launch) const {
  int64_t bytes = written[launch];
  for (size_t value = 0; value < problem.values.size(); ++value)
    if (footprint.isStored[value] &&
        crossingOf(static_cast<int>(value), launch) == Crossing::Always)
      bytes += problem.values[value].bytes;
  for (const Neighbour &other : footprint.neighbours)
    if (other.first < launch && other.last >= launch)
      bytes += other.bytes;
  return bytes;
}

/// The cheapest choice at a price per byte. On the source's side of the cut are values that are
/// needed and operations that run again; an edge from a value to its operation is cut where the
/// value is kept.
Bounder::Point Bounder::priceAt(int launch, double price, double second, PricedPlan &plan) const {
  MinCut cut;
  int source = cut.addNode(), sink = cut.addNode();
  // Per value and per operation, -1 for those that have no say.
  std::vector<int> needed(problem.values.size(), -1), again(problem.operations.size(), -1);
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    const Operation &op = problem.operations[i];
    if (!op.primal || footprint.launches[i] == kNoLaunch || footprint.launches[i] >= launch)
      continue;
    again[i] = cut.addNode();
    cut.addEdge(again[i], sink, second * footprint.seconds[i]);
    for (int operand : op.operands)
      if (int root = findRoot(problem, footprint, operand); root >= 0 && needed[root] >= 0)
        cut.addEdge(again[i], needed[root], MinCut::kNever);
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value) {
      Crossing crossing = crossingOf(value, launch);
      if (crossing == Crossing::Always)
        continue;
      if (crossing == Crossing::No)
        needed[value] = cut.addNode();
      int from = crossing == Crossing::No ? needed[value] : source;
      Wish wish = problem.values[value].wish;
      bool isNeverKept = wish == Wish::MustRecompute && !isViewed[value];
      double kept = price * static_cast<double>(problem.values[value].bytes);
      cut.addEdge(from, wish == Wish::MustSave ? sink : again[i],
                  isNeverKept ? MinCut::kNever : kept);
    }
  }
  cut.solve(source, sink);
  return readCut(launch, cut, needed, again, plan);
}

Bounder::Point Bounder::readCut(int launch, const MinCut &cut, const std::vector<int> &needed,
                                const std::vector<int> &again, PricedPlan &plan) const {
  plan.choices.assign(problem.values.size(), Choice::Replay);
  Point point;
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    const Operation &op = problem.operations[i];
    bool isReplayed = again[i] >= 0 && cut.isOnSourceSide(again[i]);
    if (isReplayed)
      point.seconds += footprint.seconds[i];
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value) {
      Crossing crossing = crossingOf(value, launch);
      bool isNeeded =
          needed[value] >= 0 ? cut.isOnSourceSide(needed[value]) : crossing == Crossing::IfKept;
      bool isKept = isNeeded && (!isReplayed || problem.values[value].wish == Wish::MustSave);
      if (isKept)
        point.bytes += static_cast<double>(problem.values[value].bytes);
      // What is read before the launch only is no matter of this launch.
      bool isPast = crossing == Crossing::No && lives[value].lastBackward >= 0;
      if (isKept || crossing == Crossing::Always || isPast || lives[value].made >= launch)
        plan.choices[value] = Choice::Save;
    }
  }
  return point;
}

/// The price at which the kept bytes pass the room: where the lines of the two plans around it
/// meet, until no plan lies below both.
void Bounder::search(int launch, double room, Bound &bound) const {
  PricedPlan plan;
  Point dear = priceAt(launch, 1, 0, plan);
  bound.plans.push_back(plan);
  if (dear.bytes > room) {
    bound.isFeasible = false;
    bound.launch = launch;
    bound.missing = static_cast<int64_t>(dear.bytes - room);
    return;
  }
  Point cheap = priceAt(launch, 0, 1, plan);
  double best = cheap.seconds; // what MUSTs cost anyway
  for (int step = 0; step < kMostPrices && cheap.bytes > room; ++step) {
    if (cheap.bytes <= dear.bytes || dear.seconds <= cheap.seconds)
      break;
    double price = (dear.seconds - cheap.seconds) / (cheap.bytes - dear.bytes);
    Point point = priceAt(launch, price, 1, plan);
    double value = point.seconds + price * (point.bytes - room);
    best = std::max(best, value);
    bound.plans.push_back(plan);
    double line = dear.seconds + price * (dear.bytes - room);
    if (value >= line * (1 - 1e-9))
      break;
    (point.bytes > room ? cheap : dear) = point;
  }
  if (best > bound.seconds) {
    bound.seconds = best;
    bound.launch = launch;
  }
}

Bound Bounder::run(int launches) {
  std::vector<int> order;
  for (int launch = 0; launch < footprint.numLaunches; ++launch)
    if (pressure[launch] + written[launch] > budget)
      order.push_back(launch);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    int64_t first = pressure[a] + written[a], second = pressure[b] + written[b];
    return first == second ? a < b : first > second;
  });
  Bound bound;
  for (int launch : order) {
    if (launches-- == 0 || !bound.isFeasible)
      break;
    findReadsAt(launch);
    search(launch, static_cast<double>(budget - countFixed(launch)), bound);
  }
  return bound;
}

Bound reprise::checkpoint::findBound(const Problem &problem, const Footprint &footprint,
                                     int64_t budget, int launches) {
  return Bounder(problem, footprint, budget).run(launches);
}
