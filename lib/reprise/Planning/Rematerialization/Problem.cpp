// reprise: the problem of executing a graph in little memory, its schedules, and their judge
#include "reprise/Planning/Rematerialization/Problem.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace reprise::remat {

Schedule inOrder(const Problem &problem) {
  Schedule schedule;
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    Execution execution{static_cast<int>(i), {}};
    for (int value : problem.operations[i].operands)
      execution.sources.push_back(problem.values[value].operation);
    schedule.push_back(std::move(execution));
  }
  return schedule;
}

std::vector<int64_t> bytesInOrder(const Problem &problem) {
  std::vector<int> last;
  for (const Value &value : problem.values)
    last.push_back(value.operation);
  for (size_t i = 0; i < problem.operations.size(); ++i)
    for (int value : problem.operations[i].operands)
      last[value] = static_cast<int>(i);
  std::vector<int64_t> bytes(problem.operations.size() + 1);
  for (size_t v = 0; v < problem.values.size(); ++v) {
    bytes[problem.values[v].operation] += problem.values[v].bytes;
    bytes[last[v] + 1] -= problem.values[v].bytes;
  }
  bytes.pop_back();
  std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
  return bytes;
}

static std::string name(size_t operation) { return "operation " + std::to_string(operation); }

static std::optional<std::string> checkOperation(const Problem &problem, size_t i) {
  const Operation &op = problem.operations[i];
  int values = static_cast<int>(problem.values.size());
  if (!std::isfinite(op.cost) || op.cost < 0)
    return name(i) + " has a cost below 0 or none";
  if (op.firstResult < 0 || op.numResults < 0 || op.numResults > values - op.firstResult)
    return name(i) + " has results that do not exist";
  for (int result = op.firstResult; result < op.firstResult + op.numResults; ++result)
    if (problem.values[result].operation != static_cast<int>(i))
      return name(i) + " has a result of another";
  std::vector<int> seen = op.operands;
  std::sort(seen.begin(), seen.end());
  if (std::adjacent_find(seen.begin(), seen.end()) != seen.end())
    return name(i) + " lists an operand twice";
  for (int value : op.operands)
    if (value < 0 || value >= values || problem.values[value].operation >= static_cast<int>(i))
      return name(i) + " reads a value before it is computed";
  return std::nullopt;
}

std::optional<std::string> validate(const Problem &problem) {
  int64_t total = 0;
  for (size_t i = 0; i < problem.values.size(); ++i) {
    const Value &value = problem.values[i];
    bool isMade = value.operation >= 0 &&
                  value.operation < static_cast<int>(problem.operations.size()) &&
                  problem.operations[value.operation].firstResult <= static_cast<int>(i) &&
                  static_cast<int>(i) < problem.operations[value.operation].firstResult +
                                            problem.operations[value.operation].numResults;
    if (!isMade)
      return "value " + std::to_string(i) + " is no operation's result";
    if (value.bytes < 0 || value.bytes > (int64_t{1} << 61) - total)
      return "value " + std::to_string(i) + " has a size below 0 or too large";
    total += value.bytes;
  }
  double cost = 0;
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    if (auto wrong = checkOperation(problem, i))
      return wrong;
    cost += problem.operations[i].cost;
  }
  // Replays and shares of them stay finite.
  if (cost > 1e30)
    return "the costs are more than 1e30 together";
  return std::nullopt;
}

std::optional<std::string> validate(const Problem &problem, const Schedule &schedule) {
  std::vector<bool> ran(problem.operations.size());
  for (size_t i = 0; i < schedule.size(); ++i) {
    const Execution &execution = schedule[i];
    std::string place = "execution " + std::to_string(i);
    if (execution.operation < 0 || execution.operation >= static_cast<int>(ran.size()))
      return place + " is of no operation";
    const Operation &op = problem.operations[execution.operation];
    if (execution.sources.size() != op.operands.size())
      return place + " has not one source per operand";
    for (size_t k = 0; k < op.operands.size(); ++k) {
      int source = execution.sources[k];
      if (source < 0 || source >= static_cast<int>(i) ||
          schedule[source].operation != problem.values[op.operands[k]].operation)
        return place + " reads what was not computed before it";
    }
    ran[execution.operation] = true;
  }
  auto missing = std::find(ran.begin(), ran.end(), false);
  if (missing != ran.end())
    return name(missing - ran.begin()) + " does not run";
  return std::nullopt;
}

Measure measure(const Problem &problem, const Schedule &schedule) {
  // The last reader of each result of each execution; itself if there is none.
  std::vector<std::vector<size_t>> last(schedule.size());
  for (size_t i = 0; i < schedule.size(); ++i) {
    const Operation &op = problem.operations[schedule[i].operation];
    last[i].assign(op.numResults, i);
    for (size_t k = 0; k < op.operands.size(); ++k) {
      const Operation &source = problem.operations[schedule[schedule[i].sources[k]].operation];
      last[schedule[i].sources[k]][op.operands[k] - source.firstResult] = i;
    }
  }
  std::vector<int64_t> freed(schedule.size());
  Measure result;
  int64_t live = 0;
  for (size_t i = 0; i < schedule.size(); ++i) {
    const Operation &op = problem.operations[schedule[i].operation];
    result.cost += op.cost;
    for (int r = 0; r < op.numResults; ++r) {
      live += problem.values[op.firstResult + r].bytes;
      freed[last[i][r]] += problem.values[op.firstResult + r].bytes;
    }
    result.peak = std::max(result.peak, live);
    live -= freed[i];
  }
  return result;
}

} // namespace reprise::remat
