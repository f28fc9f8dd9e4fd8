// reprise: what the search for a plan within a budget knows of its problem
#include "SearchSpace.h"

#include "reprise/Planning/Checkpoint/Labels/FollowLabels.h"

#include <algorithm>
#include <map>

using namespace reprise::checkpoint;
using Label = Problem::Label;
using Operation = Problem::Operation;
using Value = Problem::Value;

SearchSpace::SearchSpace(const Problem &problem, const Footprint &footprint)
    : problem(problem), footprint(footprint), least(findLeastCosts(problem, footprint)),
      ranges(findLiveRanges(problem, footprint)), isViewed(findViewed(problem, footprint)) {
  std::vector<int> outermost(problem.containers.size());
  for (size_t i = 1; i < problem.containers.size(); ++i) {
    int parent = problem.containers[i].parent;
    outermost[i] = parent == 0 ? static_cast<int>(i) : outermost[parent];
  }
  for (const Operation &op : problem.operations)
    units.push_back(outermost[op.container]);
  findMovable();
  findAskers();
  findAlike();
  for (int value : movable)
    movableBytes += problem.values[value].bytes;
  for (const Neighbour &buffer : footprint.neighbours)
    if (buffer.first <= 0 && buffer.last >= footprint.numLaunches - 1)
      standingBytes += buffer.bytes;
  for (size_t i = 0; i < problem.operations.size(); ++i)
    totalSeconds += problem.operations[i].primal ? least.replay[i] : 0;
}

double SearchSpace::densityOf(int value) const {
  return secondsOf(value) / static_cast<double>(std::max<int64_t>(1, problem.values[value].bytes));
}

bool SearchSpace::hasPrefers() const {
  return std::any_of(movable.begin(), movable.end(), [&](int value) {
    Label label = problem.values[value].label;
    return label == Label::PreferSave || label == Label::PreferRecompute;
  });
}

/// Values that are read back, or that replays of such values may read. The others are never made
/// again, so that their labels are moot.
void SearchSpace::findMovable() {
  std::vector<bool> isNeeded(problem.values.size());
  for (size_t i = problem.operations.size(); i-- > 0;) {
    const Operation &op = problem.operations[i];
    bool mayReplay = false;
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
      mayReplay |= op.primal && isNeeded[value];
    for (int operand : op.operands)
      if (operand != kAvailable && !isFixed(problem, operand) &&
          (mayReplay || readsBack(op, problem.operations[problem.values[operand].operation])))
        isNeeded[operand] = true;
  }
  for (size_t value = 0; value < problem.values.size(); ++value)
    if (isNeeded[value]) {
      bool isView = footprint.launches[problem.values[value].operation] == kNoLaunch;
      (isView ? views : movable).push_back(static_cast<int>(value));
    }
}

/// A reader's unit asks for what it reads back, and for what replays of that may read.
void SearchSpace::findAskers() {
  static constexpr int kNone = -1, kMany = -2;
  std::vector<int> sessions = findSessions(problem);
  std::vector<int> askers(problem.values.size(), kNone);
  auto ask = [&](int value, int session) {
    if (session != kNone)
      askers[value] = askers[value] == kNone || askers[value] == session ? session : kMany;
  };
  for (size_t i = problem.operations.size(); i-- > 0;) {
    const Operation &op = problem.operations[i];
    for (int operand : op.operands) {
      if (operand == kAvailable || isFixed(problem, operand))
        continue;
      if (readsBack(op, problem.operations[problem.values[operand].operation]))
        ask(operand, sessions[i]);
      for (int value = op.firstResult; op.primal && value < op.firstResult + op.numResults; ++value)
        ask(operand, askers[value]);
    }
  }
  for (int asker : askers)
    mayBeSplit.push_back(asker == kMany);
}

/// Units whose values are alike, such as equal layers, may take each other's choices.
void SearchSpace::findAlike() {
  std::map<int, std::vector<int>> members; // values, by unit
  for (int value : movable)
    members[unitOf(value)].push_back(value);
  std::map<std::vector<int64_t>, std::vector<int>> classes;
  for (auto &[unit, values] : members) {
    std::vector<int64_t> shape;
    for (int value : values) {
      const Operation &op = problem.operations[problem.values[value].operation];
      for (int64_t number : {problem.values[value].bytes, op.flops, static_cast<int64_t>(op.kind)})
        shape.push_back(number);
    }
    classes[shape].push_back(static_cast<int>(valuesOfUnit.size()));
    valuesOfUnit.push_back(std::move(values));
  }
  alike.resize(valuesOfUnit.size());
  for (auto &[shape, list] : classes)
    for (int unit : list)
      alike[unit] = list;
}

Choices reprise::checkpoint::chooseByLabels(const Problem &problem, bool recomputeAll) {
  Problem asked = problem;
  for (Value &value : asked.values)
    if (recomputeAll && value.label == Label::None)
      value.label = Label::PreferRecompute;
  Solution solution = followLabels(asked);
  Choices choices(problem.values.size(), Choice::ReplayPerUnit);
  for (size_t value = 0; value < choices.size(); ++value) {
    Decision decision = solution.decisions[value];
    // Held for other units, beside replays for its own.
    bool isInput = solution.reasons[value] == Reason::BlockInput;
    // Of what is not needed, the label says what happens if it is.
    Label label = problem.values[value].label;
    bool asksToSave = label == Label::MustSave || label == Label::PreferSave;
    bool isMoot = decision == Decision::NotNeeded && asksToSave;
    if (decision == Decision::Saved || decision == Decision::Kept || isInput || isMoot)
      choices[value] = Choice::Save;
  }
  return choices;
}
