// reprise: plans of a checkpoint problem within budgets
#include "reprise/PlanTexts/Plan.h"

#include "reprise/Planning/Checkpoint/Problem/ProblemFile.h"
#include "reprise/Planning/Checkpoint/Problem/Recount.h"
#include "reprise/Planning/Checkpoint/Problem/Validate.h"
#include "reprise/Planning/Checkpoint/Sequence/SequencePlanner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

namespace reprise {

namespace {

using namespace checkpoint;

/// Plan for one budget, before it is judged.
struct Answer {
  int64_t budget = 0;
  std::optional<checkpoint::Plan> plan;
  /// The step of the plan, with its executions, if the plan is a sequence.
  std::shared_ptr<const SequencedStep> sequenced;
  LaunchOrder order;    ///< order of a sequence
  Bound bound;          ///< bound of the budget
  double leastCost = 0; ///< lower bound for plans of the bytes that this one may take
  int64_t lowestPeak = 0;
  bool isTruncated = false;
  double seconds = 0;
};

class Planning {
public:
  Planning(const ProblemFile &file, const PlanOptions &options)
      : file(file), options(options), meter(file.problem, file.footprint) {}

  llvm::Expected<std::vector<reprise::Plan>> run();

private:
  void search(int64_t budget);
  void searchSequences(Answer &answer, BudgetPlanner &planner, const BudgetOptions &search) const;
  std::vector<std::vector<Choice>> listStarts(const Answer &answer, BudgetPlanner &planner) const;
  void take(Answer &answer, const SequencePlan &found) const;
  void findOwnBound(Answer &answer, const BudgetOptions &search) const;
  void descend(Answer &answer, BudgetPlanner &planner, const BudgetOptions &search) const;
  void compete();
  llvm::Expected<reprise::Plan> judge(const Answer &answer);
  llvm::Error judgeChoices(const Answer &answer, reprise::Plan &plan);
  /// Returns percent of the total cost. If bytes have a cost, every plan has a cost, so costs are
  /// relative to the plan of the labels.
  double percent(double cost) const {
    return file.totalCost > 0 ? 100 * (cost - usual) / file.totalCost : 0;
  }
  std::string nameLaunch(int launch) const;
  std::string write(const reprise::Plan &plan, const Answer &answer,
                    const Solution &solution) const;
  void writeValues(const Answer &answer, const Solution &solution, llvm::raw_ostream &out) const;
  void writeExecutions(const Answer &answer, const Solution &solution,
                       llvm::raw_ostream &out) const;

  const ProblemFile &file;
  const PlanOptions &options;
  double usual = 0; // cost of the plan that follows the labels
  Meter meter;
  std::vector<Answer> answers;
};

} // namespace

void Planning::search(int64_t budget) {
  Stopwatch watch(options.timeLimit, options.isCancelled);
  BudgetOptions budgetOptions;
  if (watch.mayEnd()) {
    budgetOptions.isOver = [&] { return watch.isOver(); };
    budgetOptions.isLate = [&] { return watch.isLate(); };
  }
  BudgetPlanner planner(file.problem, file.footprint, budgetOptions);
  if (file.footprint.byteSeconds > 0)
    usual = planner.followed().usage.seconds;
  Answer answer;
  answer.budget = budget;
  answer.plan = planner.plan(budget);
  if (file.links)
    searchSequences(answer, planner, budgetOptions);
  if (!answer.plan)
    descend(answer, planner, budgetOptions);
  if (!answer.sequenced)
    findOwnBound(answer, budgetOptions);
  answer.isTruncated |= planner.isTruncated();
  answer.seconds = watch.seconds();
  answers.push_back(std::move(answer));
}

/// Finds the lower bound over plans in the order of the file. Without a plan that fits, the bound
/// of all orders stays.
void Planning::findOwnBound(Answer &answer, const BudgetOptions &search) const {
  auto find = [&](int64_t budget) {
    return findBound(file.problem, file.footprint, budget, 4, search.isLate);
  };
  int64_t within = answer.plan ? std::max(answer.budget, answer.plan->usage.peak) : answer.budget;
  bool fits = answer.plan && within == answer.budget;
  if (!file.links || fits)
    answer.bound = find(answer.budget);
  if (!answer.plan)
    return;
  answer.leastCost = within > answer.budget ? find(within).seconds : answer.bound.seconds;
  if (answer.plan->usage.seconds > answer.leastCost)
    answer.leastCost =
        std::max(answer.leastCost, findJointBound(file.problem, file.footprint, within,
                                                  answer.plan->usage.seconds, 60, search.isLate));
}

/// Descents do not depend on the budget. So the least budget that an error names is met whenever it
/// is asked for.
void Planning::descend(Answer &answer, BudgetPlanner &planner, const BudgetOptions &search) const {
  answer.lowestPeak = planner.descend().plans.back().usage.peak;
  std::optional<SequencePlan> least;
  if (file.links) {
    SequencePlanner sequences(file.problem, file.footprint, *file.links, search);
    std::vector<std::vector<Choice>> starts{planner.descend().plans.back().choices,
                                            planner.followed().choices};
    starts.emplace_back(file.problem.values.size(), Choice::Save);
    least = sequences.planLeast(starts);
    if (least)
      answer.lowestPeak = std::min(answer.lowestPeak, least->usage.peak);
  }
  if (answer.lowestPeak > answer.budget && !options.orLeast)
    return;
  if (least && least->usage.peak == answer.lowestPeak)
    take(answer, *least);
  else
    answer.plan = planner.planLeast();
}

static std::pair<int64_t, double> costOf(const checkpoint::Plan &plan) {
  return {plan.overridden, plan.usage.seconds};
}

/// Makes the sequence the answer, if it is cheaper than the plan so far.
void Planning::take(Answer &answer, const SequencePlan &found) const {
  if (answer.plan && answer.plan->usage.peak <= answer.budget &&
      costOf(*answer.plan) <= std::make_pair(int64_t{0}, found.usage.seconds))
    return;
  std::optional<SequencedStep> step =
      sequence(file.problem, file.footprint, *file.links, found.order, found.executions);
  answer.sequenced = std::make_shared<const SequencedStep>(std::move(*step));
  answer.order = found.order;
  answer.plan = checkpoint::Plan{{}, found.usage};
}

std::vector<std::vector<Choice>> Planning::listStarts(const Answer &answer,
                                                      BudgetPlanner &planner) const {
  return {(answer.plan ? *answer.plan : planner.smallest()).choices, planner.followed().choices,
          std::vector<Choice>(file.problem.values.size(), Choice::Save)};
}

/// A sequence in any order of the launches may be cheaper than choices. Its bound is that of all
/// orders.
void Planning::searchSequences(Answer &answer, BudgetPlanner &planner,
                               const BudgetOptions &search) const {
  Bound bound = findAnyOrderBound(file.problem, file.footprint, answer.budget, 4, search.isLate);
  bool mayWin =
      !answer.plan || answer.plan->overridden > 0 || answer.plan->usage.seconds > bound.seconds;
  if (bound.isFeasible && mayWin) {
    SequencePlanner sequences(file.problem, file.footprint, *file.links, search);
    std::vector<SequencePlan> found = sequences.plan(answer.budget, listStarts(answer, planner));
    answer.isTruncated |= sequences.isTruncated();
    if (!found.empty())
      take(answer, found.front());
  }
  answer.leastCost = bound.seconds;
  answer.bound = std::move(bound);
}

/// Plans of all budgets compete for each, so that more bytes never cost more.
void Planning::compete() {
  std::vector<Answer> others = answers;
  for (Answer &answer : answers)
    for (const Answer &other : others)
      if (other.plan && other.plan->usage.peak <= answer.budget &&
          (!answer.plan || answer.plan->usage.peak > answer.budget ||
           costOf(*other.plan) < costOf(*answer.plan))) {
        answer.plan = other.plan;
        answer.order = other.order;
        answer.sequenced = other.sequenced;
      }
}

std::string Planning::nameLaunch(int launch) const {
  auto found = llvm::find(file.footprint.launches, launch);
  std::string name = found == file.footprint.launches.end()
                         ? ""
                         : file.operationNames[found - file.footprint.launches.begin()];
  return "launch " + std::to_string(launch) + (name.empty() ? "" : " ('" + name + "')");
}

/// Judges the plan by the judge of solutions, and by a count that shares nothing with the search.
llvm::Error Planning::judgeChoices(const Answer &answer, reprise::Plan &plan) {
  const SequencedStep *sequenced = answer.sequenced.get();
  const Problem &problem = sequenced ? sequenced->step.problem : file.problem;
  const Footprint &footprint = sequenced ? sequenced->step.footprint : file.footprint;
  Solution solution = sequenced
                          ? sequenced->solution
                          : describe(problem, ScheduleBuilder(problem).build(answer.plan->choices));
  if (auto defect = validate(problem, solution, /*isJoined=*/true))
    return llvm::createStringError("the plan is wrong: " + defect->message);
  if (sequenced && !isPossible(*file.links, answer.order))
    return llvm::createStringError("the plan is wrong: its launches cannot run in that order");
  Recount found = recount(problem, footprint, solution);
  if (found.peak != answer.plan->usage.peak ||
      found.peak > std::max(answer.budget, answer.lowestPeak))
    return llvm::createStringError(
        llvm::formatv("the plan is wrong: its peak is {0}, not {1}, and the budget {2}", found.peak,
                      answer.plan->usage.peak, answer.budget));
  plan.peak = found.peak;
  plan.cost = found.cost;
  plan.extraCost = percent(found.cost);
  plan.executions = solution.executions.size();
  plan.overridden = answer.plan->overridden;
  if (file.links)
    plan.isReordered = sequenced != nullptr;
  if (options.isWritten)
    plan.text = write(plan, answer, solution);
  return llvm::Error::success();
}

llvm::Expected<reprise::Plan> Planning::judge(const Answer &answer) {
  reprise::Plan plan;
  plan.budget = answer.budget;
  plan.isFound = answer.plan.has_value();
  plan.bound = percent(answer.plan ? answer.leastCost : answer.bound.seconds);
  plan.seconds = answer.seconds;
  plan.isTruncated = answer.isTruncated;
  plan.lowestPeak = answer.lowestPeak;
  if (!answer.bound.isFeasible) {
    plan.place = file.links ? "every order of the launches" : nameLaunch(answer.bound.launch);
    plan.need = answer.budget + answer.bound.missing;
  }
  if (!plan.isFound)
    return plan;
  if (plan.need > answer.plan->usage.peak)
    return llvm::createStringError("the bound is wrong: a plan was found within " +
                                   std::to_string(answer.plan->usage.peak));
  if (llvm::Error error = judgeChoices(answer, plan))
    return error;
  return plan;
}

llvm::Expected<std::vector<reprise::Plan>> Planning::run() {
  std::vector<Choice> all(file.problem.values.size(), Choice::Save);
  int64_t peak = meter.measure(all, INT64_MAX).peak;
  llvm::Expected<std::vector<int64_t>> budgets = parseBudgets(options.budgets, peak);
  if (!budgets)
    return budgets.takeError();
  for (int64_t budget : *budgets) {
    if (options.isCancelled && options.isCancelled())
      return llvm::createStringError("the search was cancelled");
    search(budget);
  }
  compete();
  std::vector<reprise::Plan> plans;
  for (const Answer &answer : answers) {
    llvm::Expected<reprise::Plan> plan = judge(answer);
    if (!plan)
      return plan.takeError();
    plans.push_back(std::move(*plan));
  }
  shareLowestPeak(plans);
  return plans;
}

static void writeName(llvm::StringRef name, llvm::raw_ostream &out) {
  if (!name.empty())
    out << ", \"name\": \"" << name << "\"";
}

void Planning::writeValues(const Answer &answer, const Solution &solution,
                           llvm::raw_ostream &out) const {
  std::vector<size_t> places(solution.decisions.size()); // place in the plan's order, per value
  for (size_t place = 0; place < places.size(); ++place)
    places[answer.sequenced ? answer.sequenced->step.values[place] : place] = place;
  for (auto [id, place] : llvm::enumerate(places)) {
    Decision decision = solution.decisions[place];
    out << (id > 0 ? ",\n" : "\n") << "    {\"value\": " << id;
    writeName(file.valueNames[id], out);
    // A value that is not replayed, or that is never read back, needs no choice.
    bool isReplayed = decision == Decision::Replayed;
    Choice choice = !isReplayed        ? Choice::Save
                    : answer.sequenced ? Choice::Replay
                                       : answer.plan->choices[place];
    out << ", \"decision\": \"" << getText(decision) << "\", \"choice\": \"" << getText(choice)
        << "\"}";
  }
}

void Planning::writeExecutions(const Answer &answer, const Solution &solution,
                               llvm::raw_ostream &out) const {
  const Problem &problem = answer.sequenced ? answer.sequenced->step.problem : file.problem;
  std::map<std::pair<int, int>, size_t> places;
  for (auto [place, execution] : llvm::enumerate(solution.executions)) {
    int operation = answer.sequenced ? answer.sequenced->step.operations[execution.operation]
                                     : execution.operation;
    places[{execution.operation, execution.replay}] = place;
    out << (place > 0 ? ",\n" : "\n") << "    {\"operation\": " << operation;
    writeName(file.operationNames[operation], out);
    out << ", \"replay\": " << execution.replay << ", \"sources\": [";
    auto reads = llvm::zip(problem.operations[execution.operation].operands, execution.sources);
    llvm::interleaveComma(reads, out, [&](auto read) {
      auto [operand, source] = read;
      if (operand == kAvailable)
        out << "null";
      else
        out << places.at({problem.values[operand].operation, source});
    });
    out << "]}";
  }
}

std::string Planning::write(const reprise::Plan &plan, const Answer &answer,
                            const Solution &solution) const {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "{\n  \"version\": 1,\n  \"budget\": " << plan.budget << ",\n  \"peak\": " << plan.peak
      << ",\n  ";
  if (answer.sequenced) {
    out << "\"order\": [";
    llvm::interleaveComma(answer.order, out);
    out << "],\n  ";
  }
  out << "\"values\": [";
  writeValues(answer, solution, out);
  out << "\n  ],\n  \"executions\": [";
  writeExecutions(answer, solution, out);
  out << "\n  ]\n}\n";
  return text;
}

llvm::Expected<std::vector<reprise::Plan>> planProblem(llvm::StringRef text,
                                                       const PlanOptions &options) {
  ProblemFile file;
  if (std::string wrong = readProblemFile(text, file); !wrong.empty())
    return llvm::createStringError(options.path + ": " + wrong);
  return Planning(file, options).run();
}

} // namespace reprise
