// reprise: tests of the split into stages, against all splits of small steps
#include "reprise/Planning/Stages/Balance.h"

#include "reprise/Support/SplitMix.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <numeric>
#include <tuple>

using namespace reprise;
using namespace reprise::stages;

namespace {

/// Returns the seconds of the slowest stage and of all stages, counted value by value; none if a
/// stage does not fit.
std::optional<std::pair<double, double>> count(const Problem &problem,
                                               const std::vector<int> &begins) {
  double slowest = 0, total = 0;
  for (size_t stage = 0; stage < begins.size(); ++stage) {
    int first = begins[stage];
    int last =
        static_cast<int>(stage + 1 < begins.size() ? begins[stage + 1] : problem.units.size());
    const Device &device = problem.devices[stage];
    double seconds = 0;
    int64_t working = 0, closing = 0, held = 0, slot = 0;
    for (int unit = first; unit < last; ++unit) {
      const pipeline::Stage &own = problem.units[unit];
      seconds += (own.forward + own.backward + own.weight) / device.speed;
      held += own.resident;
      slot += own.saved + own.savedForWeight + own.madeForWeight;
      working = std::max(working, own.working);
      closing = std::max(closing, own.closing);
    }
    held += (problem.slots[stage] - 1) * slot;
    if (held + std::max(slot + working, closing) > device.memory)
      return std::nullopt;
    for (const Value &value : problem.values)
      if (value.unit < first)
        for (int reader : value.readers)
          if (reader >= first && reader < last) {
            seconds += value.forward + value.backward;
            break;
          }
    slowest = std::max(slowest, seconds);
    total += seconds;
  }
  return std::pair(slowest, total);
}

void forEachSplit(int units, int stages, std::vector<int> begins,
                  const std::function<void(const std::vector<int> &)> &visit) {
  if (static_cast<int>(begins.size()) == stages)
    return visit(begins);
  for (int next = begins.back() + 1; next < units; ++next) {
    begins.push_back(next);
    forEachSplit(units, stages, begins, visit);
    begins.pop_back();
  }
}

/// Integers, so that sums have no rounding.
Problem makeRandom(SplitMix &random, int units, int stages) {
  Problem problem;
  for (int unit = 0; unit < units; ++unit) {
    pipeline::Stage own;
    own.forward = random.below(20);
    own.backward = random.below(20);
    own.weight = random.below(20);
    own.saved = random.below(10);
    own.savedForWeight = random.below(10);
    own.working = random.below(30);
    own.closing = random.below(50);
    own.resident = random.below(30);
    problem.units.push_back(own);
    Value value{
        unit, {}, static_cast<double>(random.below(8)), static_cast<double>(random.below(8))};
    for (int reader = unit + 1; reader < units; ++reader)
      if (reader == unit + 1 || random.below(5) == 0)
        value.readers.push_back(reader);
    problem.values.push_back(value);
  }
  for (int stage = 0; stage < stages; ++stage) {
    problem.devices.push_back({random.below(2) ? 1.0 : 2.0, 40 + random.below(400)});
    problem.slots.push_back(1 + random.below(stages));
  }
  return problem;
}

} // namespace

TEST(Balance, IsTheBestOfAllSplits) {
  SplitMix random(5);
  int split = 0;
  for (int round = 0; round < 1000; ++round) {
    int units = 1 + random.below(9), stages = 1 + random.below(units);
    Problem problem = makeRandom(random, units, stages);
    std::optional<std::pair<double, double>> best;
    forEachSplit(units, stages, {0}, [&](const std::vector<int> &begins) {
      auto counted = count(problem, begins);
      if (counted && (!best || *counted < *best))
        best = counted;
    });
    std::optional<Split> found = balance(problem);
    ASSERT_EQ(found.has_value(), best.has_value()) << "round " << round;
    if (!found)
      continue;
    EXPECT_EQ(std::pair(found->slowest, found->total), *best) << "round " << round;
    EXPECT_EQ(count(problem, found->begins), best) << "round " << round;
    ++split;
  }
  EXPECT_GT(split, 600);
}

TEST(Balance, NeedsAUnitPerStage) {
  SplitMix random(1);
  EXPECT_FALSE(balance(makeRandom(random, 2, 3)));
  EXPECT_FALSE(balance(0, 1, [](int, int, int) { return 1.0; }));
}

/// Equal layers are balanced. torchgpipe's block partition gives the last of eight devices nine of
/// thirty equal layers.
TEST(Balance, OfEqualLayers) {
  auto found = balance(30, 8, [](int first, int last, int) { return double(last - first); });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->slowest, 4);
}

/// A skip is sent from its producer to its reader, once; the stages between do not see it.
TEST(Balance, TransfersGoStraight) {
  Problem problem;
  problem.units.resize(4);
  for (pipeline::Stage &unit : problem.units)
    unit.forward = 1;
  problem.values = {{0, {1, 3}, 2, 3}, {1, {2}, 1, 1}, {2, {3}, 1, 1}, {0, {3}, 10, 20}};
  problem.devices.resize(4);
  problem.slots.assign(4, 1);
  pipeline::Pipeline made = makePipeline(problem, {{0, 1, 2, 3}});
  ASSERT_EQ(made.transfers.size(), 4u);
  EXPECT_EQ(std::pair(made.transfers[0].from, made.transfers[0].to), std::pair(0, 1));
  EXPECT_EQ(std::pair(made.transfers[1].from, made.transfers[1].to), std::pair(0, 3));
  EXPECT_EQ(made.transfers[1].forward, 12);
  EXPECT_EQ(made.transfers[1].backward, 23);
  EXPECT_EQ(made.stages.size(), 4u);
}

namespace {

/// Returns the smallest seconds that free `bytes` bytes of units first to last - 1, the last one in
/// part.
double countReplays(const Problem &problem, int first, int last, double bytes) {
  std::vector<Replay> own;
  for (const Replay &replay : problem.replays)
    if (replay.unit >= first && replay.unit < last)
      own.push_back(replay);
  std::sort(own.begin(), own.end(), [](const Replay &a, const Replay &b) {
    return a.seconds / double(a.bytes) < b.seconds / double(b.bytes);
  });
  double seconds = 0;
  for (const Replay &replay : own) {
    double taken = std::min(bytes, double(replay.bytes));
    seconds += replay.seconds * taken / double(replay.bytes);
    bytes -= taken;
  }
  return bytes > 0 ? INFINITY : seconds;
}

/// Checks that splits that fit nowhere get slower, and less full.
void expectLooser(const Problem &problem) {
  Loads loads(problem);
  double full = INFINITY, slow = 0;
  std::vector<Split> splits = loosen(problem);
  EXPECT_EQ(splits.size(), 3u);
  for (const Split &split : splits) {
    double fullest = 0, slowest = 0;
    for (size_t stage = 0; stage < split.begins.size(); ++stage) {
      int last =
          int(stage + 1 < split.begins.size() ? split.begins[stage + 1] : problem.units.size());
      Load load = loads.get(split.begins[stage], last, int(stage));
      fullest = std::max(fullest, load.fullness);
      slowest = std::max(slowest, load.seconds());
    }
    EXPECT_GT(fullest, 1);
    EXPECT_LE(fullest, full);
    EXPECT_GE(slowest, slow);
    full = fullest;
    slow = slowest;
  }
}

} // namespace

/// A stage behind the stage of a tied weight holds a copy and a gradient, once for all its units.
/// The weight's stage holds the returned gradient, if there is one.
TEST(Balance, TiedWeightsAreHeld) {
  Problem problem;
  problem.units.resize(4);
  problem.tied = {{0, {2, 3}, 25}};
  problem.devices.resize(1);
  problem.devices[0].arena = 100;
  problem.slots = {1};
  Loads loads(problem);
  EXPECT_EQ(loads.get(0, 4, 0).fullness, 0);
  EXPECT_EQ(loads.get(0, 1, 0).fullness, 0.5);
  EXPECT_EQ(loads.get(0, 3, 0).fullness, 0.5);
  EXPECT_EQ(loads.get(1, 2, 0).fullness, 0);
  EXPECT_EQ(loads.get(1, 4, 0).fullness, 0.5);
  EXPECT_EQ(loads.get(3, 4, 0).fullness, 0.5);
}

/// A stage replays values that its device cannot hold for all micro-batches in flight, at the rates
/// of the device.
TEST(Balance, StagesReplayWhatDoesNotFit) {
  SplitMix random(9);
  int replayed = 0, refused = 0;
  for (int round = 0; round < 300; ++round) {
    int units = 2 + random.below(6), stages = 1 + random.below(units);
    Problem problem;
    problem.rates.resize(1);
    for (int unit = 0; unit < units; ++unit) {
      pipeline::Stage own;
      own.forward = 1 + random.below(9);
      own.saved = 4 + random.below(20);
      own.resident = random.below(10);
      problem.units.push_back(own);
      problem.outside.push_back(own.resident);
      problem.rates[0].units.push_back({3 * own.forward});
      problem.replays.push_back({unit, 1 + random.below(2), double(1 + random.below(5))});
      problem.replays.push_back({unit, own.saved - 3, double(1 + random.below(5))});
    }
    for (int stage = 0; stage < stages; ++stage) {
      Device device;
      device.memory = 20 + random.below(100);
      device.arena = 10 + random.below(60);
      device.rates = random.below(2) - 1;
      problem.devices.push_back(device);
      problem.slots.push_back(1 + random.below(3));
    }
    auto count = [&](int first, int last, int stage) {
      double seconds = 0, saved = 0, outside = 0;
      for (int unit = first; unit < last; ++unit) {
        seconds += problem.units[unit].forward;
        saved += double(problem.units[unit].saved);
        outside += double(problem.units[unit].resident);
      }
      const Device &device = problem.devices[stage];
      double room = std::min(double(device.arena), double(device.memory) - outside);
      // Whole bytes of a micro-batch.
      double most = std::floor(std::max(room, 0.0) / double(problem.slots[stage]));
      if (room < 0)
        return double(INFINITY);
      double again = saved > most ? countReplays(problem, first, last, saved - most) : 0;
      return (device.rates < 0 ? 1 : 3) * (seconds + again);
    };
    std::optional<Split> best = balance(units, stages, count), found = balance(problem);
    ASSERT_EQ(found.has_value(), best.has_value()) << "round " << round;
    if (!found) {
      ++refused;
      expectLooser(problem);
      continue;
    }
    EXPECT_NEAR(found->slowest, best->slowest, 1e-9) << "round " << round;
    Loads loads(problem);
    for (int stage = 0; stage < stages; ++stage) {
      int last = stage + 1 < stages ? found->begins[stage + 1] : units;
      replayed += loads.get(found->begins[stage], last, stage).replay > 0;
    }
  }
  EXPECT_GT(replayed, 50);
  EXPECT_GT(refused, 5);
}

namespace {

/// Balances by costs as torchgpipe does (torchgpipe/balance/blockpartition.py): blocks exchange
/// elements until the largest exceeds the smallest by at most one, for costs scaled to 0 to 1.
std::vector<int> partitionBlocks(const std::vector<int> &costs, int blocks) {
  auto [least, most] = std::minmax_element(costs.begin(), costs.end());
  double minimum = *least, range = *most - *least;
  std::vector<double> scaled;
  for (int cost : costs)
    scaled.push_back(range > 0 ? (cost - minimum) / range : 0);
  int count = static_cast<int>(costs.size());
  std::vector<int> ends;
  for (int block = 1; block < blocks; ++block)
    ends.push_back(count / blocks * block);
  ends.push_back(count);
  auto size = [&](int block) {
    double sum = 0;
    for (int i = block > 0 ? ends[block - 1] : 0; i < ends[block]; ++i)
      sum += scaled[i];
    return sum;
  };
  while (true) {
    std::pair<double, int> largest{-1, 0};
    for (int block = 0; block < blocks; ++block)
      largest = std::max(largest, {size(block), block});
    int changed = -1, p = largest.second;
    while (changed != p) {
      std::pair<double, int> smallest{INFINITY, 0};
      for (int block = 0; block < blocks; ++block)
        smallest = std::min(smallest, {size(block), block});
      int q = smallest.second;
      if (largest.first <= smallest.first + 1)
        return ends;
      changed = p < q ? q - 1 : q + 1;
      p < q ? --ends[changed] : ++ends[q];
    }
  }
}

/// The slowest block of the best cut: the least limit that a greedy cut keeps.
int findBestCut(const std::vector<int> &costs, int blocks) {
  int low = *std::max_element(costs.begin(), costs.end());
  int high = std::accumulate(costs.begin(), costs.end(), 0);
  while (low < high) {
    int limit = (low + high) / 2, used = 1, sum = 0;
    for (int cost : costs) {
      if (sum + cost > limit) {
        ++used;
        sum = 0;
      }
      sum += cost;
    }
    used <= blocks ? high = limit : low = limit + 1;
  }
  return low;
}

} // namespace

/// The table of docs/reference/benchmarks/Pipelines.md: the slowest stage over the optimum on 1,000
/// profiles each.
TEST(Balance, BesideBlockPartition) {
  SplitMix random(11);
  for (auto [stages, units, spread] : {std::tuple(8, 32, 20), std::tuple(8, 24, 20),
                                       std::tuple(4, 13, 20), std::tuple(8, 32, 900)}) {
    double own = 0, worst = 0, block = 0, worstBlock = 0;
    for (int round = 0; round < 1000; ++round) {
      std::vector<int> costs, sums{0};
      for (int unit = 0; unit < units; ++unit) {
        costs.push_back(1000 - spread + random.below(2 * spread + 1));
        sums.push_back(sums.back() + costs.back());
      }
      double best = findBestCut(costs, stages);
      auto found = balance(units, stages, [&](int first, int last, int) {
        return double(sums[last] - sums[first]);
      });
      std::vector<int> ends = partitionBlocks(costs, stages);
      int slowest = 0;
      for (int i = 0; i < stages; ++i)
        slowest = std::max(slowest, sums[ends[i]] - sums[i > 0 ? ends[i - 1] : 0]);
      ASSERT_GE(slowest, best);
      own += found->slowest / best / 1000;
      worst = std::max(worst, found->slowest / best);
      block += slowest / best / 1000;
      worstBlock = std::max(worstBlock, slowest / best);
    }
    std::printf("%d stages of %d units of %d +- %d: %.3f (most %.3f), block partition %.3f (most "
                "%.3f)\n",
                stages, units, 1000, spread, own, worst, block, worstBlock);
    EXPECT_EQ(worst, 1);
    EXPECT_NEAR(own, 1, 1e-12);
    EXPECT_GT(block, 1.03);
  }
}
