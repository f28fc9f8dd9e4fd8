// reprise: random checkpoint problems, footprints and choices for tests
#ifndef REPRISE_TEST_PLANNING_RANDOMCHECKPOINT_H
#define REPRISE_TEST_PLANNING_RANDOMCHECKPOINT_H

#include "reprise/Planning/Checkpoint/Problem/Validate.h"
#include "reprise/Planning/Checkpoint/Schedule/Meter.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>
#include <set>

namespace reprise::checkpoint::test {

using Label = Problem::Label;
using Operation = Problem::Operation;
using Value = Problem::Value;

using Random = std::mt19937_64;

inline int pick(Random &random, int n) {
  return static_cast<int>(random() % static_cast<uint64_t>(n));
}

/// Returns the number of random problems of a test; REPRISE_FUZZ_PROBLEMS asks for more.
inline int problemCount(int usual) {
  const char *given = std::getenv("REPRISE_FUZZ_PROBLEMS");
  return given ? std::max(usual, std::atoi(given)) : usual;
}

/// Problem and the step around it.
struct Case {
  Problem problem;
  Footprint footprint;

  /// Returns the first result.
  int add(int launch, Kind kind, std::vector<int> operands, int64_t order = 0, bool primal = true,
          int64_t bytes = 8, int results = 1) {
    Operation op;
    op.container = static_cast<int>(problem.containers.size()) - 1;
    op.order = order;
    op.primal = primal;
    op.kind = kind;
    op.operands = std::move(operands);
    op.firstResult = static_cast<int>(problem.values.size());
    op.numResults = results;
    op.flops = 1;
    bool isView = launch == kNoLaunch && !op.operands.empty() && op.operands[0] != kAvailable;
    for (int i = 0; i < results; ++i) {
      int value = static_cast<int>(problem.values.size());
      problem.values.push_back({static_cast<int>(problem.operations.size()), bytes,
                                isView ? problem.values[op.operands[0]].root : value});
      footprint.lastOutside.push_back(-1);
      footprint.isStored.push_back(true);
    }
    problem.operations.push_back(op);
    footprint.launches.push_back(launch);
    footprint.seconds.push_back(launch == kNoLaunch ? 0 : 1);
    footprint.numLaunches = std::max(footprint.numLaunches, launch + 1);
    return op.firstResult;
  }

  /// Computes when operations without a launch run. Must be called after the last operation.
  void findTimes() {
    footprint.times = footprint.launches;
    for (size_t i = problem.operations.size(); i-- > 0;) {
      int &time = footprint.times[i];
      if (time == kNoLaunch)
        time = footprint.numLaunches - 1;
      for (int operand : problem.operations[i].operands)
        if (operand != kAvailable)
          if (int of = problem.values[operand].operation; footprint.launches[of] == kNoLaunch)
            footprint.times[of] =
                footprint.times[of] < 0 ? time : std::min(footprint.times[of], time);
    }
  }
};

struct CaseOptions {
  int forward = 8;        // number of operations
  int levels = 1;         // levels of derivatives
  int labels = 0;         // percentage of values with labels
  bool isOrdered = true;  // launches are in program order
  bool hasMusts = true;   // labels contain MUSTs
  bool hasTraffic = true; // launches and bytes may have costs
  bool hasUnread = true;  // kernels may store results without readers
};

/// Maker of chains with skips, views, several results and nested containers. Cotangents read what
/// their operation reads, in the opposite order.
class CaseMaker {
public:
  CaseMaker(Random &random, CaseOptions options) : random(random), options(options) {}

  Case make() {
    result.problem.containers.push_back({-1});
    for (int i = 0; i < options.forward; ++i) {
      enterContainer(i);
      addForward();
    }
    for (int level = 1; level <= options.levels; ++level)
      addBackward(level);
    result.findTimes();
    addSurroundings();
    return std::move(result);
  }

private:
  bool chance(int percent) { return pick(random, 100) < percent; }

  void enterContainer(int index) {
    int known = static_cast<int>(result.problem.containers.size());
    if (index == 0 || chance(30))
      result.problem.containers.push_back({index > 0 && chance(40) ? known - 1 : 0});
  }

  int pickOperand() {
    int known = static_cast<int>(result.problem.values.size());
    if (known == 0 || chance(10))
      return kAvailable;
    return chance(65) ? known - 1 - pick(random, std::min(known, 2)) : pick(random, known);
  }

  /// Picks the launch of the next operation. Runs of operations share a launch; out of order, an
  /// operation may join any launch behind its operands.
  int pickLaunch(const std::vector<int> &operands) {
    if (!options.isOrdered && launch > 0 && chance(25)) {
      int first = 0;
      for (int operand : operands)
        first = std::max(first, launchOf(operand));
      return first + pick(random, launch + 1 - first);
    }
    launch += launch < 0 || chance(65);
    return launch;
  }

  /// Returns the launch of the operation that computes the value, through views.
  int launchOf(int value) const {
    while (value != kAvailable) {
      int operation = result.problem.values[value].operation;
      if (result.footprint.launches[operation] != kNoLaunch)
        return result.footprint.launches[operation];
      value = result.problem.operations[operation].operands[0];
    }
    return 0;
  }

  void addForward() {
    bool isView = chance(20) && !result.problem.values.empty();
    std::vector<int> operands = {pickOperand()};
    if (isView) {
      int64_t bytes = operands[0] == kAvailable ? 8 : result.problem.values[operands[0]].bytes;
      result.add(kNoLaunch, Kind::View, operands, 0, true, bytes);
      return;
    }
    while (chance(35))
      operands.push_back(pickOperand());
    addLaunched(std::move(operands), 0, /*primal=*/true);
  }

  void addLaunched(std::vector<int> operands, int64_t order, bool primal) {
    static constexpr Kind kinds[] = {Kind::Elementwise, Kind::Elementwise, Kind::Reduction,
                                     Kind::Contraction, Kind::Other};
    Kind kind = kinds[pick(random, 5)];
    int results = chance(20) ? 2 : chance(2) ? 0 : 1;
    int64_t bytes = 8 * (1 + pick(random, 5));
    int own = pickLaunch(operands);
    result.add(own, kind, std::move(operands), order, primal, bytes, results);
    result.footprint.seconds.back() = 1 + pick(random, 9);
  }

  /// Adds the backward pass of all operations so far.
  void addBackward(int level) {
    size_t before = result.problem.operations.size();
    int64_t base = int64_t(1) << (level - 1);
    int cotangent = kAvailable;
    for (size_t i = before; i-- > 0;) {
      if (chance(15))
        continue;
      Operation forward = result.problem.operations[i];
      std::vector<int> operands = {cotangent};
      for (int operand : forward.operands)
        if (chance(80))
          operands.push_back(operand);
      if (forward.numResults > 0 && chance(30))
        operands.push_back(forward.firstResult);
      bool isView = forward.kind == Kind::View && chance(50) && operands.size() > 1;
      if (isView)
        result.add(kNoLaunch, Kind::View, {operands.back()}, base | forward.order,
                   level < options.levels);
      else
        addLaunched(std::move(operands), base | forward.order, level < options.levels);
      result.problem.operations.back().container = forward.container;
      if (result.problem.operations.back().numResults > 0)
        cotangent = result.problem.operations.back().firstResult;
    }
  }

  Label pickLabel() {
    if (!chance(options.labels))
      return Label::None;
    if (!options.hasMusts)
      return chance(50) ? Label::PreferSave : Label::PreferRecompute;
    return static_cast<Label>(1 + pick(random, 4));
  }

  void addSurroundings() {
    Footprint &footprint = result.footprint;
    int launches = footprint.numLaunches = std::max(1, footprint.numLaunches);
    for (size_t value = 0; value < result.problem.values.size(); ++value) {
      int time = footprint.times[result.problem.values[value].operation];
      Value &entry = result.problem.values[value];
      entry.label = pickLabel();
      entry.outlives = chance(5);
      if (entry.outlives || chance(5))
        footprint.lastOutside[value] = time + 1 + pick(random, launches - time);
      footprint.isStored[value] = !chance(3);
    }
    for (size_t i = 0; i < result.problem.operations.size(); ++i)
      footprint.inPlace.push_back(footprint.launches[i] != kNoLaunch && chance(10));
    for (size_t i = 0; i < result.problem.operations.size(); ++i)
      footprint.makesAll.push_back(options.hasUnread && footprint.launches[i] != kNoLaunch &&
                                   chance(20));
    if (options.hasTraffic && chance(50)) {
      footprint.launchSeconds = pick(random, 3);
      footprint.byteSeconds = 0.125 * (1 + pick(random, 4));
    }
    footprint.scratch.resize(result.problem.operations.size());
    for (size_t i = 0; i < footprint.scratch.size(); ++i)
      if (footprint.launches[i] != kNoLaunch && chance(10))
        footprint.scratch[i] = 8 * (1 + pick(random, 4));
    while (chance(50)) {
      int first = pick(random, launches);
      footprint.neighbours.push_back(
          {first, first + 1 + pick(random, launches - first), 8 * (1 + pick(random, 3))});
    }
  }

  Random &random;
  CaseOptions options;
  Case result;
  int launch = -1;
};

/// Makes a case of any size up to `forward` operations.
inline Case makeCase(Random &random, int forward, int labels = 30, bool isOrdered = true) {
  CaseOptions options;
  options.forward = 2 + pick(random, forward - 1);
  options.levels = 1 + (pick(random, 3) == 0);
  options.labels = pick(random, 2) ? labels : 0;
  options.isOrdered = isOrdered;
  return CaseMaker(random, options).make();
}

/// Choices that obey the MUSTs.
inline std::vector<Choice> pickChoices(Random &random, const Problem &problem) {
  int saved = pick(random, 101);
  std::vector<Choice> choices;
  for (const Value &value : problem.values) {
    bool isSaved = value.label == Label::MustSave ||
                   (value.label != Label::MustRecompute && pick(random, 100) < saved);
    int kinds = value.label == Label::MustRecompute ? 2 : 3;
    choices.push_back(isSaved ? Choice::Save : static_cast<Choice>(1 + pick(random, kinds)));
  }
  return choices;
}

/// Returns values whose choice may matter: read in the backward pass, or by replays of such values.
inline std::vector<int> findFree(const Problem &problem) {
  std::vector<bool> isFree(problem.values.size());
  for (size_t i = problem.operations.size(); i-- > 0;) {
    const Operation &op = problem.operations[i];
    bool mayReplay = false;
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
      mayReplay |= op.primal && isFree[value];
    for (int operand : op.operands)
      if (operand != kAvailable && !isFixed(problem, operand) &&
          (mayReplay || readsBack(op, problem.operations[problem.values[operand].operation])))
        isFree[operand] = true;
  }
  std::vector<int> values;
  for (size_t value = 0; value < problem.values.size(); ++value)
    if (isFree[value])
      values.push_back(static_cast<int>(value));
  return values;
}

/// Returns for each value the units, by outermost container and order, that may ask for it: the
/// units of its backward readers, and those that ask for a value that depends on it.
inline std::vector<std::set<std::pair<int, int64_t>>> findAskers(const Problem &problem) {
  std::vector<std::set<std::pair<int, int64_t>>> askers(problem.values.size());
  for (size_t i = problem.operations.size(); i-- > 0;) {
    const Operation &op = problem.operations[i];
    int container = op.container;
    while (problem.containers[container].parent != 0)
      container = problem.containers[container].parent;
    for (int operand : op.operands) {
      if (operand == kAvailable)
        continue;
      if (readsBack(op, problem.operations[problem.values[operand].operation]))
        askers[operand].emplace(container, op.order);
      for (int value = op.firstResult; op.primal && value < op.firstResult + op.numResults; ++value)
        askers[operand].insert(askers[value].begin(), askers[value].end());
    }
  }
  return askers;
}

/// Visits all choices of these values that obey the MUSTs; the others are saved.
inline void forEachChoices(const Problem &problem, const std::vector<int> &free,
                           const std::function<void(const std::vector<Choice> &)> &visit) {
  std::vector<Choice> choices(problem.values.size(), Choice::Save);
  std::function<void(size_t)> set = [&](size_t next) {
    if (next == free.size())
      return visit(choices);
    Label label = problem.values[free[next]].label;
    for (int number = 0; number < kNumChoices; ++number) {
      auto choice = static_cast<Choice>(number);
      bool isWrong = label == Label::MustSave
                         ? choice != Choice::Save
                         : label == Label::MustRecompute && keepsOriginal(choice);
      if (isWrong)
        continue;
      choices[free[next]] = choice;
      set(next + 1);
    }
  };
  set(0);
}

} // namespace reprise::checkpoint::test

#endif // REPRISE_TEST_PLANNING_RANDOMCHECKPOINT_H
