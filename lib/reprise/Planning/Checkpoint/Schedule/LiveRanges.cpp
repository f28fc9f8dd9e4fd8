// reprise: when the values of a problem are read, and the cheapest choices at given prices
#include "LiveRanges.h"

#include <algorithm>

using namespace reprise;
using namespace reprise::checkpoint;
using Operation = Problem::Operation;

int reprise::checkpoint::findRoot(const Problem &problem, const Footprint &footprint, int value) {
  while (value != kAvailable) {
    int operation = problem.values[value].operation;
    if (footprint.launches[operation] != kNoLaunch)
      return value;
    const Operation &op = problem.operations[operation];
    value = op.operands.empty() ? kAvailable : op.operands[0];
  }
  return -1;
}

std::vector<bool> reprise::checkpoint::findViewed(const Problem &problem,
                                                  const Footprint &footprint) {
  std::vector<bool> isViewed(problem.values.size());
  for (size_t i = 0; i < problem.operations.size(); ++i)
    for (int operand : problem.operations[i].operands)
      if (operand != kAvailable && problem.operations[i].primal &&
          footprint.launches[i] == kNoLaunch)
        isViewed[operand] = true;
  return isViewed;
}

std::vector<LiveRange> reprise::checkpoint::findLiveRanges(const Problem &problem,
                                                           const Footprint &footprint) {
  std::vector<LiveRange> ranges(problem.values.size());
  for (size_t value = 0; value < problem.values.size(); ++value) {
    ranges[value].made = footprint.times[problem.values[value].operation];
    ranges[value].lastForward = footprint.lastOutside[value];
  }
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    const Operation &op = problem.operations[i];
    int launch = footprint.launches[i];
    for (int operand : op.operands) {
      int root = launch == kNoLaunch ? -1 : findRoot(problem, footprint, operand);
      if (root < 0)
        continue;
      const Operation &definition = problem.operations[problem.values[root].operation];
      LiveRange &range = ranges[root];
      bool isBack = definition.primal && readsBack(op, definition);
      if (!isBack || problem.values[root].outlives) {
        range.lastForward = std::max(range.lastForward, launch);
        continue;
      }
      range.firstBackward = std::min(range.firstBackward, launch);
      range.lastBackward = std::max(range.lastBackward, launch);
      if (usesMemory(op))
        range.lastFromMemory = std::max(range.lastFromMemory, launch);
    }
  }
  return ranges;
}
