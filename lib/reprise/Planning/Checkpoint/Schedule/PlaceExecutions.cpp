// reprise: the schedule of executions that a plan names
#include "reprise/Planning/Checkpoint/Schedule/Replays.h"

#include <algorithm>
#include <map>

using namespace reprise::checkpoint;

namespace {

class Placement {
public:
  Placement(const Problem &problem, const std::vector<Execution> &executions)
      : problem(problem), executions(executions), replaysBefore(problem.operations.size()) {}

  std::optional<Schedule> place();

private:
  /// Replays that an original reads before their place stand in a row of so many at most.
  static constexpr int kMostNested = 1000;

  bool index();
  bool add(const Execution &execution, int reader);
  bool addSource(int operand, int replay, int reader);

  const Problem &problem;
  const std::vector<Execution> &executions;
  std::map<std::pair<int, int>, const Execution *> named; // by operation and replay
  std::vector<std::vector<const Execution *>> replaysBefore;
  std::map<std::pair<int, int>, int> runs; // -1 while the sources of an execution are added
  Schedule schedule;
  int depth = 0;
};

} // namespace

bool Placement::index() {
  auto count = static_cast<int>(problem.operations.size());
  for (const Execution &execution : executions) {
    bool isKnown =
        execution.operation >= 0 && execution.operation < count && execution.replay >= 0 &&
        execution.before < count &&
        execution.sources.size() == problem.operations[execution.operation].operands.size();
    if (!isKnown || !named.insert({{execution.operation, execution.replay}, &execution}).second)
      return false;
    if (execution.replay > 0 && execution.before >= 0)
      replaysBefore[execution.before].push_back(&execution);
  }
  return true;
}

/// Adds the execution that an operand reads, unless it has run. An original must have.
bool Placement::addSource(int operand, int replay, int reader) {
  int source = operand == kAvailable ? -1 : problem.values[operand].operation;
  if (source < 0 || runs.count({source, replay}))
    return source < 0 ? replay == 0 : runs.at({source, replay}) >= 0;
  auto found = named.find({source, replay});
  return replay > 0 && found != named.end() && add(*found->second, reader);
}

bool Placement::add(const Execution &execution, int reader) {
  const Problem::Operation &op = problem.operations[execution.operation];
  std::pair<int, int> key(execution.operation, execution.replay);
  if (!runs.insert({key, -1}).second)
    return runs.at(key) >= 0;
  if (++depth > kMostNested)
    return false;
  for (size_t i = 0; i < op.operands.size(); ++i)
    if (!addSource(op.operands[i], execution.sources[i], reader))
      return false;
  int run = static_cast<int>(schedule.runs.size());
  schedule.runs.push_back({execution.operation, execution.replay, reader,
                           static_cast<int>(schedule.sources.size()), execution.before,
                           execution.launch});
  for (size_t i = 0; i < op.operands.size(); ++i)
    schedule.sources.push_back(
        op.operands[i] == kAvailable
            ? -1
            : runs.at({problem.values[op.operands[i]].operation, execution.sources[i]}));
  runs[key] = run;
  --depth;
  return true;
}

std::optional<Schedule> Placement::place() {
  if (!index())
    return std::nullopt;
  for (int i = 0; i < static_cast<int>(problem.operations.size()); ++i) {
    // A view may stand behind the first operation of the launch that reads it.
    for (const Execution *replay : replaysBefore[i])
      if (runs.count({replay->operation, 0}) && !add(*replay, i))
        return std::nullopt;
    auto found = named.find({i, 0});
    Execution original{i, 0, std::vector<int>(problem.operations[i].operands.size())};
    if (!add(found == named.end() ? original : *found->second, i))
      return std::nullopt;
  }
  return std::move(schedule);
}

std::optional<Schedule>
reprise::checkpoint::placeExecutions(const Problem &problem,
                                     const std::vector<Execution> &executions) {
  return Placement(problem, executions).place();
}
