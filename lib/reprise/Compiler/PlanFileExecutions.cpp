// reprise: executions in plan files
#include "PlanFile.h"

#include "reprise/Planning/Checkpoint/Problem/Validate.h"
#include "reprise/Planning/Checkpoint/Schedule/Replays.h"

using namespace mlir;
using namespace reprise;
using checkpoint::Execution;
using llvm::json::Array;

llvm::json::Value reprise::writeExecutions(const std::vector<Execution> &executions) {
  if (executions.empty())
    return nullptr;
  Array list;
  for (const Execution &execution : executions) {
    Array numbers{execution.operation, execution.replay, execution.before};
    llvm::append_range(numbers, execution.sources);
    list.push_back(std::move(numbers));
  }
  return list;
}

static std::optional<Execution> readExecution(const llvm::json::Value &entry) {
  const Array *list = entry.getAsArray();
  std::vector<int> numbers;
  for (size_t i = 0; list && i < list->size(); ++i) {
    std::optional<int64_t> number = (*list)[i].getAsInteger();
    if (!number || *number < (i == 2 ? -1 : 0) || *number > INT32_MAX)
      return std::nullopt;
    numbers.push_back(static_cast<int>(*number));
  }
  if (numbers.size() < 3)
    return std::nullopt;
  return Execution{numbers[0], numbers[1], {numbers.begin() + 3, numbers.end()}, numbers[2]};
}

std::string reprise::readExecutions(ProgramOp formed, const Array &list,
                                    std::vector<Execution> &executions) {
  for (const llvm::json::Value &entry : list) {
    std::optional<Execution> execution = readExecution(entry);
    if (!execution)
      return "is malformed: each entry of \"executions\" must list an op, a replay, the op "
             "before which the replay runs or -1, and the replays that it reads";
    executions.push_back(std::move(*execution));
  }
  std::optional<PlanningScope> scope = findJointScope(formed);
  if (!scope || !isOneScope(formed))
    return "is for another graph: its \"executions\" need one gradient";
  std::optional<NamedExecutions> named = findPlaces(formed, scope->ops, executions);
  std::optional<checkpoint::Schedule> schedule =
      named ? checkpoint::placeExecutions(scope->problem, named->executions) : std::nullopt;
  if (!schedule)
    return "is for another graph: its \"executions\" run an op before one that it reads from";
  checkpoint::Solution solution = checkpoint::describe(scope->problem, *schedule);
  auto defect = checkpoint::validate(scope->problem, solution, /*isJoined=*/true);
  return defect ? "is wrong: " + defect->message : "";
}
