// reprise: tests of sequences: every change against the judges of solutions
#include "../../../../../lib/reprise/Planning/Checkpoint/Sequence/Executions.h"
#include "../../../../../lib/reprise/Planning/Checkpoint/Sequence/FirstFitting.h"
#include "../../../../../lib/reprise/Planning/Checkpoint/Sequence/SequenceMoves.h"
#include "../../../../../lib/reprise/Planning/Checkpoint/Sequence/Shift.h"
#include "../LaunchLinksOf.h"
#include "reprise/Planning/Checkpoint/Problem/Recount.h"
#include "reprise/Planning/Checkpoint/Sequence/SequencePlanner.h"

#include <gtest/gtest.h>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

/// A random step as pieces.
struct Step {
  explicit Step(Random &random, int labels = 0)
      : given(makeCase(random, 14, labels)), links(linksOf(given)),
        pieces((addOverwriters(random), given.problem), given.footprint, &links,
               /*mayOverride=*/false) {}

  /// Lets launches wait for others without reading from them.
  void addOverwriters(Random &random) {
    for (int launch = 0; launch + 1 < given.footprint.numLaunches; ++launch)
      if (pick(random, 5) == 0)
        links.next[launch].push_back(launch + 1 +
                                     pick(random, given.footprint.numLaunches - launch - 1));
  }

  Case given;
  LaunchLinks links;
  Pieces pieces;
};

/// Compares the peak of a sequence with what the judges find in its executions. Two pieces of one
/// step share what both compute on the way, which a sequence counts twice: so a few peaks differ.
void judge(const Step &step, Sequence sequence, int &different) {
  settle(sequence);
  for (int exec = 0; exec < static_cast<int>(sequence.execs.size()); ++exec)
    for (int launch : step.pieces.overwriters[sequence.pieceOf(exec).launch])
      if (sequence.exists(exec))
        ASSERT_LT(sequence.placeOf(exec), sequence.steps[launch].place);
  LaunchOrder order = listLaunches(sequence);
  ASSERT_TRUE(isPossible(step.links, order));
  auto plan = reprise::checkpoint::sequence(step.given.problem, step.given.footprint, step.links,
                                            order, listExecutions(sequence));
  ASSERT_TRUE(plan);
  std::optional<Defect> defect = validate(plan->step.problem, plan->solution);
  ASSERT_FALSE(defect) << defect->message;
  Recount found = recount(plan->step.problem, plan->step.footprint, plan->solution);
  different += found.peak != sequence.peak();
}

TEST(Sequence, WithoutReplaysItTakesWhatTheMeterSays) {
  Random random(1);
  int different = 0;
  for (int round = 0; round < problemCount(300); ++round) {
    Step step(random);
    Sequence sequence(step.pieces, 100);
    std::vector<Choice> all(step.given.problem.values.size(), Choice::Save);
    Usage usage = Meter(step.given.problem, step.given.footprint).measure(all, 100);
    ASSERT_EQ(sequence.peak(), usage.peak) << "round " << round;
    ASSERT_EQ(sequence.excess(), usage.excess) << "round " << round;
    ASSERT_NEAR(sequence.cost(), usage.seconds, 1e-9 + usage.seconds / 4) << "round " << round;
    ASSERT_NO_FATAL_FAILURE(judge(step, sequence, different)) << "round " << round;
  }
  EXPECT_EQ(different, 0);
}

TEST(Sequence, ReadsSchedulesOfChoices) {
  Random random(2);
  int different = 0;
  for (int round = 0; round < problemCount(300); ++round) {
    Step step(random);
    ScheduleBuilder builder(step.given.problem);
    const Schedule &schedule = builder.build(pickChoices(random, step.given.problem));
    if (schedule.isWhole)
      ASSERT_NO_FATAL_FAILURE(judge(step, readSchedule(step.pieces, schedule, 100), different))
          << "round " << round;
  }
  EXPECT_LT(different, problemCount(300) / 100);
}

/// Inside a launch, too, replays may have numbers of their own: here the middle one.
TEST(Sequence, TakesTheReplaysThatChoicesName) {
  Case given;
  int large = given.add(0, Kind::Elementwise, {kAvailable}, 0, true, 64);
  int middle = given.add(1, Kind::Elementwise, {large});
  int last = given.add(1, Kind::Elementwise, {middle});
  int head = given.add(2, Kind::Other, {last});
  given.add(3, Kind::Other, {head, last}, 1, false);
  given.problem.containers.assign(1, {});
  for (Operation &op : given.problem.operations)
    op.container = 0;
  given.findTimes();
  LaunchLinks links = linksOf(given);
  Pieces pieces(given.problem, given.footprint, &links, /*mayOverride=*/false);
  ScheduleBuilder builder(given.problem);
  for (Choice inner : {Choice::Replay, Choice::ReplayPerUnit}) {
    std::vector<Choice> choices(given.problem.values.size(), Choice::Save);
    choices[large] = choices[last] = Choice::Replay;
    choices[middle] = inner;
    Sequence sequence = readSchedule(pieces, builder.build(choices), 100);
    EXPECT_EQ(sequence.byCell[pieces.cellOf[large]].size(), 2u);
    EXPECT_EQ(sequence.peak(), Meter(given.problem, given.footprint).measure(choices, 100).peak);
  }
}

/// Replays, shifts or removes something.
void change(Random &random, Sequence &sequence) {
  int exec = pick(random, static_cast<int>(sequence.execs.size()));
  if (!sequence.exists(exec) || sequence.execs[exec].step == sequence.order.back())
    return;
  int step = sequence.execs[exec].step, place = sequence.steps[step].place;
  int kind = pick(random, 4);
  if (kind < 2) {
    int slack = kind == 0 ? findSlackAhead(sequence, step) : findSlackBack(sequence, step);
    if (slack <= 0)
      return;
    int way = 1 + pick(random, slack);
    int64_t excess = sequence.excess();
    Shift shift;
    weigh(sequence, step, kind == 0 ? place + way : place - way, shift);
    apply(sequence, shift);
    ASSERT_EQ(sequence.excess(), excess + shift.growth);
    return;
  }
  if (kind == 2 && canRemove(sequence, exec))
    remove(sequence, exec);
  const std::vector<Pieces::Result> &results = sequence.pieceOf(exec).results;
  if (kind < 3 || results.empty())
    return;
  int item = sequence.execs[exec].firstItem + pick(random, static_cast<int>(results.size()));
  const std::vector<Sequence::Reader> readers = sequence.items[item].readers;
  Proposal proposal;
  if (!readers.empty() &&
      propose(sequence, item, readers[pick(random, static_cast<int>(readers.size()))], proposal))
    make(sequence, proposal);
}

TEST(Sequence, EveryChangeIsCounted) {
  Random random(3);
  int different = 0;
  for (int round = 0; round < problemCount(300); ++round) {
    Step step(random);
    Sequence sequence(step.pieces, 100);
    for (int i = 0; i < 60; ++i)
      change(random, sequence);
    ASSERT_NO_FATAL_FAILURE(judge(step, sequence, different)) << "round " << round;
  }
  EXPECT_LT(different, problemCount(300) / 100);
}

TEST(Sequence, AChangeIsTakenBack) {
  Random random(4);
  for (int round = 0; round < problemCount(300); ++round) {
    Step step(random);
    Sequence sequence(step.pieces, 100);
    for (int i = 0; i < 30; ++i)
      change(random, sequence);
    int64_t peak = sequence.peak(), excess = sequence.excess();
    double cost = sequence.cost();
    for (int exec = 0; exec < static_cast<int>(sequence.execs.size()); ++exec) {
      if (!sequence.exists(exec))
        continue;
      if (canRemove(sequence, exec))
        restore(sequence, remove(sequence, exec));
      int item = sequence.execs[exec].firstItem;
      Proposal proposal;
      bool isMade = !sequence.pieceOf(exec).results.empty();
      if (isMade && !sequence.items[item].readers.empty() &&
          propose(sequence, item, sequence.items[item].readers.front(), proposal))
        if (int made = make(sequence, proposal); made >= 0)
          takeBack(sequence, made, proposal.moved);
    }
    ASSERT_EQ(sequence.peak(), peak) << "round " << round;
    ASSERT_EQ(sequence.excess(), excess) << "round " << round;
    ASSERT_NEAR(sequence.cost(), cost, 1e-9) << "round " << round;
  }
}

TEST(Sequence, FirstFittingStepsAreAPlanOfTheSameCost) {
  Random random(6);
  int different = 0, fitting = 0, rounds = problemCount(300);
  for (int round = 0; round < rounds; ++round) {
    Step step(random);
    Sequence sequence(step.pieces, 100);
    for (int i = 0; i < 20; ++i)
      change(random, sequence);
    int64_t budget = sequence.peak() - sequence.peak() / 8;
    double cost = sequence.cost();
    sequence.profile.setBudget(budget);
    orderFirstFitting(sequence);
    ASSERT_NEAR(sequence.cost(), cost, 1e-9) << "round " << round;
    fitting += sequence.peak() <= budget;
    ASSERT_NO_FATAL_FAILURE(judge(step, sequence, different)) << "round " << round;
  }
  EXPECT_LT(different, rounds / 100);
  EXPECT_GT(fitting, rounds / 30);
}

TEST(SequencePlanner, PlansTakeWhatTheySay) {
  Random random(5);
  int found = 0, cheaper = 0;
  for (int round = 0; round < problemCount(60); ++round) {
    Step step(random, 30);
    const auto &[problem, footprint] = step.given;
    BudgetOptions options;
    options.evaluations = 500;
    options.effort = 0.01;
    BudgetPlanner inOrder(problem, footprint, options);
    int64_t budget = inOrder.followed().usage.peak * 7 / 10;
    std::optional<Plan> plain = inOrder.plan(budget);
    std::vector<std::vector<Choice>> starts = {plain ? plain->choices : inOrder.smallest().choices};
    std::vector<SequencePlan> plans, again;
    for (std::vector<SequencePlan> *each : {&plans, &again})
      *each = SequencePlanner(problem, footprint, step.links, options).plan(budget, starts);
    ASSERT_EQ(plans.size(), again.size());
    if (plans.empty())
      continue;
    const SequencePlan *plan = &plans.front();
    ++found;
    ASSERT_EQ(plan->order, again.front().order);
    ASSERT_EQ(plan->executions.size(), again.front().executions.size());
    auto ordered = reprise::checkpoint::sequence(problem, footprint, step.links, plan->order,
                                                 plan->executions);
    ASSERT_TRUE(ordered);
    ASSERT_FALSE(validate(ordered->step.problem, ordered->solution));
    Recount count = recount(ordered->step.problem, ordered->step.footprint, ordered->solution);
    ASSERT_EQ(count.peak, plan->usage.peak);
    ASSERT_EQ(count.cost, plan->usage.seconds);
    ASSERT_LE(count.peak, budget);
    cheaper += !plain || count.cost < plain->usage.seconds;
  }
  EXPECT_GT(found, 5);
  EXPECT_GT(cheaper, 2);
}

} // namespace
