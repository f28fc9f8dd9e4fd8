// reprise: tests of checkpoint problems as text
#include "../FootprintDefinition.h"
#include "../LaunchLinksOf.h"

#include "reprise/PlanTexts/Plan.h"
#include "reprise/Planning/Checkpoint/Problem/JoinLabels.h"
#include "reprise/Planning/Checkpoint/Problem/ProblemFile.h"
#include "reprise/Planning/Checkpoint/Problem/Recount.h"
#include "reprise/Planning/Checkpoint/Sequence/SequencePlanner.h"

#include <gtest/gtest.h>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

/// Draws a case as files express it: readers of a view are readers of its operand, and a view of an
/// argument is no buffer.
Case drawFileCase(Random &random) {
  Case given = makeCase(random, 5 + pick(random, 20), 30, pick(random, 2));
  for (size_t i = given.problem.operations.size(); i-- > 0;) {
    const Operation &op = given.problem.operations[i];
    if (given.footprint.launches[i] != kNoLaunch)
      continue;
    given.footprint.seconds[i] = 0;
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value) {
      if (op.operands.empty() || op.operands[0] == kAvailable) {
        given.problem.values[value].root = kAvailable;
        continue;
      }
      int &last = given.footprint.lastOutside[op.operands[0]];
      last = std::max(last, given.footprint.lastOutside[value]);
    }
  }
  for (Value &value : given.problem.values)
    if (value.root != kAvailable && given.problem.values[value.root].root == kAvailable)
      value.root = kAvailable;
  return given;
}

/// Draws a case whose labels hold for memory, as the labels of a file do.
Case makeFileCase(Random &random) {
  for (;;) {
    Case given = drawFileCase(random);
    if (!joinLabels(given.problem, findViews(given.problem)))
      return given;
  }
}

void sortOnce(std::vector<std::vector<int>> &lists) {
  for (std::vector<int> &list : lists) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
}

/// Makes links as files express them: each once, with readers of a view as readers of its operand.
LaunchLinks makeFileLinks(const Case &given) {
  LaunchLinks links = linksOf(given);
  for (size_t i = given.problem.operations.size(); i-- > 0;) {
    const Operation &op = given.problem.operations[i];
    if (given.footprint.launches[i] != kNoLaunch || op.operands.empty() ||
        op.operands[0] == kAvailable)
      continue;
    std::vector<int> &readers = links.outside[op.operands[0]];
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
      readers.insert(readers.end(), links.outside[value].begin(), links.outside[value].end());
  }
  for (size_t value = 0; value < links.outside.size(); ++value)
    if (int made = given.footprint.launches[given.problem.values[value].operation];
        made != kNoLaunch)
      for (int reader : links.outside[value])
        if (reader > made && reader < given.footprint.numLaunches)
          links.next[made].push_back(reader);
  for (auto *lists : {&links.next, &links.outside, &links.readers, &links.neighbourReaders})
    sortOnce(*lists);
  return links;
}

ProblemFile makeFile(const Case &given) {
  ProblemFile file;
  file.problem = given.problem;
  file.footprint = given.footprint;
  for (double seconds : given.footprint.seconds)
    file.totalCost += seconds;
  return file;
}

void expectEqual(const ProblemFile &a, const ProblemFile &b) {
  ASSERT_EQ(a.problem.operations.size(), b.problem.operations.size());
  ASSERT_EQ(a.problem.values.size(), b.problem.values.size());
  ASSERT_EQ(a.problem.containers.size(), b.problem.containers.size());
  for (size_t i = 0; i < a.problem.containers.size(); ++i)
    EXPECT_EQ(a.problem.containers[i].parent, b.problem.containers[i].parent);
  for (size_t i = 0; i < a.problem.operations.size(); ++i) {
    const Operation &x = a.problem.operations[i], &y = b.problem.operations[i];
    EXPECT_EQ(std::tie(x.container, x.body, x.order, x.primal, x.kind, x.flops, x.operands,
                       x.firstResult, x.numResults),
              std::tie(y.container, y.body, y.order, y.primal, y.kind, y.flops, y.operands,
                       y.firstResult, y.numResults));
  }
  for (size_t i = 0; i < a.problem.values.size(); ++i) {
    const Value &x = a.problem.values[i], &y = b.problem.values[i];
    EXPECT_EQ(std::tie(x.operation, x.bytes, x.root, x.label, x.outlives),
              std::tie(y.operation, y.bytes, y.root, y.label, y.outlives));
  }
  const Footprint &x = a.footprint, &y = b.footprint;
  EXPECT_EQ(x.numLaunches, y.numLaunches);
  EXPECT_EQ(x.launches, y.launches);
  EXPECT_EQ(x.times, y.times);
  EXPECT_EQ(x.seconds, y.seconds);
  EXPECT_EQ(x.scratch, y.scratch);
  for (size_t i = 0; i < a.problem.operations.size(); ++i)
    EXPECT_EQ(x.takesPlaces(a.problem, i), y.takesPlaces(b.problem, i));
  EXPECT_EQ(x.lastOutside, y.lastOutside);
  EXPECT_EQ(x.isStored, y.isStored);
  ASSERT_EQ(x.neighbours.size(), y.neighbours.size());
  for (size_t i = 0; i < x.neighbours.size(); ++i)
    EXPECT_EQ(std::tie(x.neighbours[i].first, x.neighbours[i].last, x.neighbours[i].bytes),
              std::tie(y.neighbours[i].first, y.neighbours[i].last, y.neighbours[i].bytes));
  EXPECT_EQ(a.totalCost, b.totalCost);
  ASSERT_EQ(a.links.has_value(), b.links.has_value());
  if (!a.links)
    return;
  std::vector<std::vector<int>> readers = b.links->readers;
  sortOnce(readers);
  EXPECT_EQ(a.links->readers, readers);
  EXPECT_EQ(a.links->next, b.links->next);
  EXPECT_EQ(a.links->outside, b.links->outside);
  EXPECT_EQ(a.links->neighbourReaders, b.links->neighbourReaders);
}

reprise::Plan planWithin(const std::string &text, int64_t budget) {
  reprise::PlanOptions options;
  options.budgets = {std::to_string(budget)};
  llvm::Expected<std::vector<reprise::Plan>> plans = reprise::planProblem(text, options);
  EXPECT_TRUE(static_cast<bool>(plans)) << llvm::toString(plans.takeError());
  return plans ? plans->front() : reprise::Plan();
}

/// A message about a small budget names the smallest budget found, and a plan meets it in the next
/// run.
TEST(ProblemFile, TheLeastBudgetThatIsNamedIsMet) {
  Random random(54);
  int refused = 0;
  for (int round = 0; round < problemCount(250); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Case given = makeFileCase(random);
    std::string text = writeProblemFile(makeFile(given));
    int64_t most = BudgetPlanner(given.problem, given.footprint).followed().usage.peak;
    for (int64_t percent = 80; most > 0 && percent >= 50; percent -= 10) {
      reprise::Plan plan = planWithin(text, most * percent / 100);
      if (plan.isFound || plan.need > plan.budget)
        continue;
      ++refused;
      reprise::Plan next = planWithin(text, plan.lowestPeak);
      EXPECT_TRUE(next.isFound) << plan.lowestPeak << ", " << next.lowestPeak << "\n" << text;
      break;
    }
  }
  EXPECT_GT(refused, 10);
}

/// REPRISE_FUZZ_PROBLEMS=100000 takes a minute.
TEST(ProblemFile, ReadsWhatItWrites) {
  Random random(51);
  for (int round = 0; round < problemCount(1500); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Case given = makeFileCase(random);
    ProblemFile file = makeFile(given), again;
    if (pick(random, 2))
      file.links = makeFileLinks(given);
    std::string text = writeProblemFile(file);
    ASSERT_TRUE(isProblemFile(text));
    ASSERT_EQ(readProblemFile(text, again), "") << text;
    expectEqual(file, again);
    ASSERT_FALSE(::testing::Test::HasFailure()) << text;
    EXPECT_EQ(writeProblemFile(again), text);
  }
}

/// Plans and judges the problem that is read from damaged text, if reading succeeds.
void planWhatIsRead(Random &random, const std::string &text) {
  ProblemFile file;
  if (!readProblemFile(text, file).empty())
    return;
  ASSERT_FALSE(validate(file.problem));
  BudgetOptions options;
  options.evaluations = 60;
  BudgetPlanner planner(file.problem, file.footprint, options);
  int64_t budget = planner.followed().usage.peak / 100 * (40 + pick(random, 70));
  std::optional<Plan> plan = planner.plan(budget);
  Bound bound = findBound(file.problem, file.footprint, budget);
  if (!plan)
    return;
  ScheduleBuilder builder(file.problem);
  Solution solution = describe(file.problem, builder.build(plan->choices));
  auto defect = validate(file.problem, solution);
  ASSERT_FALSE(defect) << defect->message << "\n" << text;
  Recount count = recount(file.problem, file.footprint, solution);
  EXPECT_EQ(count.peak, plan->usage.peak) << text;
  EXPECT_LE(count.peak, budget) << text;
  EXPECT_TRUE(bound.isFeasible) << text;
  EXPECT_LE(bound.seconds, plan->usage.seconds * (1 + 1e-9)) << text;
  if (!file.links)
    return;
  options.effort = 0.001;
  std::vector<SequencePlan> plans =
      SequencePlanner(file.problem, file.footprint, *file.links, options)
          .plan(budget, {planner.followed().choices});
  if (plans.empty())
    return;
  const SequencePlan &found = plans.front();
  ASSERT_TRUE(isPossible(*file.links, found.order));
  auto step = sequence(file.problem, file.footprint, *file.links, found.order, found.executions);
  ASSERT_TRUE(step);
  EXPECT_FALSE(validate(step->step.problem)) << text;
  EXPECT_FALSE(validate(step->step.problem, step->solution)) << text;
}

/// Damages a text: another number, another word, or a missing member.
std::string damage(Random &random, std::string text) {
  static const std::vector<std::string> words = {
      "null", "-1", "0",     "1e18", "0.5",      "1e400",    "9223372036854775807", "2147483647",
      "true", "[]", "\"x\"", "{}",   "\"view\"", "\"unit\"", "\"must_recompute\"",  "\"\\u12\""};
  for (int count = 1 + pick(random, 3); count > 0; --count) {
    size_t at = text.find_first_of("0123456789", pick(random, static_cast<int>(text.size())));
    if (at == std::string::npos)
      continue;
    size_t end = text.find_first_not_of("0123456789.e+", at);
    int what = pick(random, 4);
    std::string number = std::to_string(pick(random, 30));
    std::string word = words[pick(random, static_cast<int>(words.size()))];
    if (what == 3)
      text.erase(pick(random, static_cast<int>(text.size())), 1 + pick(random, 3));
    else
      text.replace(at, end - at, what == 0 ? word : number);
  }
  return text;
}

TEST(ProblemFile, DamagedTextIsRefusedOrPlanned) {
  Random random(53);
  int rounds = problemCount(3000), read = 0;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Case given = makeFileCase(random);
    ProblemFile whole = makeFile(given);
    if (pick(random, 2))
      whole.links = makeFileLinks(given);
    std::string text = damage(random, writeProblemFile(whole));
    planWhatIsRead(random, text);
    ASSERT_FALSE(::testing::Test::HasFailure());
    ProblemFile file;
    read += readProblemFile(text, file).empty();
  }
  EXPECT_GT(read, rounds / 20);
  EXPECT_LT(read, rounds);
}

} // namespace
