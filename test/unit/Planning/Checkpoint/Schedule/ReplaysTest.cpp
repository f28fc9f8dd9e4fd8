// reprise: tests of schedules that are built from choices
#include "../RandomCheckpoint.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

/// The outermost container and the order of an operation.
using Unit = std::pair<int, int64_t>;

Unit unitOf(const Problem &problem, int operation) {
  const Operation &op = problem.operations[operation];
  int container = op.container;
  while (problem.containers[container].parent != 0)
    container = problem.containers[container].parent;
  return {container, op.order};
}

/// Reader that checks a schedule against the meaning of each choice, read by read.
class Reader {
public:
  Reader(const Case &given, const std::vector<Choice> &choices, const Schedule &schedule,
         int firstReplay)
      : problem(given.problem), choices(choices), schedule(schedule), firstReplay(firstReplay) {}

  void check() {
    std::vector<bool> isRead(schedule.runs.size());
    for (size_t i = 0; i < schedule.runs.size(); ++i) {
      checkPlace(static_cast<int>(i));
      const Schedule::Run &run = schedule.runs[i];
      for (size_t o = 0; o < problem.operations[run.operation].operands.size(); ++o) {
        int source = schedule.sources[run.firstSource + o];
        checkSource(static_cast<int>(i), problem.operations[run.operation].operands[o], source);
        // A replay is delayed until the first original that needs it.
        if (source >= 0 && schedule.runs[source].reader == run.reader)
          isRead[source] = true;
      }
    }
    for (size_t i = 0; i < schedule.runs.size(); ++i)
      EXPECT_TRUE(schedule.runs[i].replay == 0 || isRead[i]) << "run " << i << " came too early";
  }

private:
  /// Checks that replays stand right before the original that they are for.
  void checkPlace(int index) {
    const Schedule::Run &run = schedule.runs[index];
    EXPECT_TRUE(seen.insert({run.operation, run.replay}).second) << "operation twice";
    if (run.replay == 0) {
      EXPECT_EQ(run.reader, run.operation);
      return;
    }
    EXPECT_GE(run.replay, firstReplay);
    ASSERT_LT(index + 1, static_cast<int>(schedule.runs.size()));
    EXPECT_EQ(schedule.runs[index + 1].reader, run.reader);
  }

  void checkSource(int reader, int value, int source) {
    if (value == kAvailable) {
      EXPECT_EQ(source, -1);
      return;
    }
    ASSERT_GE(source, 0);
    ASSERT_LT(source, reader);
    const Value &read = problem.values[value];
    const Schedule::Run &run = schedule.runs[reader], &made = schedule.runs[source];
    EXPECT_EQ(made.operation, read.operation);
    const Operation &definition = problem.operations[read.operation];
    bool isBack = run.replay > 0 || readsBack(problem.operations[run.operation], definition);
    if (!isBack || read.outlives || !definition.primal || choices[value] == Choice::Save) {
      EXPECT_EQ(made.replay, 0) << "value " << value;
      return;
    }
    Unit unit = unitOf(problem, run.reader);
    if (choices[value] != Choice::ReplayPerUnit) {
      bool isFirst = choices[value] == Choice::SaveThenReplay &&
                     firstUnits.emplace(value, unit).first->second == unit;
      EXPECT_EQ(made.replay, isFirst ? 0 : firstReplay) << "value " << value;
      return;
    }
    EXPECT_GT(made.replay, firstReplay) << "value " << value;
    EXPECT_EQ(numbers.emplace(unit, made.replay).first->second, made.replay);
    EXPECT_EQ(units.emplace(made.replay, unit).first->second, unit);
  }

  const Problem &problem;
  const std::vector<Choice> &choices;
  const Schedule &schedule;
  int firstReplay;
  std::set<std::pair<int, int>> seen;
  std::map<Unit, int> numbers;
  // First units of values that are kept for one unit.
  std::map<int, Unit> firstUnits;
  std::map<int, Unit> units;
};

TEST(Replays, MeanWhatTheChoicesSay) {
  Random random(11);
  size_t replays = 0, shared = 0;
  for (int round = 0; round < 4000; ++round) {
    Case given = makeCase(random, 20);
    ASSERT_FALSE(validate(given.problem));
    ScheduleBuilder builder(given.problem);
    for (int again = 0; again < 3; ++again) {
      SCOPED_TRACE("round " + std::to_string(round));
      std::vector<Choice> choices = pickChoices(random, given.problem);
      int first = 1 + pick(random, 5);
      const Schedule &schedule = builder.build(choices, first);
      Reader(given, choices, schedule, first).check();
      auto defect = validate(given.problem, describe(given.problem, schedule));
      ASSERT_FALSE(defect) << defect->message;
      ASSERT_FALSE(::testing::Test::HasFailure());
      for (const Schedule::Run &run : schedule.runs) {
        replays += run.replay > 0;
        shared += run.replay == first;
      }
    }
  }
  EXPECT_GT(shared, 10000u);
  EXPECT_GT(replays, shared + 10000);
}

TEST(Replays, BrokenMustsAreSeen) {
  Random random(12);
  int broken = 0;
  for (int round = 0; round < 500; ++round) {
    Case given = makeCase(random, 12, 0);
    std::vector<Choice> choices = pickChoices(random, given.problem);
    ScheduleBuilder builder(given.problem);
    Solution solution = describe(given.problem, builder.build(choices));
    for (size_t value = 0; value < choices.size(); ++value) {
      bool isReplayed = solution.decisions[value] == Decision::Replayed;
      bool isHeld = solution.decisions[value] == Decision::Saved;
      if (!isReplayed && !isHeld)
        continue;
      Case asked = given;
      asked.problem.values[value].label = isReplayed ? Label::MustSave : Label::MustRecompute;
      ScheduleBuilder other(asked.problem);
      Solution same = describe(asked.problem, other.build(choices));
      auto defect = validate(asked.problem, same);
      ASSERT_TRUE(defect) << "round " << round << ", value " << value;
      EXPECT_EQ(defect->kind, Defect::Kind::Label);
      ++broken;
    }
  }
  EXPECT_GT(broken, 1000);
}

TEST(Replays, OneSchedulerManySchedules) {
  Random random(13);
  for (int round = 0; round < 300; ++round) {
    Case given = makeCase(random, 15);
    ScheduleBuilder used(given.problem);
    for (int again = 0; again < 4; ++again) {
      std::vector<Choice> choices = pickChoices(random, given.problem);
      ScheduleBuilder fresh(given.problem);
      const Schedule &a = used.build(choices), &b = fresh.build(choices);
      ASSERT_EQ(a.sources, b.sources);
      ASSERT_EQ(a.runs.size(), b.runs.size());
      for (size_t i = 0; i < a.runs.size(); ++i)
        EXPECT_EQ(std::tie(a.runs[i].operation, a.runs[i].replay, a.runs[i].reader),
                  std::tie(b.runs[i].operation, b.runs[i].replay, b.runs[i].reader));
    }
  }
}

/// A value of unit 1, read back by unit 2 twice and by unit 1 once.
Case makeTwoUnits() {
  Case made;
  made.problem.containers = {{-1}, {0}, {0}};
  int value = made.add(0, Kind::Other, {kAvailable});
  int loss = made.add(1, Kind::Other, {value});
  for (int i = 0; i < 3; ++i)
    made.add(2 + i, Kind::Other, {value, i == 0 ? loss : kAvailable}, 1, false);
  made.problem.operations[0].container = made.problem.operations[4].container = 1;
  made.findTimes();
  return made;
}

size_t countReplays(const Schedule &schedule) {
  return std::count_if(schedule.runs.begin(), schedule.runs.end(),
                       [](const Schedule::Run &run) { return run.replay > 0; });
}

TEST(Replays, SharedOnceAndPerUnitOncePerUnit) {
  Case given = makeTwoUnits();
  ScheduleBuilder builder(given.problem);
  std::vector<Choice> choices(given.problem.values.size(), Choice::Save);
  EXPECT_EQ(countReplays(builder.build(choices)), 0u);
  choices[0] = Choice::Replay;
  EXPECT_EQ(countReplays(builder.build(choices)), 1u);
  choices[0] = Choice::ReplayPerUnit;
  EXPECT_EQ(countReplays(builder.build(choices)), 2u);
}

TEST(Replays, SavedForTheFirstUnitMadeAgainForTheOther) {
  Case given = makeTwoUnits();
  ScheduleBuilder builder(given.problem);
  std::vector<Choice> choices(given.problem.values.size(), Choice::Save);
  choices[0] = Choice::SaveThenReplay;
  const Schedule &schedule = builder.build(choices);
  EXPECT_EQ(countReplays(schedule), 1u);
  // The two readers of the first unit take the original, the last one the replay.
  std::vector<int> read;
  for (const Schedule::Run &run : schedule.runs)
    if (run.operation >= 2)
      read.push_back(schedule.runs[schedule.sources[run.firstSource]].replay);
  EXPECT_EQ(read, (std::vector<int>{0, 0, 1}));
}

TEST(Replays, LongChainsTakeNoStack) {
  Case given;
  given.problem.containers = {{-1}, {0}};
  int value = kAvailable;
  for (int i = 0; i < 100000; ++i)
    value = given.add(0, Kind::Other, {value});
  given.add(1, Kind::Other, {value}, 1, false);
  std::vector<Choice> choices(given.problem.values.size(), Choice::ReplayPerUnit);
  ScheduleBuilder builder(given.problem);
  EXPECT_EQ(countReplays(builder.build(choices)), 100000u);
}

} // namespace
