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
      neededAt(problem.values.size(), INT_MAX), mayRun(problem.operations.size()),
      isOver(std::move(isOver)), cut(problem, footprint, least) {
  for (size_t i = problem.operations.size(); i-- > 0;) {
    const Operation &op = problem.operations[i];
    mayRun[i] = op.primal && footprint.launches[i] != kNoLaunch;
    if (!mayRun[i])
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
  return static_cast<double>(problem.values[value].bytes) * (sums[end] - sums[begin]);
}

void Pricer::solve(const std::vector<double> &prices, ReplayCut::Steps steps) {
  // Of all launches before each.
  std::vector<double> sums(prices.size() + 1);
  for (size_t launch = 0; launch < prices.size(); ++launch)
    sums[launch + 1] = sums[launch] + prices[launch];
  std::vector<ReplayCut::Value> values(problem.values.size());
  for (size_t value = 0; value < values.size(); ++value) {
    const Value &entry = problem.values[value];
    std::optional<double> kept = priceOf(static_cast<int>(value), sums);
    if (!kept || !mayRun[entry.operation])
      continue;
    bool isRead = ranges[value].firstBackward != INT_MAX;
    values[value] = {isRead ? ReplayCut::Need::Always : ReplayCut::Need::IfRead, *kept,
                     entry.label == Label::MustSave,
                     entry.label == Label::MustRecompute && !isViewed[value],
                     ranges[value].lastFromMemory >= 0};
  }
  cut.solve(mayRun, values, 1, steps, isOver);
}

std::vector<Choice> Pricer::choose(const std::vector<double> &prices) {
  solve(prices, ReplayCut::Steps::SharedOut);
  std::vector<Choice> choices(problem.values.size(), Choice::Replay);
  for (size_t value = 0; value < choices.size(); ++value) {
    int number = static_cast<int>(value);
    bool isNeeded = cut.isPriced(number) ? cut.isNeeded(number) : neededAt[value] != INT_MAX;
    if (isNeeded && (!cut.isPriced(number) || !cut.isReplayed(problem.values[value].operation)))
      choices[value] = Choice::Save;
  }
  return choices;
}

Pricer::Priced Pricer::price(const std::vector<double> &prices) {
  solve(prices, ReplayCut::Steps::Once);
  Priced result;
  result.bytes.resize(prices.size() + 1);
  result.seconds = cut.findSeconds();
  for (size_t value = 0; value < problem.values.size(); ++value) {
    if (!cut.isKept(static_cast<int>(value)))
      continue;
    int64_t bytes = problem.values[value].bytes;
    result.bytes[std::max(ranges[value].made, ranges[value].lastForward) + 1] += bytes;
    result.bytes[neededAt[value]] -= bytes;
  }
  for (size_t launch = 1; launch < result.bytes.size(); ++launch)
    result.bytes[launch] += result.bytes[launch - 1];
  return result;
}
