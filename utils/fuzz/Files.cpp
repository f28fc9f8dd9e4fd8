// reprise: changed files of all kinds, read in this process
#include "Files.h"

#include "Mutate.h"
#include "Readers.h"
#include "Tally.h"
#include "reprise/Runtime/File.h"
#include "reprise/Support/Guard.h"
#include "llvm/Support/DJB.h"
#include "llvm/Support/FormatVariadic.h"
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace mlir;
namespace fs = std::filesystem;

namespace reprise::fuzz {

namespace {

constexpr unsigned kMostSeconds = 20; ///< processor time for one file
constexpr uint64_t kPerChild = 200;   ///< files of one child, as long as all is well
constexpr unsigned kMostJobs = 256;

/// Memory that children share with the process that waits for them.
struct Shared {
  std::atomic<uint64_t> seeds[kMostJobs]; ///< seed of the current file of each job
  std::atomic<uint64_t> accepted;         ///< number of files that were accepted
};

struct Original {
  std::string name, bytes;
};

/// Changed files of one kind.
class Mutants {
public:
  Mutants(const FileOptions &options, std::string kind, MLIRContext *context, Shared &shared)
      : options(options), kind(std::move(kind)), readers(context, options.folder), shared(shared) {
    std::vector<fs::path> paths;
    for (const auto &entry : fs::directory_iterator(fs::path(options.folder) / this->kind))
      paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const fs::path &path : paths) {
      if (auto bytes = runtime::readFile(path.string()))
        originals.push_back({path.filename().string(), {bytes->begin(), bytes->end()}});
      readers.prepare(this->kind, path.filename().string());
    }
  }

  bool isEmpty() const { return originals.empty(); }

  /// Reads the files of one job, each job in its own folder.
  Tally run(unsigned job) {
    Tally tally;
    folder = fs::temp_directory_path() / ("reprise-fuzz-" + std::to_string(getpid()));
    fs::create_directory(folder);
    std::atomic<uint64_t> &current = shared.seeds[job];
    uint64_t end = options.seed + options.count;
    for (current = options.seed + job; current < end; current += options.jobs) {
      uint64_t first = current, last = std::min(end, first + kPerChild * options.jobs);
      std::string reason = readInChild(current, last);
      Verdict fine;
      tally.count("", fine, static_cast<int64_t>((current - first) / options.jobs));
      if (reason.empty())
        current -= options.jobs;
      else
        fail(current, reason, tally);
    }
    fs::remove_all(folder);
    return tally;
  }

private:
  /// Reads files until `last`, or until one fails, which `current` then names.
  std::string readInChild(std::atomic<uint64_t> &current, uint64_t last) {
    GuardLimits limits;
    limits.memoryBytes = uint64_t(4) << 30;
    limits.seconds = kMostSeconds * kPerChild;
    auto work = [&] {
      for (; current < last; current += options.jobs) {
        rusage used;
        getrusage(RUSAGE_SELF, &used);
        rlimit limit;
        getrlimit(RLIMIT_CPU, &limit);
        limit.rlim_cur = used.ru_utime.tv_sec + used.ru_stime.tv_sec + kMostSeconds;
        setrlimit(RLIMIT_CPU, &limit);
        auto [original, path] = write(current, folder);
        shared.accepted += readers.read(kind, original, path.string());
      }
    };
    return runInChild(work, limits);
  }

  /// Writes the file of a seed; returns the name of its original, and its path.
  std::pair<std::string, fs::path> write(uint64_t seed, const fs::path &into) const {
    SplitMix chance(seed * 0x2545f4914f6cdd1du + llvm::djbHash(kind));
    auto draw = [&]() -> const Original & {
      return originals[chance.below(static_cast<int>(originals.size()))];
    };
    const Original &original = draw(), &other = draw();
    fs::path path = into / (kind == "folder" ? "run.json" : original.name);
    std::ofstream(path, std::ios::binary)
        << mutate(original.bytes, other.bytes, Readers::isText(kind), chance);
    return {original.name, path};
  }

  void fail(uint64_t seed, const std::string &reason, Tally &tally) const {
    tally.fail(kind + ", seed " + std::to_string(seed) + ": " + reason);
    if (options.save.empty())
      return;
    fs::path into = fs::path(options.save) / (kind + "-" + std::to_string(seed));
    fs::create_directories(into);
    write(seed, into);
  }

  const FileOptions &options;
  std::string kind;
  Readers readers;
  Shared &shared;
  std::vector<Original> originals;
  fs::path folder; ///< folder of the current job
};

std::vector<std::string> listKinds(const FileOptions &options) {
  std::vector<std::string> kinds = options.kinds;
  if (kinds.empty())
    for (const auto &entry : fs::directory_iterator(options.folder))
      if (Readers::has(entry.path().filename().string()))
        kinds.push_back(entry.path().filename().string());
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}

int refuse(const std::string &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

} // namespace

int readChangedFiles(const FileOptions &options, MLIRContext *context) {
  if (!fs::is_directory(options.folder))
    return refuse("no folder of originals: '" + options.folder + "'");
  if (options.jobs == 0 || options.jobs > kMostJobs)
    return refuse("expected 1 to " + std::to_string(kMostJobs) + " jobs, got " +
                  std::to_string(options.jobs));
  void *page =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return refuse("no shared memory");
  auto *shared = new (page) Shared();
  Tally total;
  for (const std::string &kind : listKinds(options)) {
    if (!Readers::has(kind) || !fs::is_directory(fs::path(options.folder) / kind))
      return refuse("no originals of the kind '" + kind + "'");
    auto start = std::chrono::steady_clock::now();
    shared->accepted = 0;
    Mutants mutants(options, kind, context, *shared);
    if (mutants.isEmpty())
      return refuse("no originals of the kind '" + kind + "'");
    total.add(inJobs(options.jobs, [&](unsigned job) { return mutants.run(job); }));
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    llvm::outs() << llvm::formatv(
        "{0}: {1} changed files, {2} accepted, {3:F1} s, {4:F0} per second\n", kind, options.count,
        shared->accepted.load(), seconds, static_cast<double>(options.count) / seconds);
    llvm::outs().flush();
  }
  total.printSummary();
  return total.failed() ? 1 : 0;
}

} // namespace reprise::fuzz
