// reprise: tests of what schedules cost, against the definition, step by step
#include "../FootprintDefinition.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

TEST(Footprint, IsWhatItsDefinitionSays) {
  Random random(21);
  int differ = 0, rounds = problemCount(800);
  for (int round = 0; round < rounds; ++round) {
    Case given = makeCase(random, 18, 30, false);
    ScheduleBuilder builder(given.problem);
    Meter meter(given.problem, given.footprint);
    for (int again = 0; again < 3; ++again) {
      std::vector<Choice> choices = pickChoices(random, given.problem);
      const Schedule &schedule = builder.build(choices);
      int64_t budget = 8 * pick(random, 40);
      Usage usage = meter.measure(choices, budget);
      Usage expected = Definition(given, schedule).measure(budget);
      ASSERT_EQ(usage.peak, expected.peak) << "round " << round;
      ASSERT_EQ(usage.peakLaunch, expected.peakLaunch) << "round " << round;
      ASSERT_EQ(usage.excess, expected.excess) << "round " << round;
      ASSERT_EQ(usage.seconds, expected.seconds) << "round " << round;
      ASSERT_EQ(usage.executions, static_cast<int>(schedule.runs.size())) << "round " << round;
      int64_t most = 0;
      for (int64_t bytes : meter.profile())
        most = std::max(most, bytes);
      ASSERT_EQ(most, usage.peak);
      differ += usage.excess > 0 && usage.seconds > 0;
    }
  }
  EXPECT_GT(differ, rounds / 3);
}

/// A chain that each unit's backward pass would make again from its start.
TEST(Footprint, TooManyReplaysAreEndless) {
  static constexpr int kUnits = 40;
  Case given;
  given.problem.containers = {{-1}};
  std::vector<int> chain = {kAvailable};
  for (int i = 0; i < kUnits; ++i) {
    given.problem.containers.push_back({0});
    chain.push_back(given.add(i, Kind::Contraction, {chain.back()}));
  }
  for (int i = 0; i < kUnits; ++i) {
    given.problem.containers.push_back({0});
    given.add(kUnits + i, Kind::Contraction, {chain.back()}, 1, false);
  }
  given.findTimes();
  ScheduleBuilder builder(given.problem);
  Meter meter(given.problem, given.footprint);
  for (bool isPerUnit : {true, false}) {
    std::vector<Choice> choices(given.problem.values.size(),
                                isPerUnit ? Choice::ReplayPerUnit : Choice::Replay);
    const Schedule &schedule = builder.build(choices);
    Usage usage = meter.measure(choices, 0);
    EXPECT_EQ(schedule.isWhole, !isPerUnit);
    EXPECT_EQ(usage.executions, static_cast<int>(schedule.runs.size()));
    EXPECT_EQ(usage.peak, isPerUnit ? INT64_MAX : 16);
    EXPECT_EQ(usage.seconds, isPerUnit ? INFINITY : kUnits);
  }
}

//===-- By hand -------------------------------------------------------------------------------===//

class FootprintByHand : public ::testing::Test {
protected:
  FootprintByHand() { given.problem.containers = {{-1}, {0}}; }

  /// The bytes at each launch; choices of the first values, the others are saved.
  std::vector<int64_t> profile(std::vector<Choice> choices = {}) {
    given.findTimes();
    choices.resize(given.problem.values.size(), Choice::Save);
    Meter meter(given.problem, given.footprint);
    usage = meter.measure(choices, 0);
    return meter.profile();
  }

  using Bytes = std::vector<int64_t>;
  Case given;
  Usage usage;
};

TEST_F(FootprintByHand, OperandsAndResultsLieSideBySide) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Contraction, {a}, 0, true, 10);
  given.add(2, Kind::Contraction, {b}, 0, true, 10);
  EXPECT_EQ(profile(), (Bytes{10, 20, 10}));
  EXPECT_EQ(usage.peak, 20);
  EXPECT_EQ(usage.peakLaunch, 1);
  EXPECT_EQ(usage.excess, 40);
  EXPECT_EQ(usage.seconds, 0);
}

TEST_F(FootprintByHand, ElementwiseResultsTakeTheirOperandsPlace) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Elementwise, {a}, 0, true, 10);
  given.add(2, Kind::Contraction, {b}, 0, true, 10);
  EXPECT_EQ(profile(), (Bytes{10, 10, 10}));
  // The result shares no buffer of another size, and no buffer that is still read.
  given.problem.values[a].bytes = 11;
  EXPECT_EQ(profile(), (Bytes{11, 21, 10}));
  given.problem.values[a].bytes = 10;
  given.footprint.lastOutside[a] = 2;
  EXPECT_EQ(profile(), (Bytes{10, 20, 20}));
}

TEST_F(FootprintByHand, OneOperandGivesOnePlace) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Elementwise, {a, a}, 0, true, 10);
  int c = given.add(1, Kind::Elementwise, {a}, 0, true, 10);
  given.add(2, Kind::Contraction, {b, c}, 0, true, 10);
  EXPECT_EQ(profile(), (Bytes{10, 20, 20}));
}

TEST_F(FootprintByHand, ResultsTakeAnyPlaceInTheirStep) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 30);
  given.add(1, Kind::Elementwise, {a}, 0, true, 1);
  int c = given.add(1, Kind::Reduction, {b}, 0, true, 10);
  given.add(2, Kind::Contraction, {c}, 0, true, 10);
  EXPECT_EQ(profile(), (Bytes{40, 40, 10}));
  // Operands that are read from memory do not share.
  given.problem.operations[2].kind = Kind::Other;
  EXPECT_EQ(profile(), (Bytes{40, 50, 10}));
}

TEST_F(FootprintByHand, RegistersTakeNoBytes) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Elementwise, {a}, 0, true, 100);
  int c = given.add(1, Kind::Elementwise, {b}, 0, true, 100);
  given.add(1, Kind::Reduction, {c}, 0, true, 1);
  EXPECT_EQ(profile(), (Bytes{10, 10}));
}

TEST_F(FootprintByHand, ViewsKeepWhatTheyView) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int view = given.add(kNoLaunch, Kind::View, {a}, 0, true, 10);
  int again = given.add(kNoLaunch, Kind::View, {view}, 0, true, 10);
  given.add(1, Kind::Contraction, {kAvailable}, 0, true, 10);
  given.add(2, Kind::Contraction, {again}, 0, true, 10);
  EXPECT_EQ(profile(), (Bytes{10, 10, 10}));
}

TEST_F(FootprintByHand, ReturnedAndOutsideValues) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Contraction, {kAvailable}, 0, true, 100);
  given.add(2, Kind::Contraction, {kAvailable}, 0, true, 1);
  given.add(3, Kind::Contraction, {kAvailable}, 0, true, 1);
  given.footprint.lastOutside[a] = 4;
  given.footprint.lastOutside[b] = 2;
  EXPECT_EQ(profile(), (Bytes{10, 110, 110, 10}));
  given.footprint.isStored[a] = false;
  EXPECT_EQ(profile(), (Bytes{0, 100, 100, 0}));
}

TEST_F(FootprintByHand, Neighbours) {
  given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  given.add(1, Kind::Contraction, {kAvailable}, 0, true, 10);
  given.add(2, Kind::Contraction, {kAvailable}, 0, true, 10);
  given.footprint.neighbours = {{0, 1, 5}, {1, 3, 7}};
  EXPECT_EQ(profile(), (Bytes{5, 12, 7}));
}

TEST_F(FootprintByHand, ElementwiseReplaysJoinTheirReader) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Elementwise, {a}, 0, true, 10);
  given.add(2, Kind::Contraction, {b}, 0, true, 1);
  given.add(3, Kind::Elementwise, {b}, 1, false, 1);
  EXPECT_EQ(profile(), (Bytes{10, 10, 10, 10}));
  // The replay in launch 3 reads the value that is kept for it, and is never stored.
  EXPECT_EQ(profile({Choice::Save, Choice::Replay}), (Bytes{10, 20, 20, 10}));
  EXPECT_EQ(usage.seconds, 1);
  // A contraction reads memory, so its result does not share its operand's buffer.
  given.problem.operations.back().kind = Kind::Contraction;
  given.problem.values[b].bytes = 20;
  EXPECT_EQ(profile({Choice::Save, Choice::Replay}), (Bytes{10, 30, 30, 30}));
}

TEST_F(FootprintByHand, ReplaysOfSeveralLaunchesAreStored) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Elementwise, {a}, 0, true, 20);
  given.add(2, Kind::Contraction, {b}, 0, true, 1);
  given.add(3, Kind::Elementwise, {b}, 1, false, 1);
  given.add(4, Kind::Elementwise, {b}, 1, false, 1);
  EXPECT_EQ(profile({Choice::Save, Choice::Replay}), (Bytes{10, 30, 30, 30, 20}));
}

TEST_F(FootprintByHand, ReplaysOfOneLaunchAreOneStep) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Elementwise, {a}, 0, true, 100);
  int c = given.add(1, Kind::Reduction, {b}, 0, true, 1);
  given.add(2, Kind::Contraction, {kAvailable}, 0, true, 1);
  given.add(3, Kind::Contraction, {c}, 1, false, 1);
  std::vector<Choice> choices = {Choice::Save, Choice::Replay, Choice::Replay};
  EXPECT_EQ(profile(choices), (Bytes{10, 10, 10, 11}));
  EXPECT_EQ(usage.seconds, 2);
  // In launches of their own, the first operation writes the value that the second reads.
  given.footprint.launches[c] = 2;
  EXPECT_EQ(profile(choices), (Bytes{10, 110, 110, 110}));
}

TEST_F(FootprintByHand, ViewsThatNobodyReadsAreNoReaders) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Elementwise, {a}, 0, true, 20);
  given.add(2, Kind::Elementwise, {b}, 1, false, 1);
  for (bool before : {false, true}) {
    Case kept = given;
    int view = given.add(kNoLaunch, Kind::View, {b}, 1, false, 20);
    if (before) {
      // The view comes first.
      std::swap(given.problem.operations[2], given.problem.operations[3]);
      std::swap(given.footprint.launches[2], given.footprint.launches[3]);
      std::swap(given.problem.values[view - 1], given.problem.values[view]);
      std::swap(given.problem.operations[2].firstResult, given.problem.operations[3].firstResult);
      std::swap(given.problem.values[view - 1].operation, given.problem.values[view].operation);
    }
    EXPECT_EQ(profile({Choice::Save, Choice::Replay}), (Bytes{10, 10, 10})) << before;
    given = kept;
  }
}

TEST_F(FootprintByHand, ReplaysRunForTheFirstLaunchThatNeedsThem) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  given.add(1, Kind::Contraction, {kAvailable}, 0, true, 1);
  // The first one in program order is a view that is read late, the second one comes later too.
  int view = given.add(kNoLaunch, Kind::View, {a}, 1, false, 10);
  given.add(4, Kind::Contraction, {a}, 1, false, 1);
  given.add(2, Kind::Contraction, {a}, 1, false, 1);
  given.add(5, Kind::Contraction, {view}, 1, false, 1);
  given.add(3, Kind::Contraction, {kAvailable}, 1, false, 1);
  EXPECT_EQ(profile({Choice::Replay}), (Bytes{0, 0, 10, 10, 10, 10}));
}

TEST_F(FootprintByHand, OperationsWithoutResults) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  given.add(1, Kind::Elementwise, {a}, 0, true, 0, 0);
  EXPECT_EQ(profile(), (Bytes{10, 10}));
}

} // namespace
