// reprise: the cut of a step into stages whose slowest one is as fast as can be
#include "reprise/Planning/Stages/Balance.h"

#include <algorithm>
#include <limits>
#include <map>

namespace reprise::stages {

static constexpr double kNever = std::numeric_limits<double>::infinity();

namespace {

/// Splits of the first units into the first stages, one stage after the other.
class Table {
public:
  Table(int units, int stages, const Cost &cost, const Cost &floor)
      : units(units), stages(stages), cost(cost), floor(floor),
        froms(stages, std::vector<int>(units + 1, -1)) {}

  /// Combines what the stages before take with one stage more: by the larger or by the sum, of
  /// stages that take at most `limit`. Returns what all units take.
  template <typename Combine> double fill(double limit, Combine combine) {
    std::vector<double> best(units + 1, kNever);
    best[0] = 0;
    for (int stage = 0; stage < stages; ++stage) {
      std::vector<double> next(units + 1, kNever);
      // As many units as stages are left for those behind.
      for (int last = stage + 1; last <= units - (stages - 1 - stage); ++last)
        for (int first = last - 1; first >= stage; --first) {
          if (floor && isTooSlow(floor(first, last, stage), std::min(limit, next[last])))
            break;
          if (best[first] == kNever)
            continue;
          double own = cost(first, last, stage);
          double all = own <= limit ? combine(best[first], own) : kNever;
          if (all < next[last]) {
            next[last] = all;
            froms[stage][last] = first;
          }
        }
      best = std::move(next);
    }
    return best[units];
  }

  std::vector<int> begins() const {
    std::vector<int> list(stages);
    int end = units;
    for (int stage = stages; stage-- > 0; end = list[stage])
      list[stage] = froms[stage][end];
    return list;
  }

private:
  /// A longer range would be slower yet. Sums of a range are rounded, so equal ones may differ.
  static bool isTooSlow(double least, double most) { return least * (1 - 1e-9) > most; }

  int units, stages;
  const Cost &cost, &floor;
  std::vector<std::vector<int>> froms; // by stage and end: its beginning
};

} // namespace

std::optional<Split> balance(int units, int stages, const Cost &cost, const Cost &floor) {
  if (stages < 1 || units < stages)
    return std::nullopt;
  Table table(units, stages, cost, floor);
  Split split;
  split.slowest = table.fill(std::numeric_limits<double>::max(),
                             [](double before, double own) { return std::max(before, own); });
  if (split.slowest == kNever)
    return std::nullopt;
  split.total = table.fill(split.slowest, [](double before, double own) { return before + own; });
  split.begins = table.begins();
  return split;
}

static pipeline::Stage add(pipeline::Stage sum, const pipeline::Stage &unit) {
  sum.forward += unit.forward;
  sum.backward += unit.backward;
  sum.weight += unit.weight;
  sum.saved += unit.saved;
  sum.savedForWeight += unit.savedForWeight;
  sum.madeForWeight += unit.madeForWeight;
  sum.working = std::max(sum.working, unit.working);
  sum.resident += unit.resident;
  return sum;
}

namespace {

/// Costs of all ranges of units, as one device of speed 1 without other stages would see them.
class Ranges {
public:
  explicit Ranges(const Problem &problem) : problem(problem), size(problem.units.size() + 1) {
    sums.resize(size);
    for (size_t unit = 0; unit + 1 < size; ++unit)
      sums[unit + 1] = add(sums[unit], problem.units[unit]);
    incoming.resize(size * size);
    for (const Value &value : problem.values)
      addIncoming(value);
    for (size_t first = 0; first < size; ++first)
      for (size_t last = first + 1; last < size; ++last)
        incoming[first * size + last] += incoming[first * size + last - 1];
    findWorking();
  }

  double getSeconds(int first, int last, int stage) const {
    pipeline::Stage own = sum(first, last);
    return (own.forward + own.backward + own.weight) / problem.devices[stage].speed;
  }

  double getCost(int first, int last, int stage) const {
    const Device &device = problem.devices[stage];
    pipeline::Stage own = sum(first, last);
    int64_t slot = own.saved + own.savedForWeight + own.madeForWeight;
    int64_t slots = problem.slots.empty() ? 1 : problem.slots[stage];
    int64_t rest = device.memory - own.resident - working[first * size + last];
    if (rest < 0 || (slot > 0 && slots > rest / slot))
      return kNever;
    return (own.forward + own.backward + own.weight) / device.speed + incoming[first * size + last];
  }

  pipeline::Stage sum(int first, int last) const {
    pipeline::Stage own = sums[last];
    const pipeline::Stage &before = sums[first];
    own.forward -= before.forward;
    own.backward -= before.backward;
    own.weight -= before.weight;
    own.saved -= before.saved;
    own.savedForWeight -= before.savedForWeight;
    own.madeForWeight -= before.madeForWeight;
    own.resident -= before.resident;
    own.working = working[first * size + last];
    return own;
  }

private:
  /// A range that begins behind the maker receives the value once, for its first reader.
  void addIncoming(const Value &value) {
    int before = value.unit + 1;
    for (int reader : value.readers)
      for (; before <= reader; ++before)
        incoming[before * size + reader + 1] += value.forward + value.backward;
  }

  void findWorking() {
    working.resize(size * size);
    for (size_t first = 0; first < size; ++first)
      for (size_t last = first + 1; last < size; ++last)
        working[first * size + last] =
            std::max(working[first * size + last - 1], problem.units[last - 1].working);
  }

  const Problem &problem;
  size_t size;
  std::vector<pipeline::Stage> sums;
  std::vector<double> incoming; // by first and last
  std::vector<int64_t> working; // by first and last
};

} // namespace

std::optional<Split> balance(const Problem &problem) {
  Ranges ranges(problem);
  return balance(
      static_cast<int>(problem.units.size()), static_cast<int>(problem.devices.size()),
      [&](int first, int last, int stage) { return ranges.getCost(first, last, stage); },
      [&](int first, int last, int stage) { return ranges.getSeconds(first, last, stage); });
}

pipeline::Pipeline makePipeline(const Problem &problem, const Split &split) {
  pipeline::Pipeline made;
  int stages = static_cast<int>(split.begins.size());
  std::vector<int> stageOf(problem.units.size());
  for (int stage = 0; stage < stages; ++stage) {
    int first = split.begins[stage];
    int last = stage + 1 < stages ? split.begins[stage + 1] : static_cast<int>(stageOf.size());
    std::fill(stageOf.begin() + first, stageOf.begin() + last, stage);
    pipeline::Stage own;
    for (int unit = first; unit < last; ++unit)
      own = add(own, problem.units[unit]);
    for (double *seconds : {&own.forward, &own.backward, &own.weight})
      *seconds /= problem.devices[stage].speed;
    made.stages.push_back(own);
  }
  std::map<std::pair<int, int>, pipeline::Transfer> transfers;
  for (const Value &value : problem.values) {
    int from = stageOf[value.unit], last = from;
    for (int reader : value.readers) {
      int to = stageOf[reader];
      if (to == last)
        continue;
      pipeline::Transfer &transfer = transfers[{from, to}];
      transfer.from = from;
      transfer.to = to;
      transfer.forward += value.forward;
      transfer.backward += value.backward;
      last = to;
    }
  }
  for (auto &[ends, transfer] : transfers)
    made.transfers.push_back(transfer);
  return made;
}

} // namespace reprise::stages
