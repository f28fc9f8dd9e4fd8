// reprise: plans of a checkpoint problem within budgets
#include "reprise/PlanTexts/Plan.h"

#include "reprise/Planning/Checkpoint/Budget/OrderedPlanner.h"
#include "reprise/Planning/Checkpoint/Problem/ProblemFile.h"
#include "reprise/Planning/Checkpoint/Problem/Recount.h"
#include "reprise/Planning/Checkpoint/Problem/Validate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace reprise {

namespace {

using namespace checkpoint;

/// Result for one budget, before it is judged.
struct Answer {
  int64_t budget = 0;
  std::optional<checkpoint::Plan> plan;
  LaunchOrder order;                         ///< empty: that of the file
  std::shared_ptr<const ReorderedStep> step; ///< step of the plan, if it has an order
  Bound bound;                               ///< lower bound for the budget
  double leastCost = 0;                      ///< least cost of plans with the allowed bytes
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
  void searchOrders(Answer &answer, BudgetPlanner &planner, const BudgetOptions &search) const;
  void setOrder(Answer &answer, const OrderedPlan &found, int64_t budget,
                const BudgetOptions &search) const;
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
  std::string write(const reprise::Plan &plan, const Answer &answer, const Solution &solution,
                    const Schedule &schedule) const;
  void writeValues(const Answer &answer, const Solution &solution, llvm::raw_ostream &out) const;
  void writeExecutions(const Answer &answer, const Schedule &schedule,
                       llvm::raw_ostream &out) const;
  const Problem &problemOf(const Answer &answer) const {
    return answer.step ? answer.step->problem : file.problem;
  }

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
    searchOrders(answer, planner, budgetOptions);
  if (!answer.plan)
    descend(answer, planner, budgetOptions);
  if (!answer.step)
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

/// Searches by descents, whose results do not depend on the budget. The smallest budget in an error
/// is therefore met whenever a user asks for it.
void Planning::descend(Answer &answer, BudgetPlanner &planner, const BudgetOptions &search) const {
  answer.lowestPeak = planner.descend().plans.back().usage.peak;
  std::optional<OrderedPlan> ordered;
  if (file.links) {
    ordered = descendInOrders(file.problem, file.footprint, *file.links, search);
    answer.lowestPeak = std::min(answer.lowestPeak, ordered->plan.usage.peak);
  }
  if (answer.lowestPeak > answer.budget && !options.orLeast)
    return;
  if (ordered && ordered->plan.usage.peak == answer.lowestPeak)
    setOrder(answer, *ordered, std::max(answer.budget, answer.lowestPeak), search);
  else
    answer.plan = planner.planLeast();
}

static std::pair<int64_t, double> costOf(const checkpoint::Plan &plan) {
  return {plan.overridden, plan.usage.seconds};
}

/// Sets the plan in that order. If it has its own choices, the search runs again in that order,
/// which may be cheaper.
void Planning::setOrder(Answer &answer, const OrderedPlan &found, int64_t budget,
                        const BudgetOptions &search) const {
  auto step = std::make_shared<ReorderedStep>(
      reorder(file.problem, file.footprint, *file.links, found.order));
  BudgetPlanner planner(step->problem, step->footprint, search);
  std::vector<Choice> choices;
  for (int value : step->values)
    choices.push_back(found.plan.choices[value]);
  std::optional<checkpoint::Plan> plan = planner.addStart(std::move(choices));
  plan->overridden = found.plan.overridden;
  if (wantsOrderedChoices(file.problem, file.footprint))
    plan = planner.plan(budget);
  answer.isTruncated |= planner.isTruncated();
  if (!plan || plan->usage.peak > budget || (answer.plan && costOf(*answer.plan) <= costOf(*plan)))
    return;
  answer.plan = std::move(plan);
  answer.order = found.order;
  answer.step = std::move(step);
}

/// Searches other orders of the launches, which may be cheaper than replays. Their bound is that of
/// all orders.
void Planning::searchOrders(Answer &answer, BudgetPlanner &planner,
                            const BudgetOptions &search) const {
  Bound bound = findAnyOrderBound(file.problem, file.footprint, answer.budget, 4, search.isLate);
  bool mayWin =
      !answer.plan || answer.plan->overridden > 0 || answer.plan->usage.seconds > bound.seconds;
  const checkpoint::Plan &followed = planner.followed();
  if (bound.isFeasible && mayWin) {
    OrderedPlanner orders(file.problem, file.footprint, *file.links, search);
    std::vector<Choice> all(file.problem.values.size(), Choice::Save);
    std::optional<OrderedPlan> found;
    if (wantsOrderedChoices(file.problem, file.footprint)) {
      std::vector<OrderedPlan> plans =
          orders.plan(answer.budget, {(answer.plan ? *answer.plan : planner.smallest()).choices,
                                      followed.choices, all});
      if (!plans.empty())
        found = std::move(plans.front());
    } else if (!answer.plan || costOf(followed) < costOf(*answer.plan)) {
      found = orders.order(answer.budget, followed.choices);
    }
    answer.isTruncated |= orders.isTruncated();
    if (found)
      setOrder(answer, *found, answer.budget, search);
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
        answer.step = other.step;
      }
}

std::string Planning::nameLaunch(int launch) const {
  auto found = llvm::find(file.footprint.launches, launch);
  std::string name = found == file.footprint.launches.end()
                         ? ""
                         : file.operationNames[found - file.footprint.launches.begin()];
  return "launch " + std::to_string(launch) + (name.empty() ? "" : " ('" + name + "')");
}

/// Judges a plan by the validator of solutions, and by a recount that shares no code with the
/// search.
llvm::Error Planning::judgeChoices(const Answer &answer, reprise::Plan &plan) {
  const Problem &problem = problemOf(answer);
  ScheduleBuilder builder(problem);
  const Schedule &schedule = builder.build(answer.plan->choices);
  Solution solution = describe(problem, schedule);
  if (auto defect = validate(problem, solution, /*isJoined=*/true))
    return llvm::createStringError("the plan is wrong: " + defect->message);
  if (answer.step && !isPossible(*file.links, answer.order))
    return llvm::createStringError("the plan is wrong: its launches cannot run in that order");
  Recount found = recount(problem, answer.step ? answer.step->footprint : file.footprint, solution);
  if (found.peak != answer.plan->usage.peak ||
      found.peak > std::max(answer.budget, answer.lowestPeak))
    return llvm::createStringError(
        llvm::formatv("the plan is wrong: its peak is {0}, not {1}, and the budget {2}", found.peak,
                      answer.plan->usage.peak, answer.budget));
  plan.peak = found.peak;
  plan.cost = found.cost;
  plan.extraCost = percent(found.cost);
  plan.executions = schedule.runs.size();
  plan.overridden = answer.plan->overridden;
  if (file.links)
    plan.isReordered = answer.step != nullptr;
  if (options.isWritten)
    plan.text = write(plan, answer, solution, schedule);
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
    places[answer.step ? answer.step->values[place] : place] = place;
  for (auto [id, place] : llvm::enumerate(places)) {
    Decision decision = solution.decisions[place];
    out << (id > 0 ? ",\n" : "\n") << "    {\"value\": " << id;
    writeName(file.valueNames[id], out);
    // A value that is not replayed, or never read back, needs no choice.
    Choice choice = decision == Decision::Replayed ? answer.plan->choices[place] : Choice::Save;
    out << ", \"decision\": \"" << getText(decision) << "\", \"choice\": \"" << getText(choice)
        << "\"}";
  }
}

void Planning::writeExecutions(const Answer &answer, const Schedule &schedule,
                               llvm::raw_ostream &out) const {
  for (auto [place, run] : llvm::enumerate(schedule.runs)) {
    int operation = answer.step ? answer.step->operations[run.operation] : run.operation;
    out << (place > 0 ? ",\n" : "\n") << "    {\"operation\": " << operation;
    writeName(file.operationNames[operation], out);
    out << ", \"replay\": " << run.replay << ", \"sources\": [";
    auto sources = llvm::ArrayRef(schedule.sources)
                       .slice(run.firstSource, file.problem.operations[operation].operands.size());
    llvm::interleaveComma(sources, out, [&](int source) {
      if (source < 0)
        out << "null";
      else
        out << source;
    });
    out << "]}";
  }
}

std::string Planning::write(const reprise::Plan &plan, const Answer &answer,
                            const Solution &solution, const Schedule &schedule) const {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "{\n  \"version\": 1,\n  \"budget\": " << plan.budget << ",\n  \"peak\": " << plan.peak
      << ",\n  ";
  if (answer.step) {
    out << "\"order\": [";
    llvm::interleaveComma(answer.order, out);
    out << "],\n  ";
  }
  out << "\"values\": [";
  writeValues(answer, solution, out);
  out << "\n  ],\n  \"executions\": [";
  writeExecutions(answer, schedule, out);
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
