// reprise: what any plan within a budget costs at least
#include "reprise/Planning/Checkpoint/Bound/Bound.h"

#include "Pricer.h"

#include <algorithm>
#include <optional>

using namespace reprise;
using namespace reprise::checkpoint;
using Label = Problem::Label;
using Operation = Problem::Operation;
using Value = Problem::Value;

namespace {

/// How values cross a launch.
enum class Crossing : uint8_t { No, Always, IfKept };

class Bounder {
public:
  Bounder(const Problem &problem, const Footprint &footprint, int64_t budget,
          IsOver isOver = nullptr, ReplayCut::Steps steps = ReplayCut::Steps::Once)
      : problem(problem), footprint(footprint), budget(budget), isOver(std::move(isOver)),
        steps(steps), least(findLeastCosts(problem, footprint)),
        ranges(findLiveRanges(problem, footprint)), isViewed(findViewed(problem, footprint)),
        isReadHere(problem.values.size()) {
    findReads();
    findProfiles();
  }

  Bound run(int launches);
  const std::vector<int64_t> &fixedBytes() const { return fixed; }
  std::vector<PricedPlan> takePlans() { return std::move(plans); }

private:
  /// A point of the trade-off: bytes kept across the launch, and seconds of replays.
  struct Point {
    double bytes = 0, seconds = 0;
  };

  void findReads();
  void findProfiles();
  /// Looks at a launch from now on.
  void goTo(int launch);
  Crossing crossingOf(int value, int launch) const;
  static constexpr int kMostPrices = 30;

  std::optional<Point> priceAt(int launch, double price, double second, PricedPlan &plan) const;
  Point readCut(int launch, const ReplayCut &cut, PricedPlan &plan) const;
  bool search(int launch, double room, Bound &bound);
  double findPrice(int launch, double room, Point dear, Point cheap, Bound &bound);
  void addCheapest(Bound &bound);

  const Problem &problem;
  const Footprint &footprint;
  int64_t budget;
  IsOver isOver;
  ReplayCut::Steps steps;
  LeastCosts least;
  std::vector<LiveRange> ranges;
  std::vector<bool> isViewed;
  std::vector<int64_t> pressure;          // per launch: bytes there if everything is kept
  std::vector<int64_t> fixed;             // per launch: bytes there whatever is chosen
  std::vector<std::pair<int, int>> reads; // from memory: launch and value
  std::vector<int> readHere;              // by the launch at hand
  std::vector<bool> isReadHere;
  std::vector<PricedPlan> plans; // the cheapest at a price, each
};

} // namespace

Crossing Bounder::crossingOf(int value, int launch) const {
  const LiveRange &range = ranges[value];
  int operation = problem.values[value].operation;
  if (footprint.launches[operation] == kNoLaunch || range.made >= launch)
    return Crossing::No;
  if (range.lastForward >= launch || !footprint.isStored[value] || isReadHere[value])
    return Crossing::Always;
  return range.lastBackward >= launch ? Crossing::IfKept : Crossing::No;
}

namespace {
/// Sums of bytes before each launch.
class Profile {
public:
  explicit Profile(int launches) : bytes(launches + 1) {}

  /// Before the launches after `made`, up to and with `last`.
  void add(int made, int last, int64_t amount) {
    last = std::min(last, static_cast<int>(bytes.size()) - 2);
    if (last <= made)
      return;
    bytes[made + 1] += amount;
    bytes[last + 1] -= amount;
  }
  std::vector<int64_t> sum() {
    for (size_t i = 1; i < bytes.size(); ++i)
      bytes[i] += bytes[i - 1];
    return std::move(bytes);
  }

private:
  std::vector<int64_t> bytes; // changes, until they are summed
};
} // namespace

/// Lists the values that each launch reads from memory: these are there when it runs, as an
/// original or a replay.
void Bounder::findReads() {
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    const Operation &op = problem.operations[i];
    if (footprint.launches[i] != kNoLaunch && usesMemory(op))
      for (int operand : op.operands)
        if (int root = findRoot(problem, footprint, operand); root >= 0)
          reads.push_back({footprint.launches[i], root});
  }
  std::sort(reads.begin(), reads.end());
  reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
}

void Bounder::findProfiles() {
  Profile all(footprint.numLaunches), always(footprint.numLaunches);
  for (const Neighbour &other : footprint.neighbours) {
    all.add(other.first, other.last, other.bytes);
    always.add(other.first, other.last, other.bytes);
  }
  for (size_t i = 0; i < problem.operations.size(); ++i)
    if (int launch = footprint.launches[i]; launch != kNoLaunch) {
      all.add(launch - 1, launch, footprint.scratchOf(i));
      always.add(launch - 1, launch, footprint.scratchOf(i));
    }
  for (size_t value = 0; value < problem.values.size(); ++value) {
    const Value &entry = problem.values[value];
    const LiveRange &range = ranges[value];
    int launch = footprint.launches[entry.operation];
    if (launch == kNoLaunch || !footprint.isStored[value])
      continue;
    all.add(range.made, std::max(range.lastForward, range.lastBackward), entry.bytes);
    always.add(range.made, range.lastForward, entry.bytes);
    // Other results than a contraction's may take the place of an operand.
    if (range.lastForward > launch && usesMemory(problem.operations[entry.operation]) &&
        !footprint.takesPlaces(problem, entry.operation)) {
      all.add(launch - 1, launch, entry.bytes);
      always.add(launch - 1, launch, entry.bytes);
    }
  }
  for (auto [launch, value] : reads)
    if (footprint.isStored[value] && ranges[value].made < launch &&
        ranges[value].lastForward < launch)
      always.add(launch - 1, launch, problem.values[value].bytes);
  pressure = all.sum();
  fixed = always.sum();
}

void Bounder::goTo(int launch) {
  for (int value : readHere)
    isReadHere[value] = false;
  readHere.clear();
  auto first = std::lower_bound(reads.begin(), reads.end(), std::make_pair(launch, 0));
  for (; first != reads.end() && first->first == launch; ++first) {
    readHere.push_back(first->second);
    isReadHere[first->second] = true;
  }
}

/// Returns the cheapest choice at a price per byte; none if the search is over.
std::optional<Bounder::Point> Bounder::priceAt(int launch, double price, double second,
                                               PricedPlan &plan) const {
  ReplayCut cut(problem, footprint, least);
  std::vector<bool> mayRun(problem.operations.size());
  std::vector<ReplayCut::Value> values(problem.values.size());
  for (size_t i = 0; i < problem.operations.size(); ++i)
    mayRun[i] = problem.operations[i].primal && footprint.launches[i] != kNoLaunch &&
                footprint.launches[i] < launch;
  for (size_t value = 0; value < values.size(); ++value) {
    const Problem::Value &entry = problem.values[value];
    Crossing crossing = crossingOf(static_cast<int>(value), launch);
    if (crossing == Crossing::Always || !mayRun[entry.operation])
      continue;
    bool isRead = crossing == Crossing::IfKept;
    values[value] = {isRead ? ReplayCut::Need::Always : ReplayCut::Need::IfRead,
                     price * static_cast<double>(entry.bytes), entry.label == Label::MustSave,
                     entry.label == Label::MustRecompute && !isViewed[value],
                     isRead && ranges[value].lastFromMemory >= launch};
  }
  cut.solve(mayRun, values, second, steps, isOver);
  if (cut.isEnded())
    return std::nullopt;
  return readCut(launch, cut, plan);
}

Bounder::Point Bounder::readCut(int launch, const ReplayCut &cut, PricedPlan &plan) const {
  plan.choices.assign(problem.values.size(), Choice::Replay);
  Point point;
  point.seconds = cut.findSeconds();
  for (size_t value = 0; value < problem.values.size(); ++value) {
    Crossing crossing = crossingOf(static_cast<int>(value), launch);
    bool isKept = cut.isKept(static_cast<int>(value));
    if (isKept)
      point.bytes += static_cast<double>(problem.values[value].bytes);
    // A value whose last reader runs before the launch does not cross it, so it is saved.
    bool isPast = crossing == Crossing::No && ranges[value].lastBackward >= 0;
    if (isKept || crossing == Crossing::Always || isPast || ranges[value].made >= launch)
      plan.choices[value] = Choice::Save;
  }
  return point;
}

/// The price at which the kept bytes pass the room: where the lines of the two plans around it
/// meet, until no plan lies below both. Returns seconds of all plans, at least.
double Bounder::findPrice(int launch, double room, Point dear, Point cheap, Bound &bound) {
  double best = cheap.seconds; // what MUSTs cost anyway
  for (int step = 0; step < kMostPrices && cheap.bytes > room; ++step) {
    if (cheap.bytes <= dear.bytes || dear.seconds <= cheap.seconds)
      break;
    double price = (dear.seconds - cheap.seconds) / (cheap.bytes - dear.bytes);
    PricedPlan plan;
    std::optional<Point> point = priceAt(launch, price, 1, plan);
    if ((bound.isTruncated = !point))
      break;
    double value = point->seconds + price * (point->bytes - room);
    best = std::max(best, value);
    plans.push_back(std::move(plan));
    double line = dear.seconds + price * (dear.bytes - room);
    if (value >= line * (1 - 1e-9))
      break;
    (point->bytes > room ? cheap : dear) = *point;
  }
  return best;
}

/// False if the search is over.
bool Bounder::search(int launch, double room, Bound &bound) {
  PricedPlan plan, cheapest;
  std::optional<Point> dear = priceAt(launch, 1, 0, plan);
  if ((bound.isTruncated = !dear))
    return false;
  plans.push_back(std::move(plan));
  if (dear->bytes > room) {
    auto missing = static_cast<int64_t>(dear->bytes - room);
    if (missing > bound.missing)
      bound.launch = launch;
    bound.missing = std::max(bound.missing, missing);
    bound.isFeasible = false;
    return true;
  }
  std::optional<Point> cheap = priceAt(launch, 0, 1, cheapest);
  if ((bound.isTruncated = !cheap))
    return false;
  double best = findPrice(launch, room, *dear, *cheap, bound);
  if (best > bound.seconds && bound.isFeasible)
    bound.launch = launch;
  bound.seconds = std::max(bound.seconds, best);
  return !bound.isTruncated;
}

/// Even with room for all, what is kept has its traffic.
void Bounder::addCheapest(Bound &bound) {
  Pricer pricer(problem, footprint, isOver);
  std::vector<double> prices(footprint.numLaunches);
  plans.push_back({pricer.choose(prices)});
  double seconds = pricer.isEnded() ? 0 : pricer.price(prices).seconds;
  if (!(bound.isTruncated = pricer.isEnded()))
    bound.seconds = std::max(bound.seconds, seconds);
}

Bound Bounder::run(int launches) {
  std::vector<int> order;
  Bound bound;
  for (int launch = 0; launch < footprint.numLaunches; ++launch) {
    if (pressure[launch] > budget)
      order.push_back(launch);
    if (fixed[launch] - budget > bound.missing) {
      bound.isFeasible = false;
      bound.launch = launch;
      bound.missing = fixed[launch] - budget;
    }
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::make_pair(-pressure[a], a) < std::make_pair(-pressure[b], b);
  });
  for (int launch : order) {
    if (launches-- == 0)
      break;
    goTo(launch);
    if (!search(launch, static_cast<double>(budget - fixed[launch]), bound))
      break;
  }
  if (footprint.byteSeconds > 0 && !bound.isTruncated)
    addCheapest(bound);
  return bound;
}

Bound reprise::checkpoint::findBound(const Problem &problem, const Footprint &footprint,
                                     int64_t budget, int launches, const IsOver &isOver) {
  return Bounder(problem, footprint, budget, isOver).run(launches);
}

std::vector<PricedPlan> reprise::checkpoint::findPricedPlans(const Problem &problem,
                                                             const Footprint &footprint,
                                                             int64_t budget, int launches,
                                                             const IsOver &isOver) {
  Bounder bounder(problem, footprint, budget, isOver, ReplayCut::Steps::SharedOut);
  bounder.run(launches);
  return bounder.takePlans();
}

std::vector<int64_t> reprise::checkpoint::findFixedBytes(const Problem &problem,
                                                         const Footprint &footprint) {
  return Bounder(problem, footprint, 0).fixedBytes();
}
