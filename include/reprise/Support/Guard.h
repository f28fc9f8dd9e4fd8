// reprise: work that may die, run in a child process
#ifndef REPRISE_SUPPORT_GUARD_H
#define REPRISE_SUPPORT_GUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <functional>
#include <string>

namespace reprise {

/// What the child may use, beyond what the process has now. 0 means no limit.
struct GuardLimits {
  uint64_t memoryBytes = 0;
  /// Seconds of processor time.
  unsigned seconds = 0;
  /// Seconds by the clock for each of these, for a child that waits forever.
  unsigned clockFactor = 10;
  /// The child's stack is this fraction of ours, so that what it survives leaves us a margin.
  unsigned stackDivisor = 1;
  /// Whether the child may print, all to standard error. If not, a crash prints nothing.
  bool keepsOutput = false;
  /// Called many times a second until the child has ended, for signs of life; may be empty.
  std::function<void()> whileWaiting;
};

/// Runs `work` in a forked child and waits for it. Returns an empty string if `work` returned, else
/// why it did not, as in "signal 11: Segmentation fault" or "out of memory". `work` may also
/// call exit(): no handler of ours runs. It sees a copy of this process with the calling thread
/// alone: it must not wait for other threads. Processes that `work` started end with it.
std::string runInChild(llvm::function_ref<void()> work, const GuardLimits &limits);
/// The same of work that gives bytes back.
std::string runInChild(llvm::function_ref<std::string()> work, const GuardLimits &limits,
                       std::string &answer);

/// Runs a whole tool in a child that keeps the standard streams, and returns its exit code; if it
/// dies, prints "error: WHAT died (REASON)" and returns 1. For upstream tools that read their input
/// themselves.
int runToolInChild(const char *what, llvm::function_ref<int()> tool);

/// Lets the main thread's stack grow to 64 MiB where the user's limit is the usual eight: parsers,
/// walks and printers of MLIR recurse into nested regions, a kilobyte or more for each level, and a
/// model of a thousand levels is a model. To be called first.
void deepenStack();

/// Makes a tool fail by one error and exit code 1 where it would be killed: memory that runs out, a
/// file that grows beyond the user's limit, and a standard output that takes no more. To be called
/// after InitLLVM, which installs handlers of its own.
void survivePoverty();

} // namespace reprise

#endif // REPRISE_SUPPORT_GUARD_H
