// reprise: the cheapest schedule of a graph within a budget
#include "reprise/Planning/Checkpoint/Graph/GraphPlanner.h"

#include "../Sequence/Annealer.h"
#include "../Sequence/Executions.h"
#include "ReadExecutions.h"
#include "SearchBackward.h"

#include <algorithm>

using namespace reprise;
using namespace reprise::checkpoint;

/// Operations of a graph that gets one long run, of one that gets it from the best schedule, and of
/// one that takes the search from the end seconds.
static constexpr size_t kLarge = 250, kHuge = 4096, kSearched = 65'536;

namespace {

enum class Start {
  Order,
  Best,
  Given,      // the best, if it was given, is not beaten yet and far from the bound
  Far,        // the best, if a schedule was given and the best is still far from the bound
  NothingFits // in order, if there is nothing yet
};

struct Run {
  double share; ///< share of all moves
  Cooling cooling;
  Start start;
};

class Planner {
public:
  Planner(const Graph &graph, int64_t budget, const IsOver &isOver, double effort)
      : graph(graph), budget(budget), isOver(isOver), effort(effort) {
    for (double each : graph.footprint.seconds)
      total += each;
  }
  GraphPlan plan();

private:
  void take(SequencePlan plan);
  void takeCheapest(const std::vector<Executions> &starts);
  std::vector<Executions> searchFromEnd() const;
  void anneal(const std::vector<Executions> &starts);
  void runAll(Annealer &annealer, const Pieces &pieces, bool isGiven);
  int64_t findLowestPeak(int64_t peak) const;

  const Graph &graph;
  int64_t budget;
  const IsOver &isOver;
  double effort, total = 0, enough = 0;
  GraphPlan answer;
};

} // namespace

/// Counts a plan as the judges see it, and makes it the answer if it is the cheapest one.
void Planner::take(SequencePlan plan) {
  auto usage = judge(graph.problem, graph.footprint, graph.links, plan.order, plan.executions,
                     /*isJoined=*/false);
  if (!usage)
    return;
  plan.usage = *usage;
  if (usage->peak <= budget && (!answer.plan || usage->seconds < answer.plan->usage.seconds))
    answer.plan = std::move(plan);
}

void Planner::takeCheapest(const std::vector<Executions> &starts) {
  auto costOf = [&](const Executions &executions) {
    double cost = 0;
    for (int operation : executions)
      cost += graph.footprint.seconds[operation];
    return cost;
  };
  auto best = std::min_element(
      starts.begin(), starts.end(),
      [&](const Executions &one, const Executions &other) { return costOf(one) < costOf(other); });
  if (best != starts.end())
    take(toPlan(graph.problem, *best));
}

std::vector<Executions> Planner::searchFromEnd() const {
  static constexpr size_t kSteps = 10'000;
  for (bool byBytes : {true, false})
    if (auto found = searchBackward(graph.problem, budget, byBytes, kSteps))
      return {std::move(*found)};
  return {};
}

/// Lists runs. Neither a hot start nor a cold one is better everywhere, nor one price of bytes.
/// Large graphs get one long run and a colder one after it. If no run from the order fits, the
/// given schedule is far from the least cost, and a high price keeps it from being lost.
static std::vector<Run> listRuns(size_t count) {
  double few = 100 / static_cast<double>(count); // percent, of an operation
  if (count > kHuge)
    return {{1, {0, few, 20, 0.9, 0.0005}, Start::Best}};
  if (count > kLarge)
    return {{0.15, {0, 1, 20, 1, 0}, Start::Order},
            {0.8, {0, 1, 3, 0.9, 0.0005}, Start::Order},
            {0.25, {0, 5 * few, 3, 0.9, 0.0005}, Start::Best},
            {0.15, {0, 3 * few, 10, 0.9, 0.0005}, Start::Best},
            {0.25, {0, 10 * few, 300, 0.4, 0.0005}, Start::Given},
            {0.5, {0, 4, 40, 0.9, 0.02}, Start::NothingFits}};
  return {{0.2, {0, 1, 3, 0.8, 0.0005}, Start::Order},
          {0.1, {0, 0.1, 1, 0.8, 0.0005}, Start::Order},
          {0.3, {0, 4, 4, 0.9, 0.0005}, Start::Order},
          {0.2, {0, 10, 40, 0.8, 0.05}, Start::Order},
          {0.2, {0, 0.2, 20, 0.8, 0.02}, Start::Best},
          {0.2, {0, 3, 300, 0.8, 0.05}, Start::Given},
          {0.2, {0, 10, 1000, 0.8, 0.05}, Start::Given},
          {std::min(1.0, few), {0, 10, 1000, 0.8, 0.05}, Start::Far},
          {0.2, {0, 1, 20, 0.8, 0.005}, Start::Best},
          {0.2, {0, 0.4, 10, 0.8, 0.005}, Start::Best},
          {0.5, {0, 4, 15, 0.8, 0.05}, Start::NothingFits}};
}

/// Returns moves for about half a second with 75 operations, and four with 500. Beyond a thousand
/// operations a move takes the longer.
static int64_t countMoves(size_t operations) {
  static constexpr int64_t kPerOperation = 50'000, kMost = 12'000'000, kMany = 1000;
  auto count = static_cast<int64_t>(operations);
  return std::min(kPerOperation * count, kMost) * kMany / std::max(kMany, count);
}

void Planner::runAll(Annealer &annealer, const Pieces &pieces, bool isGiven) {
  static constexpr double kFar = 0.03, kFarther = 0.1; // of the cost without replays
  size_t count = graph.problem.operations.size();
  double moves = effort * static_cast<double>(countMoves(count));
  double given = isGiven ? annealer.best()->cost() : -1;
  uint64_t seed = 0;
  for (const Run &run : listRuns(count)) {
    ++seed;
    const Sequence *best = annealer.best();
    double above = best && isGiven ? best->cost() - enough : 0;
    if (annealer.isDone() || (run.start == Start::NothingFits && best) ||
        (run.start == Start::Far && above < kFarther * total) ||
        (run.start == Start::Given && (above < kFar * total || best->cost() < given)))
      continue;
    Cooling cooling = run.cooling;
    cooling.moves = static_cast<int64_t>(run.share * moves);
    annealer.run(best && run.start != Start::Order ? *best : Sequence(pieces, budget), cooling,
                 seed);
  }
}

void Planner::anneal(const std::vector<Executions> &starts) {
  Pieces pieces(graph.problem, graph.footprint, &graph.links, /*mayOverride=*/false);
  Annealer annealer(pieces, budget, total, enough, isOver);
  for (const Executions &start : starts) {
    Sequence sequence = readExecutions(pieces, start, budget);
    prune(sequence);
    annealer.offer(sequence);
  }
  runAll(annealer, pieces, annealer.best());
  answer.isTruncated = annealer.isTruncated();
  if (annealer.best()) {
    Sequence best = *annealer.best();
    settle(best);
    take({listLaunches(best), listExecutions(best), {}});
  } else {
    answer.lowestPeak = std::min(answer.lowestPeak, annealer.smallest().peak());
  }
}

/// Returns the smallest budget that sweeps meet, about: between one that is not met and one that
/// is.
int64_t Planner::findLowestPeak(int64_t peak) const {
  int64_t unmet = budget;
  int rounds = graph.problem.operations.size() > kAnnealed ? 3 : 8;
  for (int i = 0; i < rounds && unmet < peak; ++i) {
    int64_t middle = unmet + (peak - unmet) / 2;
    Planner other(graph, middle, isOver, 0);
    other.takeCheapest(sweep(graph, middle, {}));
    if (other.answer.plan)
      peak = other.answer.plan->usage.peak;
    else
      unmet = middle;
  }
  return peak;
}

GraphPlan Planner::plan() {
  std::vector<int64_t> bytes = findBytesInOrder(graph.problem);
  answer.lowestPeak = *std::max_element(bytes.begin(), bytes.end());
  answer.bound = findGraphBound(graph, budget);
  if (!answer.bound.isFeasible(budget))
    return answer;
  enough = answer.bound.seconds + 1e-12 * total;
  std::vector<Executions> starts = sweep(graph, budget, answer.bound.replays);
  size_t count = graph.problem.operations.size();
  if (starts.empty() && count <= kSearched)
    starts = searchFromEnd();
  if (count <= kAnnealed)
    anneal(starts);
  else
    takeCheapest(starts);
  if (!answer.plan)
    answer.lowestPeak = findLowestPeak(answer.lowestPeak);
  return answer;
}

GraphPlan reprise::checkpoint::planGraph(const Graph &graph, int64_t budget, const IsOver &isOver,
                                         double effort) {
  return Planner(graph, budget, isOver, effort).plan();
}
