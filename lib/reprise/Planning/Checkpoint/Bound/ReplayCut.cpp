// reprise: the cheapest replays for values that are needed, as a minimum cut
#include "ReplayCut.h"

#include <algorithm>

using namespace reprise;
using namespace reprise::checkpoint;
using Operation = Problem::Operation;

/// Returns per operation true if each plan in which it runs again has a replay of it that is apart.
/// Readers come after what they read.
std::vector<bool> ReplayCut::findApart(const std::vector<bool> &mayRun,
                                       const std::vector<Value> &values) const {
  std::vector<bool> isApart(problem.operations.size());
  for (size_t i = isApart.size(); i-- > 0;) {
    const Operation &op = problem.operations[i];
    if (!mayRun[i])
      continue;
    bool isRead = false, isElsewhere = true;
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
      for (auto [reader, isMoved] : least.readers[value]) {
        isRead = true;
        isElsewhere &= usesMemory(problem.operations[reader]) || (!isMoved && isApart[reader]);
      }
    isApart[i] = op.kind != Kind::Elementwise || (isRead && isElsewhere) ||
                 (op.numResults == 1 && values[op.firstResult].isReadFromMemory);
  }
  return isApart;
}

/// A plan may keep a value for a reader of memory, and replay it for the others in registers.
double ReplayCut::findKeep(int value, const Value &known, Steps steps) const {
  double replay = footprint.seconds[problem.values[value].operation];
  bool mayReplay = steps == Steps::Once && known.isReadFromMemory;
  double spared = mayReplay ? std::max(0.0, least.load[value] - replay) : 0;
  return least.keep[value] - spared;
}

void ReplayCut::addShared(int operation, std::pair<int, int> own, double seconds, double second) {
  auto [entry, isNew] = shared.try_emplace(own, -1, seconds);
  if (isNew) {
    entry->second.first = cut.addNode();
    cut.addEdge(entry->second.first, sink, second * seconds);
  }
  cut.addEdge(again[operation], entry->second.first, MinCut::kNever);
}

/// Adds the step of replays that runs the operation.
void ReplayCut::addStep(int operation, bool isStored, double second) {
  const Operation &op = problem.operations[operation];
  int launch = footprint.launches[operation];
  if (footprint.launchSeconds > 0)
    addShared(operation, {launch, -1}, footprint.launchSeconds, second);
  if (footprint.byteSeconds == 0)
    return;
  auto move = [&](int value) {
    return footprint.byteSeconds * static_cast<double>(problem.values[value].bytes);
  };
  for (int root : least.loads[operation])
    addShared(operation, {launch, root}, move(root), second);
  seconds[operation] += isStored ? move(op.firstResult) : least.stores[operation];
}

void ReplayCut::solve(const std::vector<bool> &mayRun, const std::vector<Value> &values,
                      double second, Steps steps, const IsOver &isOver) {
  cut = MinCut();
  source = cut.addNode();
  sink = cut.addNode();
  needed.assign(problem.values.size(), -1);
  again.assign(problem.operations.size(), -1);
  mustStay.assign(problem.values.size(), false);
  keep.assign(problem.values.size(), 0);
  seconds = steps == Steps::SharedOut ? least.replay : footprint.seconds;
  shared.clear();
  std::vector<bool> isApart =
      steps == Steps::SharedOut ? std::vector<bool>(mayRun.size()) : findApart(mayRun, values);
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    const Operation &op = problem.operations[i];
    if (!mayRun[i])
      continue;
    again[i] = cut.addNode();
    if (isApart[i])
      addStep(static_cast<int>(i), op.numResults == 1 && values[op.firstResult].isReadFromMemory,
              second);
    cut.addEdge(again[i], sink, second * seconds[i]);
    for (int operand : op.operands)
      if (int root = findRoot(problem, footprint, operand); root >= 0 && needed[root] > source)
        cut.addEdge(again[i], needed[root], MinCut::kNever);
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value) {
      const Value &known = values[value];
      if (known.need == Need::Never)
        continue;
      needed[value] = known.need == Need::Always ? source : cut.addNode();
      mustStay[value] = known.mustStay;
      keep[value] = findKeep(value, known, steps);
      cut.addEdge(needed[value], known.mustStay ? sink : again[i],
                  known.mustGo ? MinCut::kNever : known.price + second * keep[value]);
    }
  }
  cut.solve(source, sink, isOver);
}

double ReplayCut::findSeconds() const {
  double sum = 0;
  for (size_t i = 0; i < again.size(); ++i)
    sum += isReplayed(static_cast<int>(i)) ? seconds[i] : 0;
  for (auto &[own, entry] : shared)
    sum += cut.isOnSourceSide(entry.first) ? entry.second : 0;
  for (size_t value = 0; value < keep.size(); ++value)
    sum += isKept(static_cast<int>(value)) ? keep[value] : 0;
  return sum;
}
