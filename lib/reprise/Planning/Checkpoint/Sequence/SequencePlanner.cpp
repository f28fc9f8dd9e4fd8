// reprise: the cheapest plan within a budget, as a sequence of executions
#include "reprise/Planning/Checkpoint/Sequence/SequencePlanner.h"

#include "Annealer.h"
#include "Executions.h"
#include "FirstFitting.h"
#include "reprise/Planning/Checkpoint/Problem/Recount.h"
#include "reprise/Planning/Checkpoint/Problem/Validate.h"

#include <algorithm>
#include <limits>

using namespace reprise::checkpoint;
using Choices = std::vector<Choice>;

std::optional<SequencedStep>
reprise::checkpoint::sequence(const Problem &problem, const Footprint &footprint,
                              const LaunchLinks &links, const LaunchOrder &order,
                              const std::vector<Execution> &executions) {
  SequencedStep sequenced{reorder(problem, footprint, links, order), {}};
  std::vector<int> numbers(problem.operations.size()); // per operation in program order
  for (size_t number = 0; number < numbers.size(); ++number)
    numbers[sequenced.step.operations[number]] = static_cast<int>(number);
  std::vector<Execution> moved = executions;
  std::vector<int> places(order.size()); // per launch
  for (size_t place = 0; place < order.size(); ++place)
    places[order[place]] = static_cast<int>(place);
  for (Execution &execution : moved) {
    for (int *operation : {&execution.operation, &execution.before})
      *operation = *operation < 0 ? -1 : numbers[*operation];
    execution.launch = execution.launch < 0 ? -1 : places[execution.launch];
  }
  std::optional<Schedule> schedule = placeExecutions(sequenced.step.problem, moved);
  if (!schedule)
    return std::nullopt;
  sequenced.solution = describe(sequenced.step.problem, *schedule);
  return sequenced;
}

std::optional<Usage> reprise::checkpoint::judge(const Problem &problem, const Footprint &footprint,
                                                const LaunchLinks &links, const LaunchOrder &order,
                                                const std::vector<Execution> &executions,
                                                bool isJoined) {
  auto found = sequence(problem, footprint, links, order, executions);
  if (!found || validate(found->step.problem, found->solution, isJoined))
    return std::nullopt;
  Recount count = recount(found->step.problem, found->step.footprint, found->solution);
  Usage usage;
  usage.peak = count.peak;
  usage.seconds = count.cost;
  usage.executions = static_cast<int>(found->solution.executions.size());
  return usage;
}

class SequencePlanner::Impl {
public:
  Impl(const Problem &problem, const Footprint &footprint, const LaunchLinks &links,
       BudgetOptions options);

  std::vector<SequencePlan> plan(int64_t budget, const std::vector<Choices> &starts);
  std::optional<SequencePlan> planLeast(const std::vector<Choices> &starts);
  bool isTruncated = false;

private:
  std::vector<Sequence> readAll(const Pieces &pieces, const std::vector<Choices> &starts,
                                int64_t budget);
  std::vector<Sequence> search(const Pieces &pieces, int64_t budget, double enough,
                               const std::vector<Choices> &starts);
  std::optional<SequencePlan> describe(Sequence sequence) const;

  const Problem &problem;
  const Footprint &footprint;
  const LaunchLinks &links;
  BudgetOptions options;
  ScheduleBuilder builder;
  double total = 0;  // seconds of one replay of everything
  int64_t moves = 0; // of one search
};

/// Moves take longer in longer sequences, so that a search of any length takes about as long.
SequencePlanner::Impl::Impl(const Problem &problem, const Footprint &footprint,
                            const LaunchLinks &links, BudgetOptions given)
    : problem(problem), footprint(footprint), links(links), options(std::move(given)),
      builder(problem) {
  static constexpr double kMost = 4e6, kSteps = 2e9;
  for (double each : footprint.seconds)
    total += each;
  moves = static_cast<int64_t>(options.effort *
                               std::min(kMost, kSteps / std::max(1, footprint.numLaunches)));
}

/// Returns the plan of a sequence; none if the judge of solutions refuses it.
std::optional<SequencePlan> SequencePlanner::Impl::describe(Sequence sequence) const {
  settle(sequence);
  SequencePlan plan{listLaunches(sequence), listExecutions(sequence), {}};
  auto usage = judge(problem, footprint, links, plan.order, plan.executions, /*isJoined=*/true);
  if (!usage)
    return std::nullopt;
  plan.usage = *usage;
  return plan;
}

std::vector<Sequence> SequencePlanner::Impl::readAll(const Pieces &pieces,
                                                     const std::vector<Choices> &starts,
                                                     int64_t budget) {
  std::vector<Sequence> sequences;
  for (const Choices &choices : starts)
    if (const Schedule &schedule = builder.build(choices); schedule.isWhole)
      sequences.push_back(readSchedule(pieces, schedule, budget));
  return sequences;
}

namespace {
enum class Start { Given, Best };
struct Run {
  double share; ///< of all moves
  Cooling cooling;
  Start start;
};
} // namespace

/// Lists the runs of a search. Neither a hot start nor a cold one is better everywhere, nor one
/// price of excess; long sequences get one long run.
static std::vector<Run> listRuns(int launches) {
  static constexpr int kMany = 400;
  double few = 100.0 / std::max(1, launches); // percent, of a launch
  if (launches > kMany)
    return {{0.15, {0, 1, 20, 1, 0}, Start::Given},
            {0.8, {0, 1, 5, 0.9, 0.0005}, Start::Given},
            {0.25, {0, 1.5 * few, 5, 0.9, 0.0005}, Start::Best}};
  return {{0.6, {0, 1, 3, 0.7, 0.05}, Start::Given},   {0.1, {0, 0.1, 1, 0.7, 0.05}, Start::Given},
          {0.3, {0, 4, 4, 0.7, 0.05}, Start::Given},   {0.2, {0, 10, 40, 0.7, 0.05}, Start::Given},
          {0.2, {0, 0.2, 20, 0.7, 0.05}, Start::Best}, {0.2, {0, 3, 300, 0.7, 0.05}, Start::Best}};
}

/// Orders a sequence that exceeds its budget by bytes that are fewer and fewer, and keeps the order
/// that comes nearest to the budget.
static void orderWithin(Sequence &sequence, Annealer &annealer) {
  static constexpr int kLeftPercent[] = {0, 2, 5, 10, 20};
  annealer.offer(sequence);
  if (sequence.excess() == 0)
    return;
  const Sequence start = sequence;
  int64_t budget = start.profile.budget;
  for (int percent : kLeftPercent) {
    if (sequence.excess() == 0)
      return;
    Sequence next = start;
    next.profile.setBudget(budget - budget * percent / 100);
    orderFirstFitting(next);
    next.profile.setBudget(budget);
    annealer.offer(next);
    if (next.excess() < sequence.excess())
      sequence = std::move(next);
  }
}

/// Runs start from the given plans in turns, or from the best sequence so far.
std::vector<Sequence> SequencePlanner::Impl::search(const Pieces &pieces, int64_t budget,
                                                    double enough,
                                                    const std::vector<Choices> &starts) {
  std::vector<Sequence> sequences = readAll(pieces, starts, budget), best;
  Annealer annealer(pieces, budget, total, enough, options.isOver);
  auto collect = [&] {
    if (annealer.best() && (best.empty() || annealer.best()->cost() < best.back().cost()))
      best.push_back(*annealer.best());
  };
  for (Sequence &sequence : sequences)
    orderWithin(sequence, annealer);
  collect();
  uint64_t seed = 0;
  for (const Run &run : listRuns(pieces.numLaunches)) {
    if (sequences.empty())
      break;
    bool fromBest = run.start == Start::Best && annealer.best();
    const Sequence &start = fromBest ? *annealer.best() : sequences[seed % sequences.size()];
    Cooling cooling = run.cooling;
    cooling.moves = static_cast<int64_t>(run.share * static_cast<double>(moves));
    annealer.run(start, cooling, ++seed);
    collect();
  }
  isTruncated |= annealer.isTruncated();
  std::reverse(best.begin(), best.end());
  return best;
}

std::vector<SequencePlan> SequencePlanner::Impl::plan(int64_t budget,
                                                      const std::vector<Choices> &starts) {
  static constexpr double kNear = 0.002;
  Bound bound = findAnyOrderBound(problem, footprint, budget, 4, options.isLate);
  if (!bound.isFeasible)
    return {};
  Pieces pieces(problem, footprint, &links, /*mayOverride=*/false);
  std::vector<SequencePlan> plans;
  for (const Sequence &sequence : search(pieces, budget, bound.seconds + kNear * total, starts))
    if (auto plan = describe(sequence); plan && plan->usage.peak <= budget)
      plans.push_back(std::move(*plan));
  return plans;
}

std::optional<SequencePlan> SequencePlanner::Impl::planLeast(const std::vector<Choices> &starts) {
  static constexpr double kShare = 0.25, kHottest = 3, kPrice = 300;
  Pieces pieces(problem, footprint, &links, /*mayOverride=*/false);
  std::vector<Sequence> sequences = readAll(pieces, starts, 0);
  if (sequences.empty())
    return std::nullopt;
  Sequence least =
      *std::min_element(sequences.begin(), sequences.end(),
                        [](const Sequence &a, const Sequence &b) { return a.peak() < b.peak(); });
  uint64_t seed = 0;
  stepDown(least.peak(), [&](int64_t budget) {
    Annealer annealer(pieces, budget, total, std::numeric_limits<double>::infinity(),
                      options.isOver);
    least.profile.setBudget(budget);
    Cooling cooling{static_cast<int64_t>(kShare * static_cast<double>(moves)), kHottest, kPrice};
    annealer.run(least, cooling, ++seed);
    isTruncated |= annealer.isTruncated();
    least = annealer.smallest();
    return least.peak();
  });
  return describe(least);
}

SequencePlanner::SequencePlanner(const Problem &problem, const Footprint &footprint,
                                 const LaunchLinks &links, BudgetOptions options)
    : impl(std::make_unique<Impl>(problem, footprint, links, std::move(options))) {}
SequencePlanner::~SequencePlanner() = default;
std::vector<SequencePlan> SequencePlanner::plan(int64_t budget,
                                                const std::vector<Choices> &starts) {
  return impl->plan(budget, starts);
}
std::optional<SequencePlan> SequencePlanner::planLeast(const std::vector<Choices> &starts) {
  return impl->planLeast(starts);
}
bool SequencePlanner::isTruncated() const { return impl->isTruncated; }
