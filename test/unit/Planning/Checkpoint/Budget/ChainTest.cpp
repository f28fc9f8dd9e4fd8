// reprise: tests of the dynamic program over chains, against all plans of small ones
#include "../RandomCheckpoint.h"

#include "reprise/Planning/Checkpoint/Budget/Chain.h"

#include <gtest/gtest.h>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

Chain makeRandom(Random &random) {
  Chain chain;
  int ways = 1 + pick(random, 3);
  for (int unit = 0, units = 1 + pick(random, 6); unit < units; ++unit) {
    chain.inputs.push_back(1 + pick(random, 30));
    std::vector<Chain::Way> list;
    for (int way = 0; way < ways; ++way)
      list.push_back(
          {pick(random, 9) * 1.0, 1.0 + pick(random, 9), pick(random, 30), 10 + pick(random, 40)});
    chain.units.push_back(std::move(list));
  }
  return chain;
}

/// Bytes and seconds of any plan, unit by unit.
struct Reckoned {
  int64_t peak = 0;
  double seconds = 0;
};

Reckoned reckon(const Chain &chain, const ChainPlan &plan) {
  Reckoned result;
  for (size_t unit = 0; unit < chain.units.size(); ++unit) {
    const Chain::Way &way = chain.units[unit][plan.ways[unit]];
    int64_t bytes = way.need;
    size_t first = unit;
    while (first > 0 && plan.inputs[first] != Choice::Save)
      --first;
    for (size_t before = 1; before <= unit; ++before) {
      bool isSaved = plan.inputs[before] == Choice::Save;
      bool isThere = before == unit || (before > first && plan.inputs[before] == Choice::Replay);
      bytes += isSaved || isThere ? chain.inputs[before] : 0;
    }
    for (size_t before = 0; before < unit; ++before)
      bytes += chain.units[before][plan.ways[before]].kept;
    result.peak = std::max(result.peak, bytes);
    result.seconds += way.own;
    if (unit == 0 || plan.inputs[unit] == Choice::Save)
      continue;
    size_t base = unit - 1;
    while (base > 0 && plan.inputs[base] == Choice::ReplayPerUnit)
      --base;
    for (; base < unit; ++base)
      result.seconds += chain.units[base][plan.ways[base]].again;
  }
  return result;
}

/// Calls `visit` with each plan of equal strides, from the unit on.
void visitPlans(const Chain &chain, ChainPlan &plan, size_t first,
                const std::function<void()> &visit) {
  size_t count = chain.units.size();
  if (first == count)
    return visit();
  for (size_t last = first + 1; last <= count; ++last)
    for (size_t stride = 1; stride <= last - first; ++stride)
      for (size_t way = 0; way < chain.units[first].size(); ++way) {
        for (size_t unit = first; unit < last; ++unit) {
          plan.ways[unit] = static_cast<int>(way);
          plan.inputs[unit] = unit == first                  ? Choice::Save
                              : (unit - first) % stride == 0 ? Choice::Replay
                                                             : Choice::ReplayPerUnit;
        }
        visitPlans(chain, plan, last, visit);
      }
}

/// Returns the smallest seconds of all plans that fit; negative if no plan fits.
double enumerate(const Chain &chain, int64_t budget) {
  ChainPlan plan{std::vector<Choice>(chain.units.size()), std::vector<int>(chain.units.size())};
  double least = -1;
  visitPlans(chain, plan, 0, [&] {
    Reckoned reckoned = reckon(chain, plan);
    if (reckoned.peak <= budget && (least < 0 || reckoned.seconds < least))
      least = reckoned.seconds;
  });
  return least;
}

} // namespace

TEST(Chain, PlansOfSmallChainsAreTheCheapest) {
  Random random(3);
  int fitting = 0, multiLevel = 0;
  for (int i = 0, count = problemCount(400); i < count; ++i) {
    Chain chain = makeRandom(random);
    int64_t budget = 20 + pick(random, 120);
    std::optional<ChainPlan> plan = solveChain(chain, budget);
    double least = enumerate(chain, budget);
    ASSERT_EQ(plan.has_value(), least >= 0) << i;
    if (!plan)
      continue;
    Reckoned reckoned = reckon(chain, *plan);
    EXPECT_LE(reckoned.peak, budget) << i;
    EXPECT_DOUBLE_EQ(reckoned.seconds, plan->seconds) << i;
    EXPECT_DOUBLE_EQ(plan->seconds, least) << i;
    ++fitting;
    auto uses = [&](Choice choice) {
      return std::find(plan->inputs.begin(), plan->inputs.end(), choice) != plan->inputs.end();
    };
    multiLevel += uses(Choice::Replay) && uses(Choice::ReplayPerUnit);
  }
  EXPECT_GT(fitting, 100);
  EXPECT_GT(multiLevel, 5);
}

/// For n equal units that keep only their inputs, a budget of about √n allows one more forward pass
/// and a little (Chen et al. 2016, arXiv:1604.06174).
TEST(Chain, LongChainsFitInFewBytes) {
  Chain chain;
  for (int unit = 0; unit < 144; ++unit) {
    chain.inputs.push_back(1);
    chain.units.push_back({{0, 1, 10, 10}, {1, 1, 0, 10}});
  }
  std::optional<ChainPlan> plan = solveChain(chain, 10 + 2 * 12);
  ASSERT_TRUE(plan);
  EXPECT_LE(plan->seconds, 2 * 144);
  std::optional<ChainPlan> small = solveChain(chain, 10 + 8);
  ASSERT_TRUE(small);
  EXPECT_GT(small->seconds, plan->seconds);
  EXPECT_LE(reckon(chain, *small).peak, 18);
  EXPECT_FALSE(solveChain(chain, 10));
}

TEST(Chain, TooManyUnitsHaveNoPlan) {
  Chain chain;
  EXPECT_FALSE(solveChain(chain, 100));
  chain.inputs.assign(kMostUnits + 1, 1);
  chain.units.assign(kMostUnits + 1, {{0, 1, 0, 1}});
  EXPECT_FALSE(solveChain(chain, 1000));
}
