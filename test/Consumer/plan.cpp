// A user of the planner alone: saves and replays values of a step of another compiler.
#include <cstdio>
#include <reprise/Planning/Checkpoint/Budget/BudgetPlanner.h>
#include <reprise/Planning/Checkpoint/Problem/ProblemFile.h>
#include <reprise/Planning/Checkpoint/Problem/Recount.h>
#include <reprise/Planning/Checkpoint/Problem/Validate.h>

using namespace reprise::checkpoint;

int main() {
  ProblemFile file;
  std::string wrong = readProblemFile(R"({"version": 1, "operations": [
    {"cost": 1, "results": [100]},
    {"cost": 1, "operands": [0], "results": [100]},
    {"cost": 1, "operands": [1], "results": [100]},
    {"cost": 2, "backward": true, "operands": [1, 2], "results": [100]},
    {"cost": 2, "backward": true, "operands": [0, 3], "results": [100]}]})",
                                      file);
  if (!wrong.empty()) {
    std::printf("%s\n", wrong.c_str());
    return 1;
  }
  BudgetPlanner planner(file.problem, file.footprint);
  std::optional<Plan> plan = planner.plan(300);
  if (!plan)
    return 1;
  ScheduleBuilder builder(file.problem);
  Solution solution = describe(file.problem, builder.build(plan->choices));
  if (auto defect = validate(file.problem, solution)) {
    std::printf("%s\n", defect->message.c_str());
    return 1;
  }
  Recount found = recount(file.problem, file.footprint, solution);
  std::printf("peak %lld, cost +%g of %g\n", static_cast<long long>(found.peak), found.cost,
              file.totalCost);
}
