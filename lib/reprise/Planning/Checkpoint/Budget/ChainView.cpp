// reprise: a problem seen as a chain of units
#include "ChainView.h"

#include <algorithm>
#include <numeric>

using namespace reprise::checkpoint;
using Operation = Problem::Operation;

ChainView::ChainView(const Problem &problem, const Footprint &footprint,
                     const std::vector<int> &containers, const std::vector<int> &movable)
    : problem(problem), footprint(footprint), least(findLeastCosts(problem, footprint)),
      movable(movable), ranges(findLiveRanges(problem, footprint)),
      unitOf(problem.operations.size(), kNone) {
  numberUnits(containers);
  int first = INT_MAX;
  for (int value : movable)
    first = std::min(first, ranges[value].firstBackward);
  lastForward = first == INT_MAX ? 0 : std::max(0, first - 1);
  findInputs();
  findNarrow();
  findUnitsOfLaunches();
}

/// Units in order of their first forward operation. What lies in none of them belongs to the one
/// before it, and behind the last, like the backward pass of all that, to a unit of its own.
void ChainView::numberUnits(const std::vector<int> &containers) {
  std::vector<bool> isUnit(problem.containers.size());
  for (int value : movable)
    isUnit[containers[problem.values[value].operation]] = true;
  std::vector<int> numbers(problem.containers.size(), kNone);
  size_t end = 0;
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    int container = containers[i];
    bool isInside = container != 0 && isUnit[container];
    if (problem.operations[i].order != 0)
      continue;
    if (isInside && numbers[container] == kNone)
      numbers[container] = numUnits++;
    unitOf[i] = isInside ? numbers[container] : numUnits - 1;
    end = isInside ? i + 1 : end;
  }
  for (size_t i = end; i < problem.operations.size(); ++i)
    unitOf[i] = numbers[containers[i]] == kNone ? numUnits : numbers[containers[i]];
  ++numUnits;
}

/// Finds the inputs of units: the values that an earlier unit makes for their forward operations.
void ChainView::findInputs() {
  isInput.assign(problem.values.size(), false);
  inputs.resize(numUnits + 1);
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    const Operation &op = problem.operations[i];
    for (int operand : op.operands) {
      int root = findRoot(problem, footprint, operand);
      if (root < 0 || !op.primal || op.order != 0)
        continue;
      int made = unitOf[problem.values[root].operation];
      if (made >= 0 && unitOf[i] > made)
        isInput[root] = true;
    }
  }
  for (int value : movable)
    if (isInput[value])
      inputs[unitOf[problem.values[value].operation] + 1].push_back(value);
    else
      isInput[value] = false;
}

/// Per operation: the bytes of its unit that operations behind it read in the forward pass, of
/// inputs and of what the unit has made.
std::vector<int64_t> ChainView::findCrossing(const std::vector<int> &lastRead) const {
  std::vector<std::vector<std::pair<int, int64_t>>> ends(problem.operations.size()); // unit, bytes
  std::vector<int64_t> open(numUnits + 1), crossing(problem.operations.size());
  auto begin = [&](int unit, int value, int from) {
    if (lastRead[value] <= from)
      return;
    open[unit] += problem.values[value].bytes;
    ends[lastRead[value]].push_back({unit, problem.values[value].bytes});
  };
  for (int unit = 0; unit <= numUnits; ++unit)
    for (int value : inputs[unit])
      begin(unit, value, -1);
  for (int i = 0, end = static_cast<int>(problem.operations.size()); i < end; ++i) {
    const Operation &op = problem.operations[i];
    for (auto [unit, bytes] : ends[i])
      open[unit] -= bytes;
    for (int value = op.firstResult; isInChain(i) && value < op.firstResult + op.numResults;
         ++value)
      begin(unitOf[i], value, i);
    crossing[i] = isInChain(i) ? open[unitOf[i]] : 0;
  }
  return crossing;
}

/// Finds narrow places, where little more than the input crosses, as between the two halves of a
/// transformer's layer. There a unit can be replayed in parts.
void ChainView::findNarrow() {
  static constexpr double kNarrow = 1.3;
  std::vector<int> lastRead(problem.values.size(), -1);
  for (size_t i = 0; i < problem.operations.size(); ++i)
    for (int operand : problem.operations[i].operands)
      if (int root = findRoot(problem, footprint, operand);
          root >= 0 && problem.operations[i].order == 0)
        lastRead[root] = static_cast<int>(i);
  isNarrow.assign(problem.values.size(), false);
  std::vector<int64_t> crossing = findCrossing(lastRead);
  std::vector<int> next(numUnits + 1, INT_MAX); // per unit: its next narrow operation
  Chain chain = makeChain();
  for (int i = static_cast<int>(problem.operations.size()); i-- > 0;) {
    const Operation &op = problem.operations[i];
    if (!isInChain(i))
      continue;
    if (static_cast<double>(crossing[i]) <= kNarrow * static_cast<double>(chain.inputs[unitOf[i]]))
      next[unitOf[i]] = i;
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
      isNarrow[value] = next[unitOf[i]] < lastRead[value];
  }
}

/// Launches between those of units, such as updates, belong to the unit of the launch before.
void ChainView::findUnitsOfLaunches() {
  unitOfLaunch.assign(footprint.numLaunches, kNone);
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    int launch = footprint.launches[i];
    bool isPlaced = unitOf[i] < numUnits - 1 || problem.operations[i].order == 0;
    if (launch != kNoLaunch && isPlaced)
      unitOfLaunch[launch] = std::max(unitOfLaunch[launch], unitOf[i]);
  }
  for (size_t launch = 0; launch < unitOfLaunch.size(); ++launch)
    if (unitOfLaunch[launch] == kNone)
      unitOfLaunch[launch] = launch > 0 ? unitOfLaunch[launch - 1] : 0;
}

/// Per value: the last launch that the original is kept for; -1 if only the forward pass reads it.
std::vector<int> ChainView::findKept(const Schedule &schedule) const {
  std::vector<int> kept(problem.values.size(), -1);
  for (const Schedule::Run &run : schedule.runs) {
    const Operation &op = problem.operations[run.operation];
    for (size_t i = 0; i < op.operands.size(); ++i) {
      int source = schedule.sources[run.firstSource + i];
      int root = source < 0 ? -1 : findRoot(problem, footprint, op.operands[i]);
      if (root < 0 || schedule.runs[source].replay > 0 || !footprint.isStored[root])
        continue;
      const Operation &definition = problem.operations[problem.values[root].operation];
      if (run.replay > 0 || (definition.primal && readsBack(op, definition)))
        kept[root] = std::max(kept[root], footprint.times[run.reader]);
    }
  }
  return kept;
}

/// Per launch: bytes of inputs, and of what units before that of the launch keep.
std::vector<int64_t> ChainView::findBefore(const std::vector<int> &kept) const {
  std::vector<std::vector<std::pair<int, int64_t>>> changes(footprint.numLaunches + 1);
  for (int value : movable) {
    int unit = unitOf[problem.values[value].operation], made = ranges[value].made;
    if (unit < 0 || kept[value] < made)
      continue;
    changes[made].push_back({unit, problem.values[value].bytes});
    changes[kept[value] + 1].push_back({unit, -problem.values[value].bytes});
  }
  std::vector<int64_t> before(footprint.numLaunches), open(numUnits);
  for (int launch = 0; launch < footprint.numLaunches; ++launch) {
    for (auto [unit, bytes] : changes[launch])
      open[unit] += bytes;
    before[launch] = std::accumulate(open.begin(), open.begin() + unitOfLaunch[launch], int64_t(0));
  }
  return before;
}

/// Seconds of the unit's operations that make its output from its input where that is not there.
double ChainView::findAgain(int unit, const std::vector<Choice> &choices) const {
  std::vector<int> stack;
  std::vector<bool> isMade(problem.operations.size());
  double seconds = 0;
  auto visit = [&](int value) {
    int operation = problem.values[value].operation;
    if (unitOf[operation] != unit || isMade[operation])
      return;
    isMade[operation] = true;
    seconds += least.replay[operation];
    stack.push_back(operation);
  };
  for (int value : inputs[unit + 1])
    visit(value);
  while (!stack.empty()) {
    int operation = stack.back();
    stack.pop_back();
    for (int operand : problem.operations[operation].operands)
      if (int root = findRoot(problem, footprint, operand);
          root >= 0 && choices[root] != Choice::Save)
        visit(root);
  }
  return seconds;
}

void ChainView::addWay(const std::vector<Choice> &choices, const Schedule &schedule,
                       const std::vector<int64_t> &profile, Chain &chain) const {
  std::vector<Chain::Way> ways(numUnits);
  std::vector<int> kept = findKept(schedule);
  for (int value : movable)
    if (int unit = unitOf[problem.values[value].operation]; unit >= 0 && kept[value] >= 0)
      ways[unit].kept += isInput[value] ? 0 : problem.values[value].bytes;
  std::vector<int64_t> before = findBefore(kept);
  for (size_t launch = 0; launch < profile.size(); ++launch) {
    int64_t &need = ways[unitOfLaunch[launch]].need;
    need = std::max(need, profile[launch] - before[launch]);
  }
  for (const Schedule::Run &run : schedule.runs)
    if (int unit = unitOf[run.reader]; run.replay > 0 && unit >= 0)
      ways[unit].own += least.replay[run.operation];
  for (int unit = 0; unit < numUnits; ++unit) {
    ways[unit].again = findAgain(unit, choices);
    chain.units[unit].push_back(ways[unit]);
  }
}

Chain ChainView::makeChain() const {
  Chain chain;
  chain.units.resize(numUnits);
  for (int unit = 0; unit < numUnits; ++unit) {
    int64_t bytes = 0;
    for (int value : inputs[unit])
      bytes += problem.values[value].bytes;
    chain.inputs.push_back(bytes);
  }
  return chain;
}

std::vector<Choice> ChainView::carryOut(const ChainPlan &plan,
                                        const std::vector<std::vector<Choice>> &ways) const {
  std::vector<Choice> choices = ways[plan.ways.front()];
  for (int value : movable) {
    int unit = unitOf[problem.values[value].operation];
    if (unit >= 0)
      choices[value] = isInput[value] ? plan.inputs[unit + 1] : ways[plan.ways[unit]][value];
  }
  return choices;
}
