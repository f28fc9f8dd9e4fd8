// reprise: the cheapest schedule of a small graph, found by a search that proves it
#include "States.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <unordered_map>

namespace reprise::remat {

namespace {

class Search {
public:
  Search(const Problem &problem, int64_t budget, const ExactOptions &options)
      : problem(problem), budget(budget), options(options),
        remainder(problem, budget, options.orders) {
    int count = static_cast<int>(problem.operations.size());
    all = count == 0 ? 0 : ~Set{0} >> (128 - count);
    if (options.start)
      limit = below(measure(problem, *options.start).cost);
  }

  Exact run();

private:
  struct Node {
    State state;
    double cost, total; ///< of the executions so far, and of every schedule that goes on from here
    int parent, operation;
    bool isDominated;
  };
  /// What isNew compares of a node.
  struct Known {
    State state;
    double cost;
    int node;
  };
  static constexpr size_t kCompared = 500; ///< all of them would make it quadratic
  /// The least total first, then the most operations, then the latest.
  struct Entry {
    double total;
    int executed, node;
    bool operator<(const Entry &other) const {
      return std::make_tuple(-total, executed, node) <
             std::make_tuple(-other.total, other.executed, other.node);
    }
  };

  static double below(double cost) { return cost * (1 - 1e-12); }
  void offer(Node node);
  bool isNew(const Node &node);
  void expand(int number);
  void execute(int number, int operation);
  void evict(const Node &next, const std::vector<int> &candidates, size_t first, int64_t excess);
  Schedule readBack(int number) const;

  const Problem &problem;
  int64_t budget;
  const ExactOptions &options;
  Remainder remainder;
  Set all;
  double limit = std::numeric_limits<double>::infinity(); ///< what costs less is sought
  std::vector<Node> nodes;
  std::unordered_map<State, double, StateHash> costs;
  std::unordered_map<State, std::vector<Known>, StateHash> byExecuted;
  std::priority_queue<Entry> open;
  int goal = -1;
  size_t looked = 0; ///< at so many states, some of them again or not complete
};

} // namespace

/// Whether no other state has run the same operations at no greater cost and holds as much, as far
/// as the latest ones show. Those for which this one is such a state are given up.
bool Search::isNew(const Node &node) {
  auto [met, isFirst] = costs.emplace(node.state, node.cost);
  if (!isFirst && met->second <= node.cost)
    return false;
  met->second = node.cost;
  std::vector<Known> &others = byExecuted[{node.state.executed, 0, 0}];
  size_t first = others.size() - std::min(others.size(), kCompared);
  for (size_t i = first; i < others.size(); ++i)
    if (others[i].cost <= node.cost && others[i].state.holds(node.state))
      return false;
  auto isWorse = [&](const Known &known) {
    bool worse = node.cost <= known.cost && node.state.holds(known.state);
    nodes[known.node].isDominated |= worse;
    return worse;
  };
  others.erase(std::remove_if(others.begin() + first, others.end(), isWorse), others.end());
  others.push_back({node.state, node.cost, static_cast<int>(nodes.size())});
  return true;
}

void Search::offer(Node node) {
  ++looked;
  Remainder::Least least = remainder.least(node.state);
  double total = node.cost + least.cost + remainder.others(node.state, least.replays);
  node.total = std::max(node.total, total);
  if (node.total >= limit)
    return;
  node.state.resident &=
      remainder.useful(node.state, least.replays, limit - node.cost - least.cost);
  if (!isNew(node))
    return;
  int number = static_cast<int>(nodes.size());
  nodes.push_back(node);
  if (node.state.executed == all) {
    goal = number;
    limit = below(node.cost);
    return;
  }
  open.push({node.total, countOf(node.state.executed), number});
}

/// Gives up every smallest set of the candidates from the first on, the largest first, that has so
/// many bytes.
void Search::evict(const Node &next, const std::vector<int> &candidates, size_t first,
                   int64_t excess) {
  if (looked >= options.states)
    return; // and the search ends
  if (excess <= 0)
    return offer(next);
  ++looked;
  if (next.cost + remainder.least(next.state).cost >= limit)
    return;
  for (size_t i = first; i < candidates.size(); ++i) {
    Node without = next;
    without.state.resident &= ~bit(candidates[i]);
    evict(without, candidates, i + 1, excess - problem.values[candidates[i]].bytes);
  }
}

void Search::execute(int number, int operation) {
  const Remainder::Sets &sets = remainder.sets[operation];
  Node next = nodes[number];
  bool isFirst = !has(next.state.executed, operation);
  next.parent = number;
  next.operation = operation;
  next.cost += problem.operations[operation].cost;
  next.state.last = isFirst || options.orders != Orders::Stages ? -1 : operation;
  next.state.executed |= bit(operation);
  next.state.resident |= sets.results;
  std::vector<int> candidates;
  forEach(next.state.resident & ~sets.operands & ~sets.results, [&](int value) {
    if (problem.values[value].bytes > 0)
      candidates.push_back(value);
  });
  std::sort(candidates.begin(), candidates.end(), [&](int a, int b) {
    return std::make_pair(-problem.values[a].bytes, a) <
           std::make_pair(-problem.values[b].bytes, b);
  });
  evict(next, candidates, 0, remainder.bytes(next.state.resident) - budget);
}

void Search::expand(int number) {
  const State state = nodes[number].state;
  int next = countOf(state.executed); // if they keep their order
  for (int i = 0, count = static_cast<int>(problem.operations.size()); i < count; ++i) {
    const Remainder::Sets &sets = remainder.sets[i];
    if ((sets.operands & ~state.resident) != 0)
      continue;
    bool isReplay = has(state.executed, i);
    if (isReplay ? (sets.results & ~state.resident) != 0 && i > state.last
                 : options.orders == Orders::Any || i == next)
      execute(number, i);
  }
}

Schedule Search::readBack(int number) const {
  std::vector<int> operations;
  for (; nodes[number].parent >= 0; number = nodes[number].parent)
    operations.push_back(nodes[number].operation);
  std::reverse(operations.begin(), operations.end());
  Schedule schedule;
  std::vector<int> latest(problem.operations.size());
  for (int operation : operations) {
    Execution execution{operation, {}};
    for (int value : problem.operations[operation].operands)
      execution.sources.push_back(latest[problem.values[value].operation]);
    latest[operation] = static_cast<int>(schedule.size());
    schedule.push_back(std::move(execution));
  }
  return schedule;
}

Exact Search::run() {
  offer({State(), 0, 0, -1, -1, false});
  static constexpr size_t kAsked = 256;
  Exact result;
  result.isProved = true;
  double least = 0;
  for (size_t step = 0; result.isProved && !open.empty() && open.top().total < limit; ++step) {
    auto [total, executed, number] = open.top();
    open.pop();
    least = total;
    if (!nodes[number].isDominated)
      expand(number);
    result.isTruncated = step % kAsked == 0 && options.isOver();
    result.isProved = !result.isTruncated && looked < options.states;
  }
  result.schedule = goal >= 0 ? readBack(goal) : options.start;
  result.states = looked;
  if (!result.isProved)
    result.leastCost = least;
  else if (result.schedule)
    result.leastCost = measure(problem, *result.schedule).cost;
  else
    result.leastCost = std::numeric_limits<double>::infinity();
  return result;
}

Exact solveExactly(const Problem &problem, int64_t budget, const ExactOptions &options) {
  return Search(problem, budget, options).run();
}

} // namespace reprise::remat
