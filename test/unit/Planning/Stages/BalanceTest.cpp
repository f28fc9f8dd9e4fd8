// reprise: tests of the split into stages, against all splits of small steps
#include "reprise/Planning/Stages/Balance.h"

#include "reprise/Support/SplitMix.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace reprise;
using namespace reprise::stages;

namespace {

/// Seconds of the slowest stage and of all, counted value by value; none if a stage does not fit.
std::optional<std::pair<double, double>> count(const Problem &problem,
                                               const std::vector<int> &begins) {
  double slowest = 0, total = 0;
  for (size_t stage = 0; stage < begins.size(); ++stage) {
    int first = begins[stage];
    int last =
        static_cast<int>(stage + 1 < begins.size() ? begins[stage + 1] : problem.units.size());
    const Device &device = problem.devices[stage];
    double seconds = 0;
    int64_t working = 0, held = 0;
    for (int unit = first; unit < last; ++unit) {
      const pipeline::Stage &own = problem.units[unit];
      seconds += (own.forward + own.backward + own.weight) / device.speed;
      held += own.resident +
              problem.slots[stage] * (own.saved + own.savedForWeight + own.madeForWeight);
      working = std::max(working, own.working);
    }
    if (held + working > device.memory)
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

/// torchgpipe's block partition gives the last of eight devices nine of thirty equal layers.
TEST(Balance, OfEqualLayers) {
  auto found = balance(30, 8, [](int first, int last, int) { return double(last - first); });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->slowest, 4);
}

/// A skip goes from its maker to its reader, once, and the stages between do not see it.
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
