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
  struct Reader {
    int operation;
    bool isMoved; // it may read a replay
  };

  int launch(int operation) const { return footprint.launches[operation]; }
  double move(int value) const {
    return footprint.byteSeconds * static_cast<double>(problem.values[value].bytes);
  }
  void findReaders();
  bool isMoved(const Operation &reader, int value) const;
  bool isApart(size_t index) const;
  double findLaunchAndLoads(size_t index) const;
  double findStore(const Operation &op, int own) const;
  double findKeep(int value) const;

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

double Finder::findLaunchAndLoads(size_t index) const {
  int own = footprint.launches[index];
  double seconds = footprint.launchSeconds / shares[own];
  std::set<int> roots;
  for (int operand : problem.operations[index].operands) {
    int root = findRoot(problem, footprint, operand);
    if (root < 0 || !footprint.isStored[root] || !roots.insert(root).second)
      continue;
    if (launch(problem.values[root].operation) != own)
      seconds += move(root) / sharesOfLoads.at({own, root});
  }
  return seconds;
}

/// Returns the least seconds of storing a result; 0 if replays of the same launch may be its only
/// readers.
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

/// The store, if nothing else needs it, and the load of one launch that could do without.
double Finder::findKeep(int value) const {
  const Operation &op = problem.operations[problem.values[value].operation];
  int own = launch(problem.values[value].operation);
  if (own == kNoLaunch || !op.primal || !footprint.isStored[value])
    return 0;
  bool isStoredAnyway = footprint.lastOutside[value] > own;
  std::set<int> loads, usual;
  for (const Reader &reader : readers[value]) {
    isStoredAnyway |= !reader.isMoved && launch(reader.operation) > own;
    bool isExtra = reader.isMoved && !usesMemory(problem.operations[reader.operation]);
    (isExtra ? loads : usual).insert(launch(reader.operation));
  }
  double seconds = isStoredAnyway ? 0 : move(value);
  if (op.kind != Kind::Elementwise)
    return seconds;
  bool hasLoad = std::any_of(loads.begin(), loads.end(),
                             [&](int reader) { return reader != own && !usual.count(reader); });
  return seconds + (hasLoad ? move(value) : 0);
}

LeastCosts Finder::run() {
  LeastCosts costs{footprint.seconds, std::vector<double>(problem.values.size())};
  if (footprint.byteSeconds == 0 && footprint.launchSeconds == 0)
    return costs;
  for (size_t i = 0; i < problem.operations.size(); ++i)
    if (int own = footprint.launches[i];
        own != kNoLaunch && problem.operations[i].primal && isApart(i))
      costs.replay[i] += findLaunchAndLoads(i) + findStore(problem.operations[i], own);
  for (size_t value = 0; value < costs.keep.size(); ++value)
    costs.keep[value] = findKeep(static_cast<int>(value));
  return costs;
}

LeastCosts reprise::checkpoint::findLeastCosts(const Problem &problem, const Footprint &footprint) {
  return Finder(problem, footprint).run();
}
