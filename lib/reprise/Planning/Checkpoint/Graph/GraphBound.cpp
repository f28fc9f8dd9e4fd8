// reprise: lower bound of the cost of a graph within a budget
#include "reprise/Planning/Checkpoint/Graph/GraphBound.h"

#include "Cover.h"

#include <algorithm>

using namespace reprise::checkpoint;
using Operation = Problem::Operation;

namespace {

/// Values that every schedule keeps or makes again at the first execution of an operation.
class Cuts {
public:
  Cuts(const Graph &graph, int64_t budget)
      : graph(graph), problem(graph.problem), budget(budget), lastReader(problem.values.size()) {}

  /// Returns what must be executed again for `t`. A search that cannot reach `known` is not begun.
  Cover cover(int t, double known) {
    mark(t);
    std::vector<CoverItem> items;
    int64_t excess = findBytesAtOnce(problem, t) - budget;
    for (int i = 0; i < t; ++i) {
      const Operation &op = problem.operations[i];
      int64_t bytes = 0;
      for (int value = op.firstResult; isBefore[i] && value < op.firstResult + op.numResults;
           ++value)
        if (lastReader[value] > t)
          bytes += problem.values[value].bytes;
      if (bytes > 0)
        items.push_back({i, graph.footprint.seconds[i], bytes});
      excess += bytes;
    }
    return coverLeast(std::move(items), excess, known);
  }

private:
  /// Marks ancestors of `t`, and finds a descendant that reads each value. Operands of `t` count as
  /// unread, because they are in memory in any case.
  void mark(int t) {
    auto count = static_cast<int>(problem.operations.size());
    isBefore.assign(count, false);
    isBehind.assign(count, false);
    isBefore[t] = isBehind[t] = true;
    for (int i = t; i >= 0; --i)
      for (int value : problem.operations[i].operands)
        if (isBefore[i])
          isBefore[problem.values[value].operation] = true;
    std::fill(lastReader.begin(), lastReader.end(), 0);
    for (int i = t + 1; i < count; ++i) {
      const std::vector<int> &operands = problem.operations[i].operands;
      isBehind[i] = std::any_of(operands.begin(), operands.end(), [&](int value) {
        return isBehind[problem.values[value].operation];
      });
      for (int value : operands)
        if (isBehind[i])
          lastReader[value] = i;
    }
    for (int value : problem.operations[t].operands)
      lastReader[value] = 0;
  }

  const Graph &graph;
  const Problem &problem;
  int64_t budget;
  std::vector<bool> isBefore, isBehind;
  std::vector<int> lastReader; // per value: a descendant, or 0
};

} // namespace

/// Returns operations at which the given order exceeds the budget. At others nothing that every
/// order keeps exceeds it. No more than can be looked at in time, evenly spread, and the fullest,
/// which comes first.
static std::vector<int> findPositions(const Problem &problem, int64_t budget) {
  size_t reads = problem.operations.size();
  for (const Operation &op : problem.operations)
    reads += op.operands.size();
  std::vector<int64_t> bytes = findBytesInOrder(problem);
  std::vector<int> above;
  for (size_t t = 0; t < bytes.size(); ++t)
    if (bytes[t] > budget)
      above.push_back(static_cast<int>(t));
  size_t count = std::max<size_t>(16, kBoundReads / std::max<size_t>(1, reads));
  std::vector<int> chosen = above;
  if (above.size() > count) {
    chosen = {static_cast<int>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin())};
    for (size_t i = 0; i < count; ++i)
      chosen.push_back(above[i * above.size() / count]);
  }
  std::sort(chosen.begin(), chosen.end(),
            [&](int a, int b) { return bytes[a] != bytes[b] ? bytes[a] > bytes[b] : a < b; });
  return chosen;
}

GraphBound reprise::checkpoint::findGraphBound(const Graph &graph, int64_t budget) {
  Cuts cuts(graph, budget);
  GraphBound bound;
  for (size_t t = 0; t < graph.problem.operations.size(); ++t)
    bound.need = std::max(bound.need, findBytesAtOnce(graph.problem, static_cast<int>(t)));
  if (!bound.isFeasible(budget))
    return bound;
  for (int t : findPositions(graph.problem, budget))
    if (Cover cover = cuts.cover(t, bound.seconds); cover.cost > bound.seconds) {
      bound.seconds = cover.cost;
      bound.replays = std::move(cover.items);
    }
  return bound;
}
