// reprise: the planner alone, without MLIR: schedules graphs within budgets, packs buffers
#include "reprise-plan/Plan.h"
#include "reprise/Planning/Checkpoint/Problem/ProblemFile.h"
#include "reprise/Planning/Offsets/Csv.h"
#include "reprise/Planning/Offsets/Solve.h"
#include "reprise/Runtime/AtomicFile.h"
#include "reprise/Runtime/File.h"
#include "reprise/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"
#include <chrono>

namespace cl = llvm::cl;
namespace offsets = reprise::offsets;

namespace {

struct Flags {
  cl::opt<std::string> kind{cl::Positional, cl::desc("checkpoint|offsets"), cl::Required};
  cl::opt<std::string> problem{cl::Positional, cl::desc("GRAPH.json|PROBLEM.json|BUFFERS.csv"),
                               cl::Required};
  cl::list<std::string> budgets{
      "budget", cl::desc("checkpoint: bytes, or a share of the peak without replays; repeated"),
      cl::value_desc("80%|1.5GiB")};
  cl::opt<int64_t> capacity{"capacity",
                            cl::desc("offsets: bytes of the arena, a packing that fits is enough"),
                            cl::value_desc("BYTES"), cl::init(0)};
  cl::opt<double> timeLimit{
      "time-limit",
      cl::desc("checkpoint: ends the search for each budget; zero leaves what "
               "is found without one"),
      cl::value_desc("SECONDS")};
  cl::opt<bool> json{"json", cl::desc("Print JSON")};
  cl::opt<std::string> output{"o", cl::desc("The schedule or the packing to write"),
                              cl::value_desc("OUT.json|OUT.csv")};
};

int fail(const llvm::Twine &message) {
  llvm::WithColor::error() << message << "\n";
  return 1;
}

/// What is wrong with the flags; empty if nothing is.
std::string checkFlags(const Flags &flags) {
  if (flags.kind != "offsets" && flags.kind != "checkpoint")
    return "unknown problem '" + flags.kind + "', expected checkpoint or offsets";
  bool packs = flags.kind == "offsets";
  if (packs ? !flags.budgets.empty() : flags.budgets.empty())
    return packs ? "--budget goes with checkpoint" : "expected --budget";
  for (const std::string &budget : flags.budgets)
    if (std::string wrong = reprise::checkBudget(budget); !wrong.empty())
      return wrong;
  if (!packs && flags.capacity.getNumOccurrences())
    return "--capacity goes with offsets";
  if (packs && flags.timeLimit.getNumOccurrences())
    return "--time-limit goes with checkpoint";
  if (!(flags.timeLimit >= 0))
    return "expected --time-limit of at least 0";
  if (!packs && !flags.output.empty() && flags.budgets.size() > 1)
    return "-o takes one --budget";
  if (flags.capacity.getNumOccurrences() && flags.capacity < 1)
    return "expected --capacity of at least 1";
  if (!flags.output.empty() && reprise::runtime::isSameFile(flags.output, flags.problem))
    return "'" + flags.output + "' is read and written";
  return "";
}

void print(const offsets::Problem &problem, const offsets::Solution &solution, double seconds,
           bool json) {
  int64_t load = offsets::maxLoad(problem);
  int64_t buffers = problem.buffers.size();
  if (json) {
    llvm::json::Object object{{"version", 1},
                              {"buffers", buffers},
                              {"height", solution.height},
                              {"max_load", load},
                              {"seconds", seconds}};
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object)));
    return;
  }
  double above = load == 0 ? 0 : 100.0 * static_cast<double>(solution.height - load) / load;
  llvm::outs() << llvm::formatv("{0} buffers: height {1}, max load {2} (+{3:f2} %), {4:f2} s\n",
                                buffers, solution.height, load, above, seconds);
}

int write(const std::string &path, const std::string &text) {
  reprise::AtomicFile file(path);
  if (!file.write(text.data(), text.size()) || !file.commit())
    return fail(file.error());
  return 0;
}

int packBuffers(const Flags &flags) {
  auto text = llvm::MemoryBuffer::getFileOrSTDIN(flags.problem);
  if (!text)
    return fail("cannot read '" + flags.problem + "': " + text.getError().message());
  offsets::Table table;
  if (std::string wrong = offsets::readCsv((*text)->getBuffer().str(), table); !wrong.empty())
    return fail(flags.problem + ":" + wrong);
  if (auto defect = offsets::validate(table.problem))
    return fail(flags.problem + ": " + defect->message);
  int64_t load = offsets::maxLoad(table.problem);
  if (flags.capacity > 0 && load > flags.capacity)
    return fail(llvm::formatv("no packing fits: {0} bytes are live at once, the capacity is {1}",
                              load, flags.capacity.getValue()));
  // The work of some ten seconds, the same everywhere.
  offsets::SolveOptions options;
  options.searchVisits = 5'000'000'000;
  options.enough = flags.capacity;
  auto begin = std::chrono::steady_clock::now();
  offsets::Solution solution = offsets::solve(table.problem, options);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (auto defect = offsets::validate(table.problem, solution))
    return fail("the packing is wrong: " + defect->message);
  print(table.problem, solution, seconds.count(), flags.json);
  if (flags.capacity > 0 && solution.height > flags.capacity)
    return fail(llvm::formatv("no packing below {0} bytes was found; one of {1} may exist",
                              solution.height, flags.capacity.getValue()));
  return flags.output.empty() ? 0 : write(flags.output, offsets::writeCsv(table, solution));
}

int planWithinBudgets(const Flags &flags) {
  auto text = llvm::MemoryBuffer::getFileOrSTDIN(flags.problem);
  if (!text)
    return fail("cannot read '" + flags.problem + "': " + text.getError().message());
  reprise::PlanOptions options;
  options.path = flags.problem;
  options.budgets.assign(flags.budgets.begin(), flags.budgets.end());
  options.isWritten = !flags.output.empty();
  if (flags.timeLimit.getNumOccurrences())
    options.timeLimit = flags.timeLimit;
  llvm::StringRef problem = (*text)->getBuffer();
  bool isOurs = reprise::checkpoint::isProblemFile(problem);
  llvm::Expected<std::vector<reprise::Plan>> plans =
      isOurs ? reprise::planProblem(problem, options) : reprise::planGraph(problem, options);
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
  return code || flags.output.empty() ? code : write(flags.output, plans->front().text);
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ResetCommandLineParser();
  Flags flags;
  cl::OptionCategory category("Options");
  reprise::listFlags(category);
  if (!cl::ParseCommandLineOptions(argc, argv, "Plans memory\n", &llvm::errs()))
    return 2;
  if (std::string wrong = checkFlags(flags); !wrong.empty()) {
    llvm::WithColor::error() << wrong << "\n";
    return 2;
  }
  return flags.kind == "offsets" ? packBuffers(flags) : planWithinBudgets(flags);
}
