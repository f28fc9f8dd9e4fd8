// reprise: cuts of a step into stages that minimize the slowest stage
#include "reprise/Planning/Stages/Balance.h"

#include <algorithm>
#include <limits>
#include <map>

namespace reprise::stages {

static constexpr double kNever = std::numeric_limits<double>::infinity();

/// Returns whether a range is too slow, so that longer ranges are too slow as well. Sums of a range
/// are rounded, so equal values may differ.
static bool isTooSlow(double least, double most) { return least * (1 - 1e-9) > most; }

namespace {

/// Splits of the first units into the first stages, one stage after the other.
class Table {
public:
  Table(int units, int stages, const Cost &cost, const Cost &floor)
      : units(units), stages(stages), cost(cost), floor(floor),
        froms(stages, std::vector<int>(units + 1, -1)) {}

  /// Combines the costs of earlier stages with a further stage: by the maximum or by the sum, over
  /// stages of at most `limit`. Returns the cost of all units.
  template <typename Combine> double fill(double limit, Combine combine) {
    std::vector<double> best(units + 1, kNever);
    best[0] = 0;
    for (int stage = 0; stage < stages; ++stage) {
      std::vector<double> next(units + 1, kNever);
      // Each later stage needs at least one unit.
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
  int units, stages;
  const Cost &cost, &floor;
  std::vector<std::vector<int>> froms; // beginning, by stage and end
};

} // namespace

/// Returns the slowest stage if each stage has as many units as fit a limit; kNever if units are
/// left.
static double fillGreedily(int units, int stages, const Cost &cost, const Cost &floor,
                           double limit) {
  double slowest = 0;
  int first = 0;
  for (int stage = 0; stage < stages; ++stage) {
    int end = first;
    double taken = kNever;
    for (int last = first + 1; last <= units - (stages - 1 - stage); ++last) {
      if (isTooSlow(floor(first, last, stage), limit))
        break;
      if (double own = cost(first, last, stage); own <= limit) {
        end = last;
        taken = own;
      }
    }
    slowest = std::max(slowest, taken);
    first = end;
  }
  return first == units ? slowest : kNever;
}

/// Returns the cost of a split that is found fast, so that the search for the best split can skip
/// slower ranges; kNever if none is found.
static double findBound(int units, int stages, const Cost &cost, const Cost &floor) {
  if (!floor)
    return kNever;
  double low = 0, high = 0, found = kNever;
  for (int stage = 0; stage < stages; ++stage)
    high = std::max(high, floor(0, units, stage));
  for (int i = 0; i < 30 && low < high; ++i) {
    double middle = (low + high) / 2;
    double slowest = fillGreedily(units, stages, cost, floor, middle);
    if (slowest == kNever)
      low = middle;
    else
      found = high = slowest;
  }
  return found;
}

std::optional<Split> balance(int units, int stages, const Cost &cost, const Cost &floor) {
  if (stages < 1 || units < stages)
    return std::nullopt;
  Table table(units, stages, cost, floor);
  Split split;
  double bound = findBound(units, stages, cost, floor);
  split.slowest = table.fill(std::min(bound, std::numeric_limits<double>::max()),
                             [](double before, double own) { return std::max(before, own); });
  if (split.slowest == kNever)
    return std::nullopt;
  split.total = table.fill(split.slowest, [](double before, double own) { return before + own; });
  split.begins = table.begins();
  return split;
}

static std::optional<Split> balance(const Problem &problem, const Loads &loads, double most) {
  auto count = [&](int first, int last, int stage) {
    Load load = loads.get(first, last, stage);
    return load.fullness > most ? kNever : load.seconds();
  };
  return balance(
      static_cast<int>(problem.units.size()), static_cast<int>(problem.devices.size()), count,
      [&](int first, int last, int stage) { return loads.getFloor(first, last, stage); });
}

std::optional<Split> balance(const Problem &problem) { return balance(problem, Loads(problem), 1); }

static double findFullest(const Loads &loads, const Problem &problem, const Split &split) {
  std::vector<int> ends = split.begins;
  ends.push_back(static_cast<int>(problem.units.size()));
  double fullest = 0;
  for (int stage = 0; stage + 1 < static_cast<int>(ends.size()); ++stage)
    fullest = std::max(fullest, loads.get(ends[stage], ends[stage + 1], stage).fullness);
  return fullest;
}

std::vector<Split> loosen(const Problem &problem) {
  Loads loads(problem);
  std::optional<Split> fastest = balance(problem, loads, kNever);
  std::optional<Split> spread = balance(
      static_cast<int>(problem.units.size()), static_cast<int>(problem.devices.size()),
      [&](int first, int last, int stage) { return loads.get(first, last, stage).fullness; });
  if (!fastest || !spread)
    return {};
  double most = (findFullest(loads, problem, *fastest) + spread->slowest) / 2;
  std::optional<Split> middle = balance(problem, loads, most);
  return {*fastest, middle ? *middle : *fastest, *spread};
}

void hideReplays(const std::vector<double> &replays, int64_t microbatches,
                 pipeline::Pipeline &pipeline) {
  pipeline.early.clear();
  for (double seconds : replays)
    pipeline.early.emplace_back(microbatches, seconds);
}

static double getTransferScale(const Problem &problem, int stage) {
  const Device &device = problem.devices[stage];
  return device.transfers * (device.rates < 0 ? 1 : problem.rates[device.rates].transfers);
}

pipeline::Pipeline makePipeline(const Problem &problem, const Split &split) {
  pipeline::Pipeline made;
  Loads loads(problem);
  int stages = static_cast<int>(split.begins.size());
  std::vector<int> stageOf(problem.units.size());
  for (int stage = 0; stage < stages; ++stage) {
    int first = split.begins[stage];
    int last = stage + 1 < stages ? split.begins[stage + 1] : static_cast<int>(stageOf.size());
    std::fill(stageOf.begin() + first, stageOf.begin() + last, stage);
    made.stages.push_back(loads.get(first, last, stage).stage);
  }
  std::map<std::pair<int, int>, pipeline::Transfer> transfers;
  for (const Value &value : problem.values) {
    int from = stageOf[value.unit], last = from;
    for (int reader : value.readers) {
      int to = stageOf[reader];
      if (to == last)
        continue;
      pipeline::Transfer &transfer = transfers[{from, to}];
      double scale = getTransferScale(problem, to);
      transfer.from = from;
      transfer.to = to;
      transfer.forward += scale * value.forward;
      transfer.backward += scale * value.backward;
      last = to;
    }
  }
  for (auto &[ends, transfer] : transfers)
    made.transfers.push_back(transfer);
  return made;
}

} // namespace reprise::stages
