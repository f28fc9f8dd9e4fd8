// reprise: the cheapest schedule of a small graph, found by a search that proves it, for tests
#include "ExactSearch.h"
#include "SmallSets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <unordered_map>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

/// State between two executions.
struct State {
  Set executed = 0; ///< operations, at least once
  Set resident = 0; ///< values
  int last = -1;    ///< in stages: the replay after which others of this stage must come

  bool operator==(const State &other) const {
    return executed == other.executed && resident == other.resident && last == other.last;
  }
  /// Tells whether this state has all values and allowed replays of another one.
  bool holds(const State &other) const {
    return last <= other.last && (other.resident & ~resident) == 0;
  }
};

struct StateHash {
  size_t operator()(const State &state) const {
    uint64_t hash = static_cast<uint64_t>(state.last);
    for (Set set : {state.executed, state.resident})
      for (int half : {0, 64}) {
        hash = (hash ^ static_cast<uint64_t>(set >> half)) * 0x9E3779B97F4A7C15;
        hash ^= hash >> 32;
      }
    return hash;
  }
};

/// Lower bounds of what a state still takes.
class Remainder {
public:
  Remainder(const Graph &graph, int64_t budget, Orders orders);

  /// Cost of operations that have not run, and of replays without which a value is gone that these
  /// operations or such replays read.
  struct Least {
    double cost = 0;
    Set replays = 0;
  };
  Least least(State state) const;
  /// Returns a lower bound of the cost of other replays: at the first execution of an operation the
  /// values that are read before and after it are there or made again later. A fractional knapsack,
  /// as in Bound.h.
  double others(State state, Set replays) const;
  /// Returns the values that a schedule may still read if its replays beyond `replays` cost less
  /// than `slack`.
  Set useful(State state, Set replays, double slack) const;
  int64_t bytes(Set values) const;

  struct Sets {
    Set operands = 0, results = 0;
  };
  std::vector<Sets> sets;   ///< per operation
  std::vector<Set> readers; ///< per value

private:
  /// Results of one operation that cross another one's first execution.
  struct Item {
    int operation;
    double cost;
    int64_t bytes;
  };
  struct Cut {
    int operation;
    int64_t excess;          ///< over the budget if all of them are there
    std::vector<Item> items; ///< the cheapest per byte first
  };
  Cut cutAt(int t, int64_t budget, Set before, Set behind) const;

  const Problem &problem;
  const std::vector<double> &seconds;
  bool isIntegral = true; // all costs are whole numbers, and so is each schedule's
  std::vector<Cut> cuts;
};

Remainder::Remainder(const Graph &graph, int64_t budget, Orders orders)
    : sets(graph.problem.operations.size()), readers(graph.problem.values.size()),
      problem(graph.problem), seconds(graph.footprint.seconds) {
  int count = static_cast<int>(problem.operations.size());
  std::vector<Set> ancestors(count), descendants(count);
  for (int i = 0; i < count; ++i) {
    const Problem::Operation &op = problem.operations[i];
    isIntegral &= seconds[i] == std::floor(seconds[i]) && seconds[i] < 1e9;
    for (int r = 0; r < op.numResults; ++r)
      sets[i].results |= bit(op.firstResult + r);
    for (int value : op.operands) {
      int source = problem.values[value].operation;
      sets[i].operands |= bit(value);
      readers[value] |= bit(i);
      ancestors[i] |= ancestors[source] | bit(source);
    }
    if (orders != Orders::Any)
      ancestors[i] = bit(i) - 1;
    forEach(ancestors[i], [&](int before) { descendants[before] |= bit(i); });
  }
  for (int t = 0; t < count; ++t)
    if (Cut cut = cutAt(t, budget, ancestors[t], descendants[t]); cut.excess > 0)
      cuts.push_back(std::move(cut));
}

Remainder::Cut Remainder::cutAt(int t, int64_t budget, Set before, Set behind) const {
  Cut cut{t, bytes(sets[t].operands | sets[t].results) - budget, {}};
  forEach(before, [&](int i) {
    Item item{i, seconds[i], 0};
    forEach(sets[i].results & ~sets[t].operands, [&](int value) {
      if ((readers[value] & behind) != 0)
        item.bytes += problem.values[value].bytes;
    });
    cut.excess += item.bytes;
    if (item.bytes > 0)
      cut.items.push_back(item);
  });
  std::sort(cut.items.begin(), cut.items.end(), [](const Item &a, const Item &b) {
    return a.cost * static_cast<double>(b.bytes) < b.cost * static_cast<double>(a.bytes);
  });
  return cut;
}

int64_t Remainder::bytes(Set values) const {
  int64_t sum = 0;
  forEach(values, [&](int value) { sum += problem.values[value].bytes; });
  return sum;
}

Remainder::Least Remainder::least(State state) const {
  Least result;
  Set wanted = 0; // and not there, although their operation has run
  for (int i = static_cast<int>(sets.size()); i-- > 0;) {
    bool runs = !has(state.executed, i);
    if (!runs && (sets[i].results & wanted) != 0) {
      result.replays |= bit(i);
      runs = true;
    }
    if (!runs)
      continue;
    result.cost += seconds[i];
    wanted |= sets[i].operands & ~state.resident;
  }
  return result;
}

double Remainder::others(State state, Set replays) const {
  double most = 0;
  for (const Cut &cut : cuts) {
    if (has(state.executed, cut.operation))
      continue;
    int64_t excess = cut.excess;
    for (const Item &item : cut.items)
      if (has(replays, item.operation))
        excess -= item.bytes;
    double cost = 0;
    for (const Item &item : cut.items) {
      if (excess <= 0)
        break;
      if (has(replays, item.operation))
        continue;
      double share = static_cast<double>(excess) / static_cast<double>(item.bytes);
      cost += std::min(1.0, share) * item.cost;
      excess -= item.bytes;
    }
    most = std::max(most, cost);
  }
  return isIntegral ? std::ceil(most - 1e-6) : most;
}

Set Remainder::useful(State state, Set replays, double slack) const {
  Set read = 0;
  for (int i = static_cast<int>(sets.size()); i-- > 0;) {
    bool mayReplay = has(replays, i) || seconds[i] < slack;
    bool runs = !has(state.executed, i) || (mayReplay && (sets[i].results & read) != 0);
    if (runs)
      read |= sets[i].operands;
  }
  return read;
}

class Search {
public:
  Search(const Graph &graph, int64_t budget, const ExactOptions &options)
      : problem(graph.problem), seconds(graph.footprint.seconds), budget(budget), options(options),
        remainder(graph, budget, options.orders) {
    int count = static_cast<int>(problem.operations.size());
    all = count == 0 ? 0 : ~Set{0} >> (128 - count);
    for (double each : seconds)
      total += each;
    if (options.known)
      limit = below(total + *options.known);
  }

  Exact run();

private:
  struct Node {
    State state;
    double cost, total; ///< of the executions so far, and of every schedule that goes on from here
    int parent, operation;
    bool isDominated;
  };
  /// Parts of a node that isNew compares.
  struct Known {
    State state;
    double cost;
    int node;
  };
  static constexpr size_t kCompared = 500; ///< all of them would make it quadratic
  /// Orders nodes by the least total, then by the most operations, then by the latest.
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
  Executions readBack(int number) const;

  const Problem &problem;
  const std::vector<double> &seconds;
  double total = 0; // cost of one execution of each operation
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

/// Tells whether no other state has run the same operations at no greater cost and holds as much,
/// as far as the latest ones show. States for which this one is such a state are given up.
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
  next.cost += seconds[operation];
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

Executions Search::readBack(int number) const {
  Executions executions;
  for (; nodes[number].parent >= 0; number = nodes[number].parent)
    executions.push_back(nodes[number].operation);
  std::reverse(executions.begin(), executions.end());
  return executions;
}

Exact Search::run() {
  offer({State(), 0, 0, -1, -1, false});
  Exact result;
  result.isProved = true;
  double least = 0;
  while (result.isProved && !open.empty() && open.top().total < limit) {
    auto [bound, executed, number] = open.top();
    open.pop();
    least = bound;
    if (!nodes[number].isDominated)
      expand(number);
    result.isProved = looked < options.states;
  }
  if (goal >= 0)
    result.executions = readBack(goal);
  if (!result.isProved)
    result.leastCost = least - total;
  else if (goal >= 0)
    result.leastCost = nodes[goal].cost - total;
  else
    result.leastCost = options.known.value_or(std::numeric_limits<double>::infinity());
  return result;
}

} // namespace

Exact reprise::checkpoint::test::solveExactly(const Graph &graph, int64_t budget,
                                              const ExactOptions &options) {
  return Search(graph, budget, options).run();
}
