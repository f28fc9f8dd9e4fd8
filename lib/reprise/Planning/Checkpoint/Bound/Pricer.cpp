// reprise: the cheapest choices at given prices of a byte
#include "Pricer.h"

#include <algorithm>

using namespace reprise;
using namespace reprise::checkpoint;
using Label = Problem::Label;
using Operation = Problem::Operation;
using Value = Problem::Value;

/// Finds the first launch that may need each value again. A value without a backward reader may be
/// needed by replays of its readers, or of their readers.
Pricer::Pricer(const Problem &problem, const Footprint &footprint, IsOver isOver)
    : problem(problem), footprint(footprint), least(findLeastCosts(problem, footprint)),
      ranges(findLiveRanges(problem, footprint)), isViewed(findViewed(problem, footprint)),
      neededAt(problem.values.size(), INT_MAX), isOver(std::move(isOver)) {
  for (size_t i = problem.operations.size(); i-- > 0;) {
    const Operation &op = problem.operations[i];
    if (!op.primal || footprint.launches[i] == kNoLaunch)
      continue;
    int first = INT_MAX;
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value) {
      if (ranges[value].firstBackward != INT_MAX)
        neededAt[value] = ranges[value].firstBackward;
      first = std::min(first, neededAt[value]);
    }
    for (int operand : op.operands)
      if (int root = findRoot(problem, footprint, operand); root >= 0)
        neededAt[root] = std::min(neededAt[root], first);
  }
}

/// Returns the price in seconds of keeping the value between its last forward and its first
/// backward reader; none if it is read all the time.
std::optional<double> Pricer::priceOf(int value, const std::vector<double> &sums) const {
  int begin = std::max(ranges[value].made, ranges[value].lastForward) + 1, end = neededAt[value];
  if (end == INT_MAX || begin >= end || !footprint.isStored[value])
    return std::nullopt;
  return static_cast<double>(problem.values[value].bytes) * (sums[end] - sums[begin]) +
         least.keep[value];
}

/// Nodes on the source's side are values that are needed and operations that run again.
void Pricer::build(const std::vector<double> &sums) {
  cut = MinCut();
  source = cut.addNode();
  sink = cut.addNode();
  needed.assign(problem.values.size(), -1);
  again.assign(problem.operations.size(), -1);
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    const Operation &op = problem.operations[i];
    if (!op.primal || footprint.launches[i] == kNoLaunch)
      continue;
    again[i] = cut.addNode();
    cut.addEdge(again[i], sink, least.replay[i]);
    for (int operand : op.operands)
      if (int root = findRoot(problem, footprint, operand); root >= 0 && needed[root] > source)
        cut.addEdge(again[i], needed[root], MinCut::kNever);
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value) {
      std::optional<double> kept = priceOf(value, sums);
      if (!kept)
        continue;
      needed[value] = ranges[value].firstBackward != INT_MAX ? source : cut.addNode();
      Label label = problem.values[value].label;
      cut.addEdge(needed[value], label == Label::MustSave ? sink : again[i],
                  label == Label::MustRecompute && !isViewed[value] ? MinCut::kNever : *kept);
    }
  }
}

void Pricer::solve(const std::vector<double> &prices) {
  // Of all launches before each.
  std::vector<double> sums(prices.size() + 1);
  for (size_t launch = 0; launch < prices.size(); ++launch)
    sums[launch + 1] = sums[launch] + prices[launch];
  build(sums);
  cut.solve(source, sink, isOver);
}

std::vector<Choice> Pricer::choose(const std::vector<double> &prices) {
  solve(prices);
  std::vector<Choice> choices(problem.values.size(), Choice::Replay);
  for (size_t value = 0; value < choices.size(); ++value)
    if (isNeeded(value) && (needed[value] < 0 || !isReplayed(problem.values[value].operation)))
      choices[value] = Choice::Save;
  return choices;
}

Pricer::Priced Pricer::price(const std::vector<double> &prices) {
  solve(prices);
  Priced result;
  result.bytes.resize(prices.size() + 1);
  for (size_t i = 0; i < problem.operations.size(); ++i)
    result.seconds += isReplayed(i) ? least.replay[i] : 0;
  for (size_t value = 0; value < problem.values.size(); ++value) {
    const Value &entry = problem.values[value];
    bool isKept = needed[value] >= 0 && isNeeded(value) &&
                  (!isReplayed(entry.operation) || entry.label == Label::MustSave);
    if (!isKept)
      continue;
    result.seconds += least.keep[value];
    result.bytes[std::max(ranges[value].made, ranges[value].lastForward) + 1] += entry.bytes;
    result.bytes[neededAt[value]] -= entry.bytes;
  }
  for (size_t launch = 1; launch < result.bytes.size(); ++launch)
    result.bytes[launch] += result.bytes[launch - 1];
  return result;
}
