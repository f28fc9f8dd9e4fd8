// reprise: the judge of checkpoint problems and their solutions
#include "reprise/Planning/Checkpoint/Problem/Validate.h"

#include <cmath>
#include <map>

using namespace reprise::checkpoint;
using Label = Problem::Label;
using Operation = Problem::Operation;
using Value = Problem::Value;

static Defect operationDefect(Defect::Kind kind, int operation, const std::string &what) {
  return {kind, operation, -1, "operation " + std::to_string(operation) + " " + what};
}

static Defect valueDefect(Defect::Kind kind, const Problem &problem, int value,
                          const std::string &what) {
  return {kind, problem.values[value].operation, value,
          "value " + std::to_string(value) + " " + what};
}

//===-- The footprint -------------------------------------------------------------------------===//

static bool isCost(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

static std::optional<Defect> checkFootprint(const Footprint &footprint, size_t operation) {
  auto defect = [&](const std::string &what) {
    return operationDefect(Defect::Kind::Problem, static_cast<int>(operation), what);
  };
  auto isLaunch = [&](int launch) { return launch >= 0 && launch < footprint.numLaunches; };
  int launch = footprint.launches[operation];
  if (launch != kNoLaunch && !isLaunch(launch))
    return defect("runs in a launch that there is not");
  if (!isLaunch(footprint.times[operation]))
    return defect("is made at a launch that there is not");
  if (!isCost(footprint.seconds[operation]))
    return defect("does not have finite, positive seconds");
  if (footprint.scratchOf(operation) < 0)
    return defect("has negative scratch");
  return std::nullopt;
}

std::optional<Defect> reprise::checkpoint::validate(const Problem &problem,
                                                    const Footprint &footprint) {
  auto defect = [](const std::string &what) {
    return Defect{Defect::Kind::Problem, -1, -1, "the footprint " + what};
  };
  size_t operations = problem.operations.size(), values = problem.values.size();
  auto fits = [&](size_t size) { return size == 0 || size == operations; };
  if (footprint.launches.size() != operations || footprint.times.size() != operations ||
      footprint.seconds.size() != operations || !fits(footprint.scratch.size()) ||
      !fits(footprint.inPlace.size()) || !fits(footprint.makesAll.size()) ||
      footprint.lastOutside.size() != values || footprint.isStored.size() != values)
    return defect("does not have one entry per operation and value");
  if (!isCost(footprint.launchSeconds) || !isCost(footprint.byteSeconds))
    return defect("does not have finite, positive prices");
  for (size_t i = 0; i < operations; ++i)
    if (auto found = checkFootprint(footprint, i))
      return found;
  for (const Neighbour &other : footprint.neighbours)
    if (other.first < 0 || other.first >= footprint.numLaunches || other.bytes < 0)
      return defect("has a neighbour that does not fit");
  return std::nullopt;
}

//===-- The problem ---------------------------------------------------------------------------===//

static std::optional<Defect> checkOperation(const Problem &problem, int index, int firstResult) {
  const Operation &op = problem.operations[index];
  auto defect = [&](const std::string &what) {
    return operationDefect(Defect::Kind::Problem, index, what);
  };
  if (op.container <= 0 || op.container >= static_cast<int>(problem.containers.size()))
    return defect("is in no container");
  if (op.order < 0)
    return defect("has a negative order");
  if (op.firstResult != firstResult || op.numResults < 0 ||
      op.numResults > static_cast<int>(problem.values.size()) - firstResult)
    return defect("does not have the next values as its results");
  for (int operand : op.operands)
    if (operand < kAvailable || operand >= firstResult)
      return defect("reads a value that is not defined before it");
  for (int result = firstResult; result < firstResult + op.numResults; ++result) {
    const Value &value = problem.values[result];
    if (value.operation != index || value.bytes < 0 || value.root < kAvailable ||
        value.root > result)
      return valueDefect(Defect::Kind::Problem, problem, result, "is malformed");
  }
  return std::nullopt;
}

std::optional<Defect> reprise::checkpoint::validate(const Problem &problem) {
  for (size_t i = 0; i < problem.containers.size(); ++i) {
    int parent = problem.containers[i].parent;
    if (i == 0 ? parent != -1 : parent < 0 || parent >= static_cast<int>(i))
      return Defect{Defect::Kind::Problem, -1, -1, "the containers form no tree"};
  }
  int firstResult = 0;
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    if (auto defect = checkOperation(problem, static_cast<int>(i), firstResult))
      return defect;
    firstResult += problem.operations[i].numResults;
  }
  if (firstResult != static_cast<int>(problem.values.size()))
    return Defect{Defect::Kind::Problem, -1, -1, "a value has no operation"};
  return std::nullopt;
}

//===-- The solution --------------------------------------------------------------------------===//

namespace {
class Judge {
public:
  Judge(const Problem &problem, const Solution &solution)
      : problem(problem), solution(solution), held(problem.values.size()),
        replayed(problem.values.size()) {}

  std::optional<Defect> run();
  std::optional<Defect> checkMemory() const;

private:
  std::optional<Defect> checkExecution(const Execution &execution);
  std::optional<Defect> checkRead(const Execution &execution, size_t operand);
  std::optional<Defect> checkValue(int value) const;

  const Problem &problem;
  const Solution &solution;
  int nextOriginal = 0, body = 0;
  std::map<std::pair<int, int>, bool> ran;   // executions, by operation and replay; true if read
  std::map<std::pair<int, int>, int> bodies; // of replays
  std::vector<bool> held;                    // originals read by the backward pass or a replay
  std::vector<bool> replayed;                // values whose replay is read
};
} // namespace

std::optional<Defect> Judge::checkExecution(const Execution &execution) {
  if (execution.operation < 0 || execution.operation >= static_cast<int>(problem.operations.size()))
    return Defect{Defect::Kind::Order, -1, -1,
                  "the solution executes an operation that does not exist"};
  auto defect = [&](Defect::Kind kind, const std::string &what) {
    return operationDefect(kind, execution.operation, what);
  };
  const Operation &op = problem.operations[execution.operation];
  // Replays stand before the next original.
  if (nextOriginal < static_cast<int>(problem.operations.size()))
    body = problem.operations[nextOriginal].body;
  bodies[{execution.operation, execution.replay}] = body;
  if (execution.replay < 0)
    return defect(Defect::Kind::Replay, "has a negative replay number");
  if (execution.replay == 0 && execution.operation != nextOriginal++)
    return defect(Defect::Kind::Order, "is not executed in program order");
  if (execution.replay > 0 && !op.primal)
    return defect(Defect::Kind::Replay, "is replayed, but it is not primal");
  if (execution.replay > 0 && ran.count({execution.operation, 0}) == 0)
    return defect(Defect::Kind::Order, "is replayed before its original");
  if (execution.sources.size() != op.operands.size())
    return defect(Defect::Kind::Source, "does not name one source per operand");
  for (size_t i = 0; i < op.operands.size(); ++i)
    if (auto found = checkRead(execution, i))
      return found;
  if (!ran.emplace(std::make_pair(execution.operation, execution.replay), false).second)
    return defect(Defect::Kind::Replay, "is executed twice with one replay number");
  return std::nullopt;
}

std::optional<Defect> Judge::checkRead(const Execution &execution, size_t operand) {
  const Operation &op = problem.operations[execution.operation];
  int value = op.operands[operand], source = execution.sources[operand];
  auto defect = [&](const std::string &what) {
    return operationDefect(Defect::Kind::Source, execution.operation,
                           "reads for operand " + std::to_string(operand) + " " + what);
  };
  if (value == kAvailable)
    return source == 0 ? std::nullopt
                       : std::optional(defect("a replay of what is always available"));
  const Operation &definition = problem.operations[problem.values[value].operation];
  auto found = ran.find({problem.values[value].operation, source});
  if (found == ran.end())
    return defect("an execution that has not run");
  found->second = true;
  if (source != 0 && bodies.at(found->first) != body)
    return defect("a replay in another body of a loop");
  bool back = execution.replay > 0 || mayReadReplay(problem, op, definition);
  if (!back && source != 0)
    return defect("a replay, but it belongs to the forward pass");
  if (source != 0)
    replayed[value] = true;
  else if (back && definition.primal)
    held[value] = true;
  return std::nullopt;
}

/// MUST holds, PREFER holds or has its reason, and the decision says what happens.
std::optional<Defect> Judge::checkValue(int id) const {
  const Value &value = problem.values[id];
  auto defect = [&](Defect::Kind kind, const std::string &what) {
    return valueDefect(kind, problem, id, what);
  };
  Decision decision = solution.decisions[id];
  Reason reason = solution.reasons[id];
  bool saysHeld = decision == Decision::Saved || decision == Decision::Kept;
  if (replayed[id] != (decision == Decision::Replayed))
    return defect(Defect::Kind::Decision, replayed[id] ? "is replayed, but the decision differs"
                                                       : "is not replayed as decided");
  if (!replayed[id] && held[id] != saysHeld)
    return defect(Defect::Kind::Decision,
                  held[id] ? "is held, but the decision differs" : "is not held as decided");
  if (reason == Reason::Outlives && !value.outlives)
    return defect(Defect::Kind::Decision,
                  "has the reason that it outlives the backward pass, but it does not");
  bool forBudget = reason == Reason::Budget;
  bool excused = forBudget || reason == Reason::BlockInput || reason == Reason::LastUnit;
  if (replayed[id] &&
      (value.label == Label::MustSave || (value.label == Label::PreferSave && !forBudget)))
    return defect(Defect::Kind::Label, "is replayed against its label");
  if (held[id] && !value.outlives &&
      (value.label == Label::MustRecompute || (value.label == Label::PreferRecompute && !excused)))
    return defect(Defect::Kind::Label, "is held against its label");
  return std::nullopt;
}

/// Who holds a view holds what it shows, up to a value that must be recomputed.
std::optional<Defect> Judge::checkMemory() const {
  std::vector<int> recomputed(problem.values.size(), -1); // what it shows, or itself
  for (size_t id = 0; id < problem.values.size(); ++id) {
    const Value &value = problem.values[id];
    const Operation &op = problem.operations[value.operation];
    bool isCopy = op.remade && value.label == Label::MustSave;
    if (value.label == Label::MustRecompute)
      recomputed[id] = static_cast<int>(id);
    else if (op.kind == Kind::View && op.numResults == 1 && !isCopy && !op.operands.empty() &&
             op.operands[0] != kAvailable &&
             problem.operations[problem.values[op.operands[0]].operation].body == op.body)
      recomputed[id] = recomputed[op.operands[0]];
    if (held[id] && !value.outlives && recomputed[id] >= 0)
      return valueDefect(Defect::Kind::Label, problem, static_cast<int>(id),
                         "is held, and with it the memory of value " +
                             std::to_string(recomputed[id]) + ", which must be recomputed");
  }
  return std::nullopt;
}

std::optional<Defect> Judge::run() {
  if (solution.decisions.size() != problem.values.size() ||
      solution.reasons.size() != problem.values.size())
    return Defect{Defect::Kind::Decision, -1, -1,
                  "the solution does not have one decision and one reason per value"};
  for (const Execution &execution : solution.executions)
    if (auto defect = checkExecution(execution))
      return defect;
  if (nextOriginal != static_cast<int>(problem.operations.size()))
    return operationDefect(Defect::Kind::Order, nextOriginal, "is never executed");
  for (auto [execution, read] : ran)
    if (execution.second > 0 && !read)
      return operationDefect(Defect::Kind::Replay, execution.first,
                             "has a replay that is not read");
  for (size_t i = 0; i < problem.values.size(); ++i)
    if (auto defect = checkValue(static_cast<int>(i)))
      return defect;
  return std::nullopt;
}

std::optional<Defect> reprise::checkpoint::validate(const Problem &problem,
                                                    const Solution &solution, bool isJoined) {
  Judge judge(problem, solution);
  std::optional<Defect> defect = judge.run();
  return defect || !isJoined ? defect : judge.checkMemory();
}
