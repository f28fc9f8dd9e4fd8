// reprise: runs random training programs in all ways that must agree
#include "Child.h"
#include "Generator.h"
#include "Tally.h"
#include "reprise/InitAll.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace reprise::fuzz;
namespace cl = llvm::cl;

namespace {

struct Flags {
  cl::SubCommand print{"print", "Print the program of a seed"};
  cl::SubCommand check{"check", "Check the program in a file; exit code 1 if it fails"};
  cl::SubCommand reduce{"reduce", "Reduce a failing program with reprise-reduce"};
  cl::opt<uint64_t> seed{"seed",         cl::desc("The (first) seed"),
                         cl::init(1),    cl::sub(cl::SubCommand::getTopLevel()),
                         cl::sub(print), cl::sub(reduce)};
  cl::opt<uint64_t> count{"count", cl::desc("How many programs"), cl::init(500)};
  cl::opt<unsigned> jobs{"jobs", cl::desc("Processes that work at a time"), cl::init(2)};
  cl::opt<std::string> save{"save", cl::desc("A folder that gets the programs that fail")};
  cl::opt<std::string> like{"like", cl::desc("Only a failure of this kind counts"), cl::sub(check)};
  cl::list<std::string> without{
      "without", cl::desc("Ops that no program holds: to search on past a known failure"),
      cl::CommaSeparated, cl::sub(cl::SubCommand::getAll())};
  cl::opt<std::string> file{cl::Positional, cl::desc("FILE.mlir"), cl::sub(check), cl::sub(reduce)};
};

Repertoire learn(const Flags &flags, MLIRContext *context) {
  return learnOps(context, {flags.without.begin(), flags.without.end()});
}

std::string programOf(uint64_t seed, MLIRContext *context, const Repertoire &repertoire) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OwningOpRef<ModuleOp> module = Generator(context, repertoire, seed).run();
  // A program that does not verify is to be seen as it is.
  module->print(stream, OpPrintingFlags().assumeVerified());
  return text;
}

int fail(const llvm::Twine &message) {
  llvm::WithColor::error() << message << "\n";
  return 1;
}

/// Under every policy.
Verdict check(StringRef text, MLIRContext *context) {
  return inChild([&] { return checkProgram(text, context, std::nullopt); });
}

int runPrograms(const Flags &flags, MLIRContext *context) {
  Tally total;
  Repertoire repertoire = learn(flags, context);
  for (const std::string &name : repertoire.unknown)
    total.fail("no well-formed example of " + name + " was found");
  total.add(inJobs(flags.jobs, [&](unsigned job) {
    Tally own;
    for (uint64_t i = job; i < flags.count; i += flags.jobs) {
      uint64_t seed = flags.seed + i;
      std::string text = programOf(seed, context, repertoire);
      Verdict verdict = inChild([&] { return checkProgram(text, context, seed); });
      std::string file = flags.save + "/seed-" + std::to_string(seed) + ".mlir";
      if (std::error_code error; !verdict.kind.empty() && !flags.save.empty())
        llvm::raw_fd_ostream(file, error) << text;
      own.count("seed " + std::to_string(seed), verdict);
    }
    return own;
  }));
  // Fewer programs may miss an op by chance.
  if (flags.count >= 500 && flags.without.empty())
    total.checkCoverage();
  total.printSummary();
  return total.failed() ? 1 : 0;
}

int checkFile(const Flags &flags, MLIRContext *context) {
  auto buffer = llvm::MemoryBuffer::getFile(flags.file);
  if (!buffer)
    return fail("cannot read '" + flags.file + "': " + buffer.getError().message());
  Verdict verdict = check((*buffer)->getBuffer(), context);
  if (verdict.kind.empty())
    return 0;
  llvm::outs() << verdict.kind << ": " << verdict.details << "\n" << verdict.key() << "\n";
  return flags.like.empty() || flags.like == verdict.key() ? 1 : 0;
}

/// Reduces in a folder of its own, and prints what is left.
int reduceProgram(const Flags &flags, MLIRContext *context, StringRef self) {
  std::string text;
  if (flags.file.empty()) {
    text = programOf(flags.seed, context, learn(flags, context));
  } else if (auto buffer = llvm::MemoryBuffer::getFile(flags.file)) {
    text = (*buffer)->getBuffer().str();
  } else {
    return fail("cannot read '" + flags.file + "': " + buffer.getError().message());
  }
  Verdict verdict = check(text, context);
  if (verdict.kind.empty())
    return fail("the program does not fail");
  llvm::errs() << verdict.kind << ": " << verdict.details << "\n";
  SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("reprise-fuzz", folder))
    return fail("no temporary folder: " + error.message());
  std::string program = (folder + "/program.mlir").str(), script = (folder + "/test.sh").str();
  std::string test = "#!/bin/sh\nexec '" + self.str() + "' check --like='" + verdict.key() +
                     "' \"$1\" >/dev/null 2>&1\n";
  for (auto [path, contents] : {std::pair(&program, &text), std::pair(&script, &test)})
    if (std::error_code error; !(llvm::raw_fd_ostream(*path, error) << *contents, !error))
      return fail("cannot write '" + *path + "': " + error.message());
  (void)llvm::sys::fs::setPermissions(script, llvm::sys::fs::all_all);
  std::string tool = (llvm::sys::path::parent_path(self) + "/reprise-reduce").str();
  std::string option = "--reprise-shrink=test=" + script;
  return llvm::sys::ExecuteAndWait(tool, {tool, program, option});
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ResetCommandLineParser();
  Flags flags;
  if (!cl::ParseCommandLineOptions(argc, argv, "Runs random training programs in all ways\n",
                                   &llvm::errs()))
    return 2;
  DialectRegistry registry;
  reprise::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  static int anchor;
  std::string self = llvm::sys::fs::getMainExecutable(argv[0], &anchor);
  if (flags.check)
    return checkFile(flags, &context);
  if (flags.reduce)
    return reduceProgram(flags, &context, self);
  if (!flags.print)
    return runPrograms(flags, &context);
  llvm::outs() << programOf(flags.seed, &context, learn(flags, &context));
  return 0;
}
