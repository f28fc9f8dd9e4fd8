// reprise: the planner alone, without MLIR: schedules within budgets, packings, pipelines
#include "CommandLine/CommandLine.h"
#include "reprise/Page/Page.h"
#include "reprise/PlanTexts/Offsets.h"
#include "reprise/PlanTexts/Pipeline.h"
#include "reprise/PlanTexts/Plan.h"
#include "reprise/Planning/Pipeline/Schedule.h"
#include "reprise/Planning/Pipeline/ScheduleFile.h"
#include "reprise/Planning/Pipeline/Trace.h"
#include "reprise/Runtime/AtomicFile.h"
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/FileKind.h"
#include "reprise/Support/Readable.h"
#include "reprise/Support/Wording.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/WithColor.h"

namespace cli = reprise::cli;

namespace {

struct Flags : cli::Tool {
  Flags()
      : Tool("reprise-plan", "plans memory from numbers alone, without a model",
             "checkpoint PROBLEM --budget=BYTES|N%... [options] | offsets BUFFERS.csv [options] | "
             "pipeline PROBLEM [options]") {
    addExample("reprise-plan checkpoint problem.json --budget=80% --budget=60%",
               "The cheapest schedules of a training step in 80 and 60 % of its peak.");
    addExample("reprise-plan offsets buffers.csv -o packing.csv",
               "Pack buffers of known lifetimes into the smallest arena.");
    addExample("reprise-plan pipeline problem.json --schedule=1f1b --gantt=1f1b.html",
               "Cut a step into stages, and simulate a schedule of its micro-batches.");
  }

  cli::Text kind{*this,
                 "KIND",
                 "",
                 "checkpoint: choose values to save and to replay; offsets: give buffers their "
                 "offsets in one arena; pipeline: cut a step into stages and schedule "
                 "micro-batches",
                 "",
                 {"checkpoint", "offsets", "pipeline"}};
  cli::Text problem{
      *this, "PROBLEM", "",
      "A planning problem or a graph as JSON (docs/reference/PlanningProblems.md), or buffers "
      "as CSV; - is standard input"};

  cli::Group output{*this, "Output"};
  cli::Text written{*this, "-o", "OUT.json|OUT.csv",
                    "Write the plan, the packing, or the fastest schedule"};
  cli::Switch json{*this, "--json", "Print JSON instead of text"};

  cli::Group checkpoint{*this, "checkpoint"};
  cli::Texts budgets{
      *this, "--budget", "BYTES|N%",
      "Find the cheapest plan within bytes (1500000), a number with a unit (1.5GiB), "
      "or a share of the peak without replays (80%); may be repeated"};
  cli::Number<double> timeLimit{*this,
                                "--time-limit",
                                "S",
                                "End the search for each budget after S seconds; 0 gives the best "
                                "plan without a search (no limit)",
                                0,
                                {0}};

  cli::Switch orLeast{
      *this, "--or-least",
      "If no plan fits a budget, give the plan with the smallest peak instead of an error"};

  cli::Group offsetsGroup{*this, "offsets"};
  cli::Number<int64_t> capacity{*this,
                                "--capacity",
                                "BYTES",
                                "End the search with the first packing that fits in an arena of so "
                                "many bytes (search for the smallest arena)",
                                0,
                                {1, INT64_MAX}};

  cli::Group pipelineGroup{*this, "pipeline"};
  cli::Texts schedules{*this, "--schedule", "NAME|FILE",
                       "Simulate " + cli::joinChoices(reprise::pipeline::getRuleNames()) +
                           ", or a file that lists the passes of each rank; may be repeated (all "
                           "of these rules)"};
  cli::Text gantt{*this, "--gantt", "F.html", "Write the fastest schedule as an HTML page"};
  cli::Text trace{*this, "--trace", "F.json", "Write the fastest schedule as a Chrome trace"};
};

int fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "reprise-plan")
      << reprise::shortenMessage(message.str()) << "\n";
  return 1;
}

/// Returns an error about the first given flag of another kind of problem; empty without one.
std::string findForeign(const Flags &flags) {
  const std::string &kind = flags.kind.get();
  const std::pair<const cli::Option *, const char *> owned[] = {
      {&flags.budgets, "checkpoint"}, {&flags.timeLimit, "checkpoint"},
      {&flags.orLeast, "checkpoint"}, {&flags.capacity, "offsets"},
      {&flags.schedules, "pipeline"}, {&flags.gantt, "pipeline"},
      {&flags.trace, "pipeline"}};
  for (auto [option, owner] : owned)
    if (option->isGiven() && kind != owner)
      return option->name + " is an option of " + owner;
  return "";
}

/// Checks that no file is written twice, or over an input.
std::string checkFiles(const Flags &flags) {
  std::vector<std::string> written, inputs = {flags.problem.get()};
  for (const std::string &schedule : flags.schedules)
    if (!reprise::pipeline::findRule(schedule))
      inputs.push_back(schedule);
  for (const cli::Text *path : {&flags.written, &flags.gantt, &flags.trace}) {
    auto same = [&](const std::string &other) {
      return reprise::runtime::isSameFile(*path, other);
    };
    if (path->empty())
      continue;
    if (llvm::any_of(written, same))
      return "'" + path->get() + "' is named by two outputs";
    if (llvm::any_of(inputs, same))
      return "'" + path->get() + "' is an input and an output";
    written.push_back(path->get());
  }
  return "";
}

/// Returns the fault of the flags; empty if they are valid.
std::string checkFlags(const Flags &flags) {
  if (!llvm::is_contained(flags.kind.choices(), flags.kind.get()))
    return "unknown problem '" + flags.kind.get() + "'" +
           reprise::suggest(flags.kind.get(), flags.kind.choices());
  if (std::string foreign = findForeign(flags); !foreign.empty())
    return foreign;
  if (flags.kind.get() == "checkpoint" && flags.budgets.empty())
    return "expected --budget";
  for (const std::string &budget : flags.budgets)
    if (std::string wrong = reprise::checkBudget(budget); !wrong.empty())
      return wrong;
  for (const std::string &schedule : flags.schedules)
    if (!reprise::pipeline::findRule(schedule) && !llvm::sys::fs::exists(schedule))
      return reprise::pipeline::refuseUnknown(schedule);
  if (!flags.written.empty() && flags.budgets.size() > 1)
    return "-o writes one plan: give one --budget";
  return checkFiles(flags);
}

int write(const std::string &path, const std::string &text) {
  reprise::AtomicFile file(path);
  if (!file.write(text.data(), text.size()) || !file.commit())
    return fail(file.error());
  return 0;
}

/// Returns the text of the problem; none, after an error, if the file cannot be read or holds no
/// problem.
std::optional<std::string> readProblem(const Flags &flags) {
  using namespace reprise::runtime;
  const std::string &path = flags.problem.get();
  Expected<std::vector<uint8_t>> bytes = readFile(path);
  if (!bytes) {
    fail(bytes.message());
    return std::nullopt;
  }
  std::string text(bytes->begin(), bytes->end());
  FileKind wanted = flags.kind.get() == "offsets" ? FileKind::Text : FileKind::Json;
  if (std::string wrong = findMisplaced(path, text, wanted); !wrong.empty()) {
    fail(wrong);
    return std::nullopt;
  }
  return text;
}

int packBuffers(const Flags &flags) {
  std::optional<std::string> text = readProblem(flags);
  if (!text)
    return 1;
  auto plan = reprise::packBuffers(*text, flags.problem, flags.capacity);
  if (!plan)
    return fail(llvm::toString(plan.takeError()));
  llvm::outs() << (flags.json ? reprise::describeAsJson(*plan) : reprise::describe(*plan) + "\n");
  if (flags.capacity > 0 && plan->height > flags.capacity)
    return fail(llvm::formatv(
        "the smallest packing found takes {0}; a packing within {1} may exist",
        reprise::showBytesExactly(plan->height), reprise::showBytesExactly(flags.capacity)));
  return flags.written.empty() ? 0 : write(flags.written, plan->text);
}

int planCheckpoint(const Flags &flags) {
  std::optional<std::string> text = readProblem(flags);
  if (!text)
    return 1;
  reprise::PlanOptions options;
  options.path = flags.problem;
  options.budgets.assign(flags.budgets.begin(), flags.budgets.end());
  options.isWritten = !flags.written.empty();
  options.orLeast = flags.orLeast;
  if (flags.timeLimit.isGiven())
    options.timeLimit = flags.timeLimit;
  llvm::Expected<std::vector<reprise::Plan>> plans = reprise::planWithinBudgets(*text, options);
  if (!plans)
    return fail(llvm::toString(plans.takeError()));
  if (flags.json)
    llvm::outs() << reprise::describeAsJson(*plans);
  int code = 0;
  for (const reprise::Plan &plan : *plans)
    if (!plan.isFound)
      code = fail(reprise::describe(plan));
    else if (!flags.json)
      llvm::outs() << reprise::describe(plan) << "\n";
  return code || flags.written.empty() ? code : write(flags.written, plans->front().text);
}

/// The page, the trace and the schedule that were asked for.
int writePipeline(const Flags &flags, const reprise::PipelinePlan &plan) {
  size_t pieces = 0;
  for (const auto &rank : plan.schedule.ranks)
    pieces += rank.size();
  if (!flags.gantt.empty() && pieces > reprise::kMostDrawn)
    return fail(llvm::formatv("the schedule has {0} pieces: a page shows at most {1}", pieces,
                              reprise::kMostDrawn));
  int code = 0;
  if (!flags.gantt.empty())
    code = write(flags.gantt, drawSchedule(plan));
  if (code == 0 && !flags.trace.empty())
    code = write(flags.trace, writeTrace(plan.schedule, plan.simulation));
  if (code == 0 && !flags.written.empty())
    code = write(flags.written, writeSchedule(plan));
  return code;
}

int schedulePipeline(const Flags &flags) {
  std::optional<std::string> text = readProblem(flags);
  if (!text)
    return 1;
  reprise::stages::ProblemFile file;
  if (std::string wrong = readProblemFile(*text, file); !wrong.empty())
    return fail(flags.problem.get() + ": " + wrong);
  std::vector<std::string> names(flags.schedules.begin(), flags.schedules.end());
  llvm::Expected<std::vector<reprise::PipelinePlan>> plans = reprise::planPipeline(file, names);
  if (!plans)
    return fail(llvm::toString(plans.takeError()));
  if (flags.json)
    llvm::outs() << reprise::describeAsJson(*plans);
  int code = 0;
  for (const reprise::PipelinePlan &plan : *plans)
    if (!names.empty() && !plan.defect.empty())
      code = fail(reprise::describe(plan));
    else if (!flags.json)
      llvm::outs() << reprise::describe(plan) << "\n";
  const reprise::PipelinePlan *fastest = reprise::findFastest(*plans);
  if (!fastest)
    return code ? code : fail("no schedule can run");
  return code ? code : writePipeline(flags, *fastest);
}

int plan(const Flags &flags) {
  if (flags.kind.get() == "pipeline")
    return schedulePipeline(flags);
  return flags.kind.get() == "offsets" ? packBuffers(flags) : planCheckpoint(flags);
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Flags flags;
  if (std::optional<int> code = flags.parse(argc, argv))
    return *code;
  if (std::string wrong = checkFlags(flags); !wrong.empty())
    return flags.refuse(wrong);
  int code = plan(flags);
  llvm::outs().flush();
  std::error_code wrong = llvm::outs().error();
  llvm::outs().clear_error(); // LLVM would end the process by an error of its own
  return wrong ? fail("cannot write the standard output: " + wrong.message()) : code;
}
