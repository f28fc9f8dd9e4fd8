// reprise: what a replay, and a value that is kept, cost at least
#include "LeastCosts.h"

#include "../Schedule/LiveRanges.h"

#include <algorithm>
#include <map>
#include <set>

using namespace reprise::checkpoint;
using Operation = Problem::Operation;

namespace {

class Finder {
public:
  Finder(const Problem &problem, const Footprint &footprint)
      : problem(problem), footprint(footprint), readers(problem.values.size()),
        shares(footprint.numLaunches) {
    findReaders();
  }

  LeastCosts run();

private:
  using Reader = LeastCosts::Reader;

  int launch(int operation) const { return footprint.launches[operation]; }
  double move(int value) const {
    return footprint.byteSeconds * static_cast<double>(problem.values[value].bytes);
  }
  void findReaders();
  bool isMoved(const Operation &reader, int value) const;
  bool isApart(size_t index) const;
  std::vector<int> findLoads(size_t index) const;
  double findLaunchAndLoads(size_t index, const std::vector<int> &loads) const;
  double findStore(const Operation &op, int own) const;
  std::vector<std::vector<Reader>> findReplayReaders() const;
  void findKeep(int value, LeastCosts &costs) const;

  const Problem &problem;
  const Footprint &footprint;
  std::vector<std::vector<Reader>> readers;         // per value that has a buffer
  std::vector<int> shares;                          // per launch: operations that may run again
  std::map<std::pair<int, int>, int> sharesOfLoads; // the same that read a value there
};

} // namespace

/// True if a choice may make the reader read another execution, directly or through an operation
/// without a launch.
bool Finder::isMoved(const Operation &reader, int value) const {
  if (value == kAvailable)
    return false;
  int maker = problem.values[value].operation;
  const Operation &op = problem.operations[maker];
  if (!isFixed(problem, value) && readsBack(reader, op))
    return true;
  auto isMovedThere = [&](int operand) { return isMoved(op, operand); };
  return launch(maker) == kNoLaunch &&
         std::any_of(op.operands.begin(), op.operands.end(), isMovedThere);
}

void Finder::findReaders() {
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    const Operation &op = problem.operations[i];
    int own = footprint.launches[i];
    if (own == kNoLaunch)
      continue;
    shares[own] += op.primal;
    std::set<int> roots;
    for (int operand : op.operands) {
      int root = findRoot(problem, footprint, operand);
      if (root < 0)
        continue;
      readers[root].push_back({static_cast<int>(i), isMoved(op, operand)});
      if (op.primal && roots.insert(root).second)
        ++sharesOfLoads[{own, root}];
    }
  }
}

/// True if each replay is a kernel of its own, or part of such a kernel.
bool Finder::isApart(size_t index) const {
  const Operation &op = problem.operations[index];
  if (op.kind != Kind::Elementwise)
    return true;
  bool isRead = false;
  for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
    for (const Reader &reader : readers[value]) {
      if (!usesMemory(problem.operations[reader.operation]))
        return false;
      isRead = true;
    }
  return isRead;
}

std::vector<int> Finder::findLoads(size_t index) const {
  std::set<int> roots;
  for (int operand : problem.operations[index].operands)
    if (int root = findRoot(problem, footprint, operand);
        root >= 0 && footprint.isStored[root] &&
        launch(problem.values[root].operation) != footprint.launches[index])
      roots.insert(root);
  return {roots.begin(), roots.end()};
}

double Finder::findLaunchAndLoads(size_t index, const std::vector<int> &loads) const {
  int own = footprint.launches[index];
  double seconds = footprint.launchSeconds / shares[own];
  for (int root : loads)
    seconds += move(root) / sharesOfLoads.at({own, root});
  return seconds;
}

double Finder::findStore(const Operation &op, int own) const {
  double least = -1;
  for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value) {
    bool mayStay =
        std::any_of(readers[value].begin(), readers[value].end(), [&](const Reader &reader) {
          return problem.operations[reader.operation].primal && launch(reader.operation) == own;
        });
    double store = mayStay ? 0 : move(value);
    least = least < 0 ? store : std::min(least, store);
  }
  return std::max(0.0, least);
}

/// Finds the store, if nothing else needs it, and the load of one launch that could do without.
void Finder::findKeep(int value, LeastCosts &costs) const {
  const Operation &op = problem.operations[problem.values[value].operation];
  int own = launch(problem.values[value].operation);
  if (own == kNoLaunch || !op.primal || !footprint.isStored[value])
    return;
  bool isStoredAnyway = footprint.lastOutside[value] > own;
  std::set<int> loads, usual;
  for (const Reader &reader : readers[value]) {
    isStoredAnyway |= !reader.isMoved && launch(reader.operation) > own;
    bool isExtra = reader.isMoved && !usesMemory(problem.operations[reader.operation]);
    (isExtra ? loads : usual).insert(launch(reader.operation));
  }
  bool hasLoad = op.kind == Kind::Elementwise &&
                 std::any_of(loads.begin(), loads.end(),
                             [&](int reader) { return reader != own && !usual.count(reader); });
  costs.load[value] = hasLoad ? move(value) : 0;
  costs.keep[value] = (isStoredAnyway ? 0 : move(value)) + costs.load[value];
}

/// Readers whose original reads an original in every plan, and that never run again, are left out.
std::vector<std::vector<LeastCosts::Reader>> Finder::findReplayReaders() const {
  std::vector<std::vector<Reader>> found(readers.size());
  for (size_t value = 0; value < readers.size(); ++value)
    for (Reader reader : readers[value])
      if (reader.isMoved || problem.operations[reader.operation].primal)
        found[value].push_back(reader);
  return found;
}

LeastCosts Finder::run() {
  size_t numOperations = problem.operations.size();
  std::vector<double> none(problem.values.size());
  LeastCosts costs{footprint.seconds,
                   none,
                   none,
                   findReplayReaders(),
                   std::vector<std::vector<int>>(numOperations),
                   std::vector<double>(numOperations)};
  if (footprint.byteSeconds == 0 && footprint.launchSeconds == 0)
    return costs;
  for (size_t i = 0; i < numOperations; ++i) {
    int own = footprint.launches[i];
    if (own == kNoLaunch || !problem.operations[i].primal)
      continue;
    costs.loads[i] = findLoads(i);
    costs.stores[i] = findStore(problem.operations[i], own);
    if (isApart(i))
      costs.replay[i] += findLaunchAndLoads(i, costs.loads[i]) + costs.stores[i];
  }
  for (size_t value = 0; value < costs.keep.size(); ++value)
    findKeep(static_cast<int>(value), costs);
  return costs;
}

LeastCosts reprise::checkpoint::findLeastCosts(const Problem &problem, const Footprint &footprint) {
  return Finder(problem, footprint).run();
}
