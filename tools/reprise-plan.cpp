// reprise: the planner alone, without MLIR: packs buffers into one arena
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
  cl::opt<std::string> kind{cl::Positional, cl::desc("offsets"), cl::Required};
  cl::opt<std::string> problem{cl::Positional, cl::desc("BUFFERS.csv"), cl::Required};
  cl::opt<int64_t> capacity{"capacity",
                            cl::desc("Bytes of the arena: a packing that fits is enough"),
                            cl::value_desc("BYTES"), cl::init(0)};
  cl::opt<bool> json{"json", cl::desc("Print one JSON object")};
  cl::opt<std::string> output{"o", cl::desc("The packing to write, as CSV"),
                              cl::value_desc("OUT.csv")};
};

int fail(const llvm::Twine &message) {
  llvm::WithColor::error() << message << "\n";
  return 1;
}

/// What is wrong with the flags; empty if nothing is.
std::string checkFlags(const Flags &flags) {
  if (flags.kind != "offsets")
    return "unknown problem '" + flags.kind + "', expected offsets";
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
  return packBuffers(flags);
}
