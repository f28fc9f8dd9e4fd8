// reprise: what no schedule within a budget can do without
#include "reprise/Planning/Rematerialization/Bound.h"

#include "Cover.h"
#include <algorithm>

namespace reprise::remat {

namespace {

class Cuts {
public:
  Cuts(const Problem &problem, int64_t budget) : problem(problem), budget(budget) {
    readers.resize(problem.values.size());
    for (size_t i = 0; i < problem.operations.size(); ++i)
      for (int value : problem.operations[i].operands)
        readers[value].push_back(static_cast<int>(i));
  }

  /// The bytes that `t` itself needs.
  int64_t need(int t) const {
    const Operation &op = problem.operations[t];
    int64_t bytes = 0;
    for (int value : op.operands)
      bytes += problem.values[value].bytes;
    for (int r = 0; r < op.numResults; ++r)
      bytes += problem.values[op.firstResult + r].bytes;
    return bytes;
  }

  /// What must be executed again for `t`; a search that cannot reach `known` is not begun.
  Cover cover(int t, double known) {
    mark(t);
    std::vector<bool> isOperand(problem.values.size());
    for (int value : problem.operations[t].operands)
      isOperand[value] = true;
    std::vector<Item> items;
    int64_t excess = need(t) - budget;
    for (int i = 0; i < t; ++i) {
      const Operation &op = problem.operations[i];
      int64_t bytes = 0;
      for (int value = op.firstResult; before[i] && value < op.firstResult + op.numResults; ++value)
        if (!isOperand[value] && isReadBehind(value))
          bytes += problem.values[value].bytes;
      if (bytes > 0)
        items.push_back({i, op.cost, bytes});
      excess += bytes;
    }
    return coverLeast(std::move(items), excess, known);
  }

private:
  /// Ancestors and descendants of `t`.
  void mark(int t) {
    size_t count = problem.operations.size();
    before.assign(count, false);
    behind.assign(count, false);
    auto markOperands = [&](int i) {
      for (int value : problem.operations[i].operands)
        before[problem.values[value].operation] = true;
    };
    markOperands(t);
    for (int i = t - 1; i >= 0; --i)
      if (before[i])
        markOperands(i);
    for (size_t i = t + 1; i < count; ++i)
      for (int value : problem.operations[i].operands) {
        int source = problem.values[value].operation;
        behind[i] = behind[i] || source == t || behind[source];
      }
  }

  bool isReadBehind(int value) const {
    return std::any_of(readers[value].begin(), readers[value].end(),
                       [&](int reader) { return behind[reader]; });
  }

  const Problem &problem;
  int64_t budget;
  std::vector<std::vector<int>> readers;
  std::vector<bool> before, behind;
};

/// Operations at which the given order exceeds the budget: at others nothing that every order keeps
/// does. No more than can be looked at in time, evenly spread, and the fullest,
/// which comes first.
std::vector<int> findPositions(const Problem &problem, int64_t budget) {
  size_t reads = problem.operations.size();
  for (const Operation &op : problem.operations)
    reads += op.operands.size();
  std::vector<int64_t> bytes = bytesInOrder(problem);
  std::vector<int> above;
  for (size_t t = 0; t < bytes.size(); ++t)
    if (bytes[t] > budget)
      above.push_back(static_cast<int>(t));
  size_t count = std::max<size_t>(16, kBoundSteps / std::max<size_t>(1, reads));
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

} // namespace

Bound boundCost(const Problem &problem, int64_t budget) {
  Cuts cuts(problem, budget);
  Bound bound;
  for (size_t t = 0; t < problem.operations.size(); ++t)
    bound.need = std::max(bound.need, cuts.need(static_cast<int>(t)));
  if (!bound.isFeasible(budget))
    return bound;
  for (int t : findPositions(problem, budget))
    if (Cover cover = cuts.cover(t, bound.extraCost); cover.cost > bound.extraCost) {
      bound.extraCost = cover.cost;
      bound.replays = std::move(cover.items);
    }
  return bound;
}

} // namespace reprise::remat
