// reprise: a bundle in memory, ready to run
#ifndef REPRISE_RUNTIME_EXECUTABLE_H
#define REPRISE_RUNTIME_EXECUTABLE_H

#include "reprise/Runtime/Bundle.h"
#include "reprise/Runtime/Memory.h"
#include "reprise/Runtime/ThreadPool.h"
#include "reprise/Runtime/Trace.h"

#include <string_view>

namespace reprise::runtime {

/// Owns the arguments, one arena, the workspace and the workers. Who takes which item of a command
/// never changes a result. Not for several threads at a time.
class Executable {
public:
  /// `name` is the file that messages speak of; `threads` 0 takes the bundle's. Errors: another
  /// device or CPU, more threads than a bundle with a budget allows, less memory than it needs.
  /// Nothing of a bundle that fails has run.
  static Expected<std::unique_ptr<Executable>> create(Bundle bundle, const std::string &name,
                                                      unsigned threads = 0);
  /// readBundle and create.
  static Expected<std::unique_ptr<Executable>> load(const std::string &path, unsigned threads = 0);

  /// The manifest; constants and image are empty, they have moved.
  const Bundle &bundle() const { return manifest; }
  const std::string &name() const { return fileName; }
  unsigned threads() const { return pool->size(); }

  /// The buffer of an argument, the caller's to fill and read between programs.
  void *argument(size_t index) const { return argumentAddress[index]; }
  /// Where a result lies after a step, until the next program runs.
  const void *result(size_t index) const;
  /// The arena and at least one page more, so that a write behind it can be seen.
  uint8_t *arena() const { return arenaPages.data(); }
  uint64_t arenaCapacity() const { return arenaPages.size(); }

  /// Runs the program of that name; one that the bundle lacks does nothing. After "step" every
  /// result that replaces an argument is in the argument's buffer. Fails only on a checked index or
  /// a replay that differs from its original; allocates nothing otherwise.
  Error run(std::string_view program);

  /// Makes every later run look at indices first, command by command.
  void setCheckIndices(bool check) { checkIndices = check; }
  /// Takes times of every later step; nullptr ends it.
  void setRecorder(Recorder *newRecorder) { recorder = newRecorder; }

private:
  using KernelFunction = void (*)(void *const *buffers, int64_t begin, int64_t end,
                                  void *workspace);
  struct Launch {
    KernelFunction kernel;
    void *const *buffers;
    int64_t items, chunk;
  };
  /// One command, or a run of neighbours of at most one item each, which one worker executes
  /// without meeting the others in between.
  struct Stage {
    uint32_t begin, end;
  };
  struct Prepared {
    const Program *program;
    std::vector<void *> buffers;
    std::vector<Launch> launches;
    std::vector<Stage> stages, single; ///< single: every command on its own
  };

  Executable(Bundle bundle, std::string name) : manifest(std::move(bundle)), fileName(name) {}
  Error checkMachine(unsigned threads) const;
  Error allocate(unsigned threads);
  Error moveContents();
  void prepare(const Program &program);
  void *address(const BufferRef &buffer) const;
  void runStages(const Prepared &prepared, const std::vector<Stage> &stages, size_t begin,
                 size_t end);
  static void workerMain(void *self, unsigned worker);
  void work(unsigned worker);
  void runCommand(uint32_t command, int64_t begin, int64_t end, unsigned worker);
  Error runChecked(const Prepared &prepared);
  Error checkCommand(const Command &command) const;
  void replaceArguments();
  Error compareReplays();

  Bundle manifest;
  std::string fileName;
  Pages image, constants, argumentPages, arenaPages, sharedPages, workerPages;
  std::vector<void *> argumentAddress;
  uint64_t workerStride = 0;
  std::vector<Prepared> programs;
  std::unique_ptr<ThreadPool> pool;
  Recorder *recorder = nullptr;
  bool checkIndices = false;

  // What the workers are at; written by the caller before they start.
  const Prepared *current = nullptr;
  const Stage *firstStage = nullptr, *lastStage = nullptr;
  bool recording = false;
  alignas(64) std::atomic<int64_t> nextItem{0};
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_EXECUTABLE_H
