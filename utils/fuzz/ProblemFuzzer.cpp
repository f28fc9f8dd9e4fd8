// reprise: arbitrary bytes read as a planning problem, and planned
#include "reprise/Planning/Checkpoint/Budget/BudgetPlanner.h"
#include "reprise/Planning/Checkpoint/Problem/ProblemFile.h"
#include "reprise/Planning/Checkpoint/Problem/Recount.h"
#include "reprise/Planning/Checkpoint/Problem/Validate.h"

using namespace reprise::checkpoint;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ProblemFile file;
  if (!readProblemFile({reinterpret_cast<const char *>(data), size}, file).empty())
    return 0;
  ProblemFile again;
  std::string text = writeProblemFile(file);
  if (!readProblemFile(text, again).empty() || writeProblemFile(again) != text)
    __builtin_trap();
  BudgetOptions options;
  options.evaluations = 60;
  BudgetPlanner planner(file.problem, file.footprint, options);
  int64_t budget = planner.followed().usage.peak / 4 * 3;
  std::optional<Plan> plan = planner.plan(budget);
  bool isFeasible = findBound(file.problem, file.footprint, budget).isFeasible;
  if (!plan)
    return 0;
  ScheduleBuilder builder(file.problem);
  Solution solution = describe(file.problem, builder.build(plan->choices));
  if (!isFeasible || validate(file.problem, solution) ||
      recount(file.problem, file.footprint, solution).peak != plan->usage.peak)
    __builtin_trap();
  return 0;
}
