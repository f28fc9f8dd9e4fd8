// reprise: planning problems of the C API, without IR
#include "Handles.h"
#include "Options.h"

#include "reprise/PlanTexts/Offsets.h"
#include "reprise/PlanTexts/Pipeline.h"
#include "reprise/PlanTexts/Plan.h"
#include "reprise/Support/Wording.h"
#include "llvm/Support/FormatVariadic.h"

using namespace reprise;
using namespace reprise::capi;
using llvm::StringRef;

struct reprise_plan {
  std::string summary;
  std::vector<std::string> solutions;
};

static llvm::Expected<reprise_plan> planCheckpoint(StringRef problem, const reprise_options &given,
                                                   SessionState &state) {
  PlanOptions options;
  options.path = "problem";
  options.budgets = given.texts("budget");
  options.isWritten = true;
  options.orLeast = given.isOn("or-least");
  if (given.has("time-limit"))
    options.timeLimit = given.number("time-limit");
  options.isCancelled = [&state] { return state.isCancelled(); };
  if (options.budgets.empty())
    return llvm::createStringError("expected a budget");
  llvm::Expected<std::vector<Plan>> plans = planWithinBudgets(problem, options);
  if (!plans)
    return plans.takeError();
  reprise_plan made;
  made.summary = describeAsJson(*plans);
  for (const Plan &plan : *plans)
    made.solutions.push_back(plan.isFound ? plan.text : "");
  return made;
}

static llvm::Expected<reprise_plan> planOffsets(StringRef problem, const reprise_options &given,
                                                SessionState &) {
  llvm::Expected<PackingPlan> plan =
      packBuffers(problem.str(), "problem", given.has("capacity") ? given.integer("capacity") : 0);
  if (!plan)
    return plan.takeError();
  return reprise_plan{describeAsJson(*plan), {plan->text}};
}

static llvm::Expected<reprise_plan> planSchedules(StringRef problem, const reprise_options &given,
                                                  SessionState &) {
  stages::ProblemFile file;
  if (std::string wrong = readProblemFile(problem, file); !wrong.empty())
    return llvm::createStringError("problem: " + wrong);
  std::vector<std::string> names = given.texts("schedule");
  llvm::Expected<std::vector<PipelinePlan>> plans = planPipeline(file, names);
  if (!plans)
    return plans.takeError();
  reprise_plan made;
  made.summary = describeAsJson(*plans);
  for (const PipelinePlan &plan : *plans)
    made.solutions.push_back(plan.defect.empty() ? writeSchedule(plan) : "");
  return made;
}

reprise_error *reprise_plan_problem(reprise_session *session, const char *kind, const char *problem,
                                    size_t size, const reprise_options *options,
                                    reprise_plan **plan) {
  if (reprise_error *error = refuseNull(
          {{"session", session}, {"kind", kind}, {"problem", problem, size}, {"plan", plan}}))
    return error;
  static const reprise_options none;
  SessionState &state = *session->state;
  state.begin();
  const reprise_options &given = options ? *options : none;
  if (std::string wrong = checkUse(&given, ForPlan); !wrong.empty())
    return state.fail(wrong, REPRISE_BAD_USAGE);
  StringRef text(problem, size), wanted(kind);
  static constexpr llvm::StringLiteral kinds[] = {"checkpoint", "offsets", "pipeline"};
  if (!llvm::is_contained(kinds, wanted))
    return state.fail("unknown problem '" + wanted.str() + "'" + suggest(wanted, kinds),
                      REPRISE_BAD_USAGE);
  auto solve = wanted == "checkpoint" ? planCheckpoint
               : wanted == "offsets"  ? planOffsets
                                      : planSchedules;
  state.setPhase("plan");
  llvm::Expected<reprise_plan> made = solve(text, given, state);
  if (!made)
    return state.fail(llvm::toString(made.takeError()));
  if (state.isCancelled())
    return state.fail("the search was cancelled");
  *plan = new reprise_plan(std::move(*made));
  return nullptr;
}

void reprise_plan_destroy(reprise_plan *plan) { delete plan; }
const char *reprise_plan_summary(const reprise_plan *plan) {
  return plan ? plan->summary.c_str() : "";
}
size_t reprise_plan_count(const reprise_plan *plan) { return plan ? plan->solutions.size() : 0; }
const char *reprise_plan_solution(const reprise_plan *plan, size_t index) {
  return index < reprise_plan_count(plan) ? plan->solutions[index].c_str() : "";
}
