// reprise: tests that no plan is cheaper than the bound
#include "../RandomCheckpoint.h"

#include "reprise/Planning/Checkpoint/Bound/Bound.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

/// The least seconds of all choices, by peak.
std::map<int64_t, double> enumerate(const Case &given, const std::vector<int> &free) {
  Meter meter(given.problem, given.footprint);
  std::map<int64_t, double> best;
  forEachChoices(given.problem, free, [&](const std::vector<Choice> &choices) {
    Usage usage = meter.measure(choices, 0);
    auto [found, isNew] = best.emplace(usage.peak, usage.seconds);
    found->second = std::min(found->second, usage.seconds);
  });
  double least = INFINITY;
  for (auto &[peak, seconds] : best)
    seconds = least = std::min(least, seconds);
  return best;
}

/// Makes a problem in which at most `most` choices matter.
Case makeSmall(Random &random, size_t most) {
  while (true) {
    Case given = makeCase(random, 9, 30, false);
    if (findFree(given.problem).size() <= most)
      return given;
  }
}

TEST(CheckpointBound, NoPlanIsCheaper) {
  Random random(31);
  int rounds = problemCount(600), infeasible = 0, tight = 0, positive = 0, budgets = 0, joint = 0;
  for (int round = 0; round < rounds; ++round) {
    Case given = makeSmall(random, round % 50 == 0 ? 10 : 7);
    std::map<int64_t, double> best = enumerate(given, findFree(given.problem));
    for (int again = 0; again < 6; ++again) {
      int64_t budget =
          best.begin()->first - 8 +
          pick(random, static_cast<int>(best.rbegin()->first - best.begin()->first + 17));
      int launches = 1 + pick(random, 2) * given.footprint.numLaunches;
      Bound bound = findBound(given.problem, given.footprint, budget, launches);
      ++budgets;
      auto found = best.upper_bound(budget);
      if (!bound.isFeasible) {
        ++infeasible;
        EXPECT_EQ(found, best.begin()) << "round " << round << ", budget " << budget;
        EXPECT_GT(bound.missing, 0);
        EXPECT_LE(bound.missing, best.begin()->first - budget);
        continue;
      }
      if (found == best.begin())
        continue;
      double least = std::prev(found)->second;
      ASSERT_LE(bound.seconds, least * (1 + 1e-9)) << "round " << round << ", budget " << budget;
      double together = findJointBound(given.problem, given.footprint, budget, least);
      ASSERT_LE(together, least * (1 + 1e-9)) << "round " << round << ", budget " << budget;
      // The bound is not cut off at the known cost.
      ASSERT_LE(findJointBound(given.problem, given.footprint, budget, 2 * least),
                least * (1 + 1e-9))
          << "round " << round << ", budget " << budget;
      joint += together > bound.seconds * (1 + 1e-9);
      positive += least > 0;
      tight += least > 0 && bound.seconds >= 0.5 * least;
    }
  }
  EXPECT_GT(infeasible, budgets / 40);
  EXPECT_GT(positive, budgets / 10);
  EXPECT_GT(joint, positive / 50);
  EXPECT_GT(tight, positive / 8);
}

/// Returns the launch whose buffer a read of the value accesses; kNoLaunch if there is none.
int findMaker(const Case &given, int value) {
  while (value != kAvailable) {
    int operation = given.problem.values[value].operation;
    if (given.footprint.launches[operation] != kNoLaunch)
      return given.footprint.launches[operation];
    const Operation &view = given.problem.operations[operation];
    value = view.operands.empty() ? kAvailable : view.operands[0];
  }
  return kNoLaunch;
}

/// New numbers of the launches, in an order by chance that their reads allow.
std::vector<int> shuffleLaunches(const Case &given, Random &random) {
  int count = given.footprint.numLaunches;
  std::vector<std::set<int>> next(count);
  std::vector<int> waitsFor(count), numbers(count, -1), ready;
  for (size_t i = 0; i < given.problem.operations.size(); ++i)
    for (int operand : given.problem.operations[i].operands) {
      int from = findMaker(given, operand), to = given.footprint.launches[i];
      if (from != kNoLaunch && to != kNoLaunch && from != to && next[from].insert(to).second)
        ++waitsFor[to];
    }
  for (int launch = 0; launch < count; ++launch)
    if (waitsFor[launch] == 0)
      ready.push_back(launch);
  for (int number = 0; !ready.empty(); ++number) {
    int at = pick(random, static_cast<int>(ready.size())), launch = ready[at];
    ready.erase(ready.begin() + at);
    numbers[launch] = number;
    for (int to : next[launch])
      if (--waitsFor[to] == 0)
        ready.push_back(to);
  }
  return numbers;
}

/// Returns the step in the order `numbers`; other buffers then lie between the same two launches.
Case reorder(Case given, const std::vector<int> &numbers) {
  int count = given.footprint.numLaunches;
  for (int &launch : given.footprint.launches)
    launch = launch == kNoLaunch ? kNoLaunch : numbers[launch];
  for (int &launch : given.footprint.lastOutside)
    launch = launch < 0 || launch >= count ? launch : numbers[launch];
  for (Neighbour &neighbour : given.footprint.neighbours) {
    int a = numbers[neighbour.first], b = numbers[std::min(neighbour.last, count - 1)];
    neighbour.first = std::min(a, b);
    neighbour.last = std::max(a, b);
  }
  given.findTimes();
  return given;
}

TEST(CheckpointBound, NoPlanInAnotherOrderIsCheaper) {
  Random random(37);
  int rounds = problemCount(400), positive = 0, tight = 0, infeasible = 0, lower = 0;
  for (int round = 0; round < rounds; ++round) {
    Case given = makeSmall(random, 6);
    std::map<int64_t, double> best = enumerate(given, findFree(given.problem));
    for (int order = 0; order < 6; ++order) {
      int64_t budget =
          best.begin()->first - 8 +
          pick(random, static_cast<int>(best.rbegin()->first - best.begin()->first + 17));
      Bound bound = findAnyOrderBound(given.problem, given.footprint, budget, 100);
      std::map<int64_t, double> reached =
          order == 0
              ? best
              : enumerate(reorder(given, shuffleLaunches(given, random)), findFree(given.problem));
      auto found = reached.upper_bound(budget);
      if (!bound.isFeasible) {
        ++infeasible;
        EXPECT_EQ(found, reached.begin()) << "round " << round << ", budget " << budget;
        EXPECT_LE(bound.missing, reached.begin()->first - budget);
        continue;
      }
      if (found == reached.begin())
        continue;
      double least = std::prev(found)->second;
      EXPECT_LE(bound.seconds, least * (1 + 1e-9) + 1e-9) << "round " << round << ", " << budget;
      positive += bound.seconds > 0;
      tight += bound.seconds > 0 && bound.seconds >= 0.5 * least;
      lower += findBound(given.problem, given.footprint, budget, 1000).seconds > bound.seconds;
    }
  }
  EXPECT_GT(positive, rounds / 10);
  EXPECT_GT(tight, positive / 4);
  EXPECT_GT(infeasible, rounds / 50);
  EXPECT_GT(lower, rounds / 20);
}

/// Makes a chain whose operations differ in bytes per second; its cotangents read it backwards.
Case makeChain(const std::vector<int64_t> &bytes, const std::vector<double> &seconds) {
  Case given;
  given.problem.containers = {{-1}, {0}};
  int launch = 0, cotangent = kAvailable;
  for (size_t i = 0; i < bytes.size(); ++i) {
    // Each operation reads an argument, so that it can be replayed alone.
    given.add(launch++, Kind::Other, {kAvailable}, 0, true, bytes[i]);
    given.footprint.seconds.back() = seconds[i];
  }
  for (size_t i = bytes.size(); i-- > 0;)
    cotangent = given.add(launch++, Kind::Other, {static_cast<int>(i), cotangent}, 1, false, 1);
  given.findTimes();
  return given;
}

TEST(CheckpointBound, IsTheFractionalKnapsackWithoutOperands) {
  Case given = makeChain({10, 20, 30, 1}, {5, 4, 3, 1});
  // 61 bytes are kept, and each cotangent needs one more. The first cotangent reads the value of
  // one byte.
  EXPECT_EQ(findBound(given.problem, given.footprint, 62).seconds, 0);
  EXPECT_DOUBLE_EQ(findBound(given.problem, given.footprint, 52, 1).seconds, 1);
  EXPECT_DOUBLE_EQ(findBound(given.problem, given.footprint, 32, 1).seconds, 3);
  EXPECT_DOUBLE_EQ(findBound(given.problem, given.footprint, 22, 1).seconds, 5);
  // The second cotangent reads the largest value, so that replaying this value does not help.
  EXPECT_DOUBLE_EQ(findBound(given.problem, given.footprint, 52).seconds, 2);
  EXPECT_DOUBLE_EQ(findBound(given.problem, given.footprint, 32).seconds, 9);
  EXPECT_FALSE(findBound(given.problem, given.footprint, 22).isFeasible);
}

TEST(CheckpointBound, MustsCostTheirSeconds) {
  Case given = makeChain({10, 20, 30, 1}, {5, 4, 3, 1});
  given.problem.values[0].label = Label::MustRecompute;
  EXPECT_DOUBLE_EQ(findBound(given.problem, given.footprint, 52).seconds, 5);
  given.problem.values[2].label = Label::MustSave;
  EXPECT_DOUBLE_EQ(findBound(given.problem, given.footprint, 42).seconds, 7);
  Bound none = findBound(given.problem, given.footprint, 31);
  EXPECT_FALSE(none.isFeasible);
  EXPECT_EQ(none.missing, 1);
}

TEST(CheckpointBound, SaysWhereNothingFits) {
  Case given = makeChain({10, 20, 30, 1}, {5, 4, 3, 1});
  // The cotangent of the third value reads it, and the cotangent before its own.
  Bound bound = findBound(given.problem, given.footprint, 20, 100);
  EXPECT_FALSE(bound.isFeasible);
  EXPECT_GT(bound.missing, 0);
}

} // namespace
