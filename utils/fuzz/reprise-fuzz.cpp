// reprise: runs random programs in all configurations that must agree
#include "Child.h"
#include "Files.h"
#include "Generator.h"
#include "KernelGenerator.h"
#include "ShardGenerator.h"
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

/// Purpose of programs.
enum class Kind { Training, Kernels, Gpu, Batches, Shards };

struct Flags {
  cl::SubCommand print{"print", "Print the program of a seed"};
  cl::SubCommand check{"check", "Check the program in a file; exit code 1 if it fails"};
  cl::SubCommand reduce{"reduce", "Reduce a failing program with reprise-reduce"};
  cl::SubCommand files{"files", "Read changed files of all kinds; exit code 1 if one is fatal"};
  cl::opt<uint64_t> seed{"seed",         cl::desc("The (first) seed"),
                         cl::init(1),    cl::sub(cl::SubCommand::getTopLevel()),
                         cl::sub(print), cl::sub(reduce),
                         cl::sub(files)};
  cl::opt<Kind> kind{
      "kind", cl::desc("What programs are for"),
      cl::values(
          clEnumValN(Kind::Training, "training", "plans: whole training steps"),
          clEnumValN(Kind::Kernels, "kernels", "kernels: a few ops of any size, on all CPUs"),
          clEnumValN(Kind::Gpu, "gpu", "the same on a GPU, in all orders of an emulated one"),
          clEnumValN(Kind::Batches, "batches", "micro-batches: the same ops, with a batch"),
          clEnumValN(Kind::Shards, "shards", "meshes: layers with cut parameters")),
      cl::init(Kind::Training), cl::sub(cl::SubCommand::getAll())};
  cl::opt<uint64_t> count{"count", cl::desc("Number of programs, or of files of each kind"),
                          cl::init(500), cl::sub(cl::SubCommand::getTopLevel()), cl::sub(files)};
  cl::opt<unsigned> jobs{"jobs", cl::desc("Processes that work at a time"), cl::init(2),
                         cl::sub(cl::SubCommand::getTopLevel()), cl::sub(files)};
  cl::opt<std::string> save{"save", cl::desc("A folder that gets the programs or files that fail"),
                            cl::sub(cl::SubCommand::getTopLevel()), cl::sub(files)};
  cl::list<std::string> kinds{"kinds", cl::desc("Kinds of files (all)"), cl::CommaSeparated,
                              cl::sub(files)};
  cl::opt<std::string> like{"like", cl::desc("Only a failure of this kind counts"), cl::sub(check)};
  cl::list<std::string> without{
      "without", cl::desc("Ops that no program holds: to search on past a known failure"),
      cl::CommaSeparated, cl::sub(cl::SubCommand::getAll())};
  cl::opt<std::string> file{cl::Positional, cl::desc("FILE.mlir"), cl::sub(check), cl::sub(reduce)};
  cl::opt<std::string> folder{cl::Positional, cl::desc("ORIGINALS, a folder with KIND/FILE"),
                              cl::Required, cl::sub(files)};
};

Verdict checkAs(Kind kind, StringRef text, MLIRContext *context, std::optional<uint64_t> seed) {
  auto *check = kind == Kind::Training  ? checkProgram
                : kind == Kind::Kernels ? checkKernels
                : kind == Kind::Gpu     ? checkGpuKernels
                : kind == Kind::Shards  ? checkShards
                                        : checkBatches;
  return check(text, context, seed);
}

/// Makes the programs of one kind.
class Programs {
public:
  Programs(const Flags &flags, MLIRContext *context)
      : kind(flags.kind), context(context), without(flags.without.begin(), flags.without.end()) {
    uint64_t end = flags.print || flags.reduce ? flags.seed + 1 : flags.seed + flags.count;
    bool holdsAll = false;
    for (uint64_t seed = flags.seed; seed < end && !holdsAll; ++seed)
      holdsAll = holdsAllOps(seed);
    if (holdsAll)
      repertoire = learnOps(context, without);
  }

  std::string text(uint64_t seed) const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    OwningOpRef<ModuleOp> module = make(seed);
    if (kind == Kind::Batches || (kind == Kind::Shards && !hasLayers(seed)))
      drawBatch(*module, seed);
    if (kind == Kind::Shards)
      drawShards(*module, seed);
    // A program that does not verify is printed unchanged.
    module->print(stream, OpPrintingFlags().assumeVerified());
    return text;
  }

  Verdict check(StringRef text, uint64_t seed) const { return checkAs(kind, text, context, seed); }

  /// Returns whether the program of `seed` prefers one of the `ops`.
  bool favours(uint64_t seed, const std::set<std::string> &ops) const {
    return llvm::any_of(favouritesOf(repertoire, seed),
                        [&](const Known *known) { return ops.count(known->spec->name.str()); });
  }

  const std::vector<std::string> &unknown() const { return repertoire.unknown; }
  /// Programs that one child checks, as long as all is well: a child costs as much as a small one.
  uint64_t perChild() const { return kind == Kind::Training || kind == Kind::Shards ? 1 : 16; }

private:
  /// Returns whether a program may hold any op of the dialect. Learning all ops takes seconds, so
  /// the first programs for meshes do without.
  bool holdsAllOps(uint64_t seed) const {
    return kind == Kind::Training || (kind == Kind::Shards && seed > 64 && seed % 8 == 7);
  }
  /// Returns whether a program for meshes has layers; others are programs for kernels.
  static bool hasLayers(uint64_t seed) { return seed % 4 != 0; }

  OwningOpRef<ModuleOp> make(uint64_t seed) const {
    if (holdsAllOps(seed))
      return Generator(context, repertoire, seed, granule()).run();
    if (kind == Kind::Shards && hasLayers(seed))
      return ShardGenerator(context, seed).run();
    return kernelProgram(seed);
  }

  bool isLeftOut(ModuleOp module) const {
    WalkResult walk = module.walk([&](Operation *op) {
      bool isOut = without.count(op->getName().getStringRef().str());
      return isOut ? WalkResult::interrupt() : WalkResult::advance();
    });
    return walk.wasInterrupted();
  }

  /// Returns the number that divides most sizes.
  int64_t granule() const { return kind == Kind::Shards ? 8 : 1; }

  /// Returns the first program without an op that is left out.
  OwningOpRef<ModuleOp> kernelProgram(uint64_t seed) const {
    constexpr uint64_t distance = 1 << 20;
    OwningOpRef<ModuleOp> module = KernelGenerator(context, seed, granule()).run();
    for (int i = 0; i < 100 && isLeftOut(*module); ++i)
      module = KernelGenerator(context, seed += distance, granule()).run();
    return module;
  }

  Kind kind;
  MLIRContext *context;
  std::set<std::string> without;
  Repertoire repertoire;
};

int fail(const llvm::Twine &message) {
  llvm::WithColor::error() << message << "\n";
  return 1;
}

/// Checks a program under every policy, only its kernels, or in micro-batches.
Verdict check(const Flags &flags, StringRef text, MLIRContext *context) {
  return inChild([&] { return checkAs(flags.kind, text, context, std::nullopt); });
}

void runProgram(const Flags &flags, const Programs &programs, uint64_t seed, Tally &tally) {
  std::string text = programs.text(seed);
  Verdict verdict = inChild([&] { return programs.check(text, seed); });
  std::string file = flags.save + "/seed-" + std::to_string(seed) + ".mlir";
  if (std::error_code error; !verdict.kind.empty() && !flags.save.empty())
    llvm::raw_fd_ostream(file, error) << text;
  tally.count("seed " + std::to_string(seed), verdict);
}

/// Programs of one child; if one fails, each in a child of its own.
void runSeeds(const Flags &flags, const Programs &programs, const std::vector<uint64_t> &seeds,
              Tally &tally) {
  if (seeds.size() == 1)
    return runProgram(flags, programs, seeds.front(), tally);
  Verdict all = inChild([&] {
    Verdict sum;
    for (uint64_t seed : seeds) {
      Verdict one = programs.check(programs.text(seed), seed);
      sum.generated.merge(one.generated);
      if (sum.kind = one.kind; !sum.kind.empty())
        break;
    }
    return sum;
  });
  if (all.kind.empty())
    return tally.count("", all, seeds.size());
  for (uint64_t seed : seeds)
    runProgram(flags, programs, seed, tally);
}

/// Searches programs with replays of missing ops. Hundreds of programs may miss a rare op by
/// chance, or because of this machine's costs, so later programs that prefer such an op are tried
/// until a plan replays it.
void seekReplays(const Flags &flags, const Programs &programs, Tally &total) {
  uint64_t seed = flags.seed + flags.count, end = seed + 20 * flags.count;
  while (seed < end) {
    std::set<std::string> ops = total.notReplayed();
    std::vector<uint64_t> seeds;
    for (; !ops.empty() && seed < end && seeds.size() < 4 * flags.jobs; ++seed)
      if (programs.favours(seed, ops))
        seeds.push_back(seed);
    if (seeds.empty())
      return;
    total.add(inJobs(flags.jobs, [&](unsigned job) {
      Tally own;
      for (size_t i = job; i < seeds.size(); i += flags.jobs)
        runProgram(flags, programs, seeds[i], own);
      return own;
    }));
  }
}

int runPrograms(const Flags &flags, MLIRContext *context) {
  Tally total;
  Programs programs(flags, context);
  for (const std::string &name : programs.unknown())
    total.fail("no well-formed example of " + name + " was found");
  uint64_t step = programs.perChild(), end = flags.seed + flags.count;
  total.add(inJobs(flags.jobs, [&](unsigned job) {
    Tally own;
    for (uint64_t begin = flags.seed + job * step; begin < end; begin += flags.jobs * step) {
      std::vector<uint64_t> seeds;
      for (uint64_t seed = begin; seed < std::min(begin + step, end); ++seed)
        seeds.push_back(seed);
      runSeeds(flags, programs, seeds, own);
    }
    return own;
  }));
  // Fewer programs may miss an op by chance.
  bool isForKernels = flags.kind == Kind::Kernels || flags.kind == Kind::Gpu;
  if (isForKernels && flags.count >= 800 && flags.without.empty()) {
    total.checkKernelCoverage();
  } else if (flags.kind == Kind::Training && flags.count >= 400 && flags.without.empty()) {
    seekReplays(flags, programs, total);
    total.checkCoverage();
  }
  total.printSummary();
  return total.failed() ? 1 : 0;
}

int checkFile(const Flags &flags, MLIRContext *context) {
  auto buffer = llvm::MemoryBuffer::getFile(flags.file);
  if (!buffer)
    return fail("cannot read '" + flags.file + "': " + buffer.getError().message());
  Verdict verdict = check(flags, (*buffer)->getBuffer(), context);
  if (verdict.kind.empty())
    return 0;
  llvm::outs() << verdict.kind << ": " << verdict.details << "\n" << verdict.key() << "\n";
  return flags.like.empty() || flags.like == verdict.key() ? 1 : 0;
}

/// Reduces a program in its own folder, and prints the result.
int reduceProgram(const Flags &flags, MLIRContext *context, StringRef self) {
  std::string text;
  if (flags.file.empty()) {
    text = Programs(flags, context).text(flags.seed);
  } else if (auto buffer = llvm::MemoryBuffer::getFile(flags.file)) {
    text = (*buffer)->getBuffer().str();
  } else {
    return fail("cannot read '" + flags.file + "': " + buffer.getError().message());
  }
  Verdict verdict = check(flags, text, context);
  if (verdict.kind.empty())
    return fail("the program does not fail");
  llvm::errs() << verdict.kind << ": " << verdict.details << "\n";
  SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("reprise-fuzz", folder))
    return fail("no temporary folder: " + error.message());
  std::string program = (folder + "/program.mlir").str(), script = (folder + "/test.sh").str();
  std::string test = "#!/bin/sh\nexec '" + self.str() + "' check" +
                     (flags.kind == Kind::Kernels   ? " --kind=kernels"
                      : flags.kind == Kind::Gpu     ? " --kind=gpu"
                      : flags.kind == Kind::Batches ? " --kind=batches"
                      : flags.kind == Kind::Shards  ? " --kind=shards"
                                                    : "") +
                     " --like='" + verdict.key() + "' \"$1\" >/dev/null 2>&1\n";
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
  if (!cl::ParseCommandLineOptions(argc, argv, "Runs random programs in all ways\n", &llvm::errs()))
    return 2;
  DialectRegistry registry;
  reprise::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  static int anchor;
  std::string self = llvm::sys::fs::getMainExecutable(argv[0], &anchor);
  if (flags.files)
    return readChangedFiles({flags.folder,
                             {flags.kinds.begin(), flags.kinds.end()},
                             flags.seed,
                             flags.count,
                             flags.jobs,
                             flags.save},
                            &context);
  if (flags.check)
    return checkFile(flags, &context);
  if (flags.reduce)
    return reduceProgram(flags, &context, self);
  if (!flags.print)
    return runPrograms(flags, &context);
  llvm::outs() << Programs(flags, &context).text(flags.seed);
  return 0;
}
