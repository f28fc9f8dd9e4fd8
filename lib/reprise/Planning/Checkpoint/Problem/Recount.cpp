// reprise: what a solution takes, found again from its executions alone
#include "reprise/Planning/Checkpoint/Problem/Recount.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

using namespace reprise::checkpoint;
using Operation = Problem::Operation;

namespace {

class Recounter {
public:
  Recounter(const Problem &problem, const Footprint &footprint, const Solution &solution)
      : problem(problem), footprint(footprint), executions(solution.executions),
        count(executions.size()) {}

  Recount run();

private:
  /// A result of an execution: the step that makes it, the last one that reads it, and whether a
  /// kernel there reads it element by element.
  struct Buffer {
    int first = 0, last = -1;
    bool dies = false;
    void read(int step, bool fromRegisters) {
      dies = (step > last ? false : dies) || (fromRegisters && step >= last);
      last = std::max(last, step);
    }
  };

  const Operation &op(size_t e) const { return problem.operations[executions[e].operation]; }
  int launch(size_t e) const { return footprint.launches[executions[e].operation]; }
  bool isOwn(size_t e) const { return executions[e].replay == 0 && launch(e) != kNoLaunch; }
  bool readsRegisters(size_t e) const {
    return op(e).kind == Kind::Elementwise || op(e).kind == Kind::Reduction;
  }
  bool takesPlaces(size_t e) const {
    return footprint.takesPlaces(problem, executions[e].operation);
  }
  void findSources();
  void findPlaces();
  void makeSteps();
  void readBuffers();
  int64_t findPeak();
  bool isOneStep(size_t e, size_t other) const {
    return launch(e) == launch(other) && executions[e].replay == executions[other].replay;
  }
  bool isMoved(size_t e, size_t operand) const;
  std::pair<int, int> findBuffer(size_t e, size_t operand) const;
  void findTraffic();
  int64_t countTraffic() const;
  int stepAfter(int at) const {
    return at < footprint.numLaunches ? stepOfLaunch[at] : static_cast<int>(numSteps);
  }

  static constexpr int kUnread = -1, kApart = -2;
  const Problem &problem;
  const Footprint &footprint;
  const std::vector<Execution> &executions;
  size_t count;
  std::vector<std::vector<int>> sources; // per execution and operand, -1 for what is available
  std::vector<int> needed;               // per execution: the first launch that needs it
  std::vector<int> inside;               // per execution: the one launch that takes it from
                                         // registers, kUnread or kApart
  std::vector<int> steps, stepOfLaunch;
  size_t numSteps = 0;
  std::vector<std::vector<Buffer>> buffers; // per execution and result
  /// A step, and an execution and a result that it loads.
  using Load = std::tuple<int, int, int>;
  std::set<Load> usual, extra;                // what it loads in any case, and for some choice
  std::set<std::pair<int, int>> storedAnyway; // executions and results
};

} // namespace

void Recounter::findSources() {
  std::map<std::pair<int, int>, int> numbers; // of executions, by operation and replay
  for (size_t e = 0; e < count; ++e) {
    sources.emplace_back();
    for (size_t i = 0; i < op(e).operands.size(); ++i) {
      int value = op(e).operands[i];
      sources[e].push_back(value == kAvailable ? -1
                                               : numbers.at({problem.values[value].operation,
                                                             executions[e].sources[i]}));
    }
    numbers[{executions[e].operation, executions[e].replay}] = static_cast<int>(e);
  }
}

/// From the last execution to the first, so that readers come before what they read.
void Recounter::findPlaces() {
  needed.assign(count, footprint.numLaunches - 1);
  inside.assign(count, kUnread);
  for (size_t e = count; e-- > 0;) {
    bool isFree = launch(e) == kNoLaunch, isElementwise = op(e).kind == Kind::Elementwise;
    if (isOwn(e))
      needed[e] = launch(e);
    else if (executions[e].launch >= 0)
      needed[e] = std::min(needed[e], executions[e].launch);
    // Where its arithmetic is done, as far as operands in registers go.
    int home = isOwn(e) ? launch(e) : isFree || isElementwise ? inside[e] : kApart;
    for (int source : sources[e]) {
      if (source < 0)
        continue;
      needed[source] = std::min(needed[source], needed[e]);
      if (home == kUnread)
        continue;
      bool isOne = (isFree || readsRegisters(e)) && home != kApart &&
                   (inside[source] == kUnread || inside[source] == home);
      inside[source] = isOne ? home : kApart;
    }
  }
}

void Recounter::makeSteps() {
  std::vector<std::vector<int>> apart(footprint.numLaunches); // replays that are kernels, by launch
  for (size_t e = 0; e < count; ++e) {
    bool joins = op(e).kind == Kind::Elementwise && inside[e] >= 0;
    if (executions[e].replay > 0 && launch(e) != kNoLaunch && !joins)
      apart[needed[e]].push_back(static_cast<int>(e));
  }
  steps.assign(count, -1);
  for (int at = 0; at < footprint.numLaunches; ++at) {
    for (size_t i = 0; i < apart[at].size(); ++i) {
      numSteps += i > 0 && !isOneStep(apart[at][i], apart[at][i - 1]);
      steps[apart[at][i]] = static_cast<int>(numSteps);
    }
    numSteps += !apart[at].empty();
    stepOfLaunch.push_back(static_cast<int>(numSteps++));
  }
  for (size_t e = 0; e < count; ++e)
    if (launch(e) != kNoLaunch && steps[e] < 0)
      steps[e] = stepOfLaunch[isOwn(e) ? launch(e) : inside[e]];
}

/// Again from the last to the first: what reads a view reads its operand.
void Recounter::readBuffers() {
  for (size_t e = 0; e < count; ++e)
    buffers.emplace_back(op(e).numResults);
  auto bufferOf = [&](size_t e, size_t i) -> Buffer & {
    int value = op(e).operands[i], source = sources[e][i];
    return buffers[source][value - op(source).firstResult];
  };
  for (size_t e = count; e-- > 0;) {
    for (int r = 0; r < op(e).numResults; ++r) {
      Buffer &buffer = buffers[e][r];
      buffer.first = steps[e];
      int outside = footprint.lastOutside[op(e).firstResult + r];
      if (isOwn(e) && outside >= 0)
        buffer.read(stepAfter(outside), /*fromRegisters=*/false);
      bool isView = launch(e) == kNoLaunch && !sources[e].empty() && sources[e][0] >= 0;
      if (isView && buffer.last >= 0)
        bufferOf(e, 0).read(buffer.last, buffer.dies);
    }
    for (size_t i = 0; i < sources[e].size() && launch(e) != kNoLaunch; ++i)
      if (sources[e][i] >= 0)
        bufferOf(e, i).read(steps[e], takesPlaces(e));
  }
}

int64_t Recounter::findPeak() {
  std::vector<int64_t> bytes(numSteps + 2);
  auto add = [&](int first, int last, int64_t amount) {
    bytes[first] += amount;
    bytes[std::min<size_t>(last, numSteps) + 1] -= amount;
  };
  for (const Neighbour &other : footprint.neighbours)
    add(stepAfter(other.first), stepAfter(other.last), other.bytes);
  for (size_t e = 0; e < count; ++e)
    if (steps[e] >= 0)
      add(steps[e], steps[e], footprint.scratchOf(executions[e].operation));
  // By step and size: results that may lie where a buffer dies, and such places.
  std::map<std::pair<int, int64_t>, std::pair<int64_t, int64_t>> shared;
  for (size_t e = 0; e < count; ++e)
    for (int r = 0; r < op(e).numResults && launch(e) != kNoLaunch; ++r) {
      int value = op(e).firstResult + r;
      auto [first, last, dies] = buffers[e][r];
      if (isOwn(e) && !footprint.isStored[value])
        continue;
      if (last <= first) {
        if (footprint.storesUnread(executions[e].operation))
          add(first, first, problem.values[value].bytes);
        continue;
      }
      add(first, last, problem.values[value].bytes);
      shared[{first, problem.values[value].bytes}].first += takesPlaces(e);
      shared[{last, problem.values[value].bytes}].second += dies;
    }
  for (auto [place, numbers] : shared)
    add(place.first, place.first, -place.second * std::min(numbers.first, numbers.second));
  int64_t peak = 0, now = 0;
  for (size_t step = 0; step < numSteps; ++step)
    peak = std::max(peak, now += bytes[step]);
  return peak;
}

/// True if a choice may make the execution read another one, directly or through an operation
/// without a launch.
bool Recounter::isMoved(size_t e, size_t operand) const {
  int value = op(e).operands[operand], source = sources[e][operand];
  if (value == kAvailable)
    return false;
  if (!isFixed(problem, value) &&
      readsBack(op(e), problem.operations[problem.values[value].operation]))
    return true;
  for (size_t i = 0; launch(source) == kNoLaunch && i < sources[source].size(); ++i)
    if (isMoved(source, i))
      return true;
  return false;
}

/// The execution and the result that the operand is in memory; -1 for none.
std::pair<int, int> Recounter::findBuffer(size_t e, size_t operand) const {
  int value = op(e).operands[operand], source = sources[e][operand];
  while (source >= 0 && launch(source) == kNoLaunch) {
    bool hasOperand = !sources[source].empty();
    value = hasOperand ? op(source).operands[0] : kAvailable;
    source = hasOperand ? sources[source][0] : -1;
  }
  if (source < 0 || (isOwn(source) && !footprint.isStored[value]))
    return {-1, -1};
  return {source, value - op(source).firstResult};
}

void Recounter::findTraffic() {
  for (size_t e = 0; e < count; ++e)
    for (size_t i = 0; i < sources[e].size() && launch(e) != kNoLaunch; ++i) {
      auto [source, result] = findBuffer(e, i);
      if (source < 0 || steps[source] >= steps[e])
        continue;
      bool isUsual = isOwn(e) && (!readsRegisters(e) || op(source).kind != Kind::Elementwise);
      bool isFixedRead = isOwn(e) && !isMoved(e, i);
      (isUsual || isFixedRead ? usual : extra).insert({steps[e], source, result});
      if (isFixedRead)
        storedAnyway.insert({source, result});
    }
}

int64_t Recounter::countTraffic() const {
  int64_t bytes = 0;
  for (const Load &load : extra)
    if (!usual.count(load))
      bytes += problem.values[op(std::get<1>(load)).firstResult + std::get<2>(load)].bytes;
  for (int e = 0; e < static_cast<int>(count); ++e)
    for (int r = 0; r < op(e).numResults && launch(e) != kNoLaunch; ++r) {
      int value = op(e).firstResult + r;
      bool isKnown = isOwn(e) && (!footprint.isStored[value] || storedAnyway.count({e, r}) ||
                                  footprint.lastOutside[value] > launch(e));
      if (buffers[e][r].last > buffers[e][r].first && !isKnown)
        bytes += problem.values[value].bytes;
    }
  return bytes;
}

Recount Recounter::run() {
  findSources();
  findPlaces();
  makeSteps();
  readBuffers();
  Recount result;
  result.peak = findPeak();
  for (const Execution &execution : executions)
    result.cost += execution.replay > 0 ? footprint.seconds[execution.operation] : 0;
  result.cost += footprint.launchSeconds * static_cast<double>(numSteps - footprint.numLaunches);
  if (footprint.byteSeconds > 0) {
    findTraffic();
    result.cost += footprint.byteSeconds * static_cast<double>(countTraffic());
  }
  return result;
}

Recount reprise::checkpoint::recount(const Problem &problem, const Footprint &footprint,
                                     const Solution &solution) {
  return Recounter(problem, footprint, solution).run();
}
