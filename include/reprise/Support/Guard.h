// reprise: work that may crash, run in a child process
#ifndef REPRISE_SUPPORT_GUARD_H
#define REPRISE_SUPPORT_GUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <functional>
#include <string>

namespace reprise {

/// Limits of the child, beyond the current use of this process. 0 means no limit.
struct GuardLimits {
  uint64_t memoryBytes = 0;
  /// Seconds of processor time.
  unsigned seconds = 0;
  /// Seconds of the clock per second of processor time, for a child that waits forever.
  unsigned clockFactor = 10;
  /// Divisor of our stack size for the child, so that work that succeeds there has a margin here.
  unsigned stackDivisor = 1;
  /// Tells whether the child may print; all output goes to standard error. If false, a crash prints
  /// no output.
  bool keepsOutput = false;
  /// Callback for signs of life, run many times a second until the child has ended; may be empty.
  std::function<void()> whileWaiting;
};

/// Runs `work` in a forked child and waits for it. Returns an empty string if `work` returned,
/// otherwise the reason: "signal 11: Segmentation fault" or "out of memory". `work` may also call
/// exit(): no handler of this process runs. The child is a copy of this process with only the
/// calling thread, so `work` must not wait for other threads. Processes that `work` started end
/// with it.
std::string runInChild(llvm::function_ref<void()> work, const GuardLimits &limits);
/// Runs `work` in a child and copies its bytes to `answer`.
std::string runInChild(llvm::function_ref<std::string()> work, const GuardLimits &limits,
                       std::string &answer);

/// Runs a whole tool in a child that keeps the standard streams, and returns its exit code. If the
/// child dies, prints "error: WHAT died (REASON)" and returns 1. For upstream tools that read their
/// input themselves.
int runToolInChild(const char *what, llvm::function_ref<int()> tool);

/// Raises the main thread's stack limit to 64 MiB if the user's limit is the usual 8 MiB. Parsers,
/// walks and printers of MLIR recurse into nested regions with at least a kilobyte per level, and
/// models may have a thousand levels. Must be called first.
void deepenStack();

/// Makes a tool fail with one error and exit code 1 instead of being killed, if memory runs out, if
/// a file grows beyond the user's limit, or if standard output cannot be written. Must be called
/// after InitLLVM, which installs its own handlers.
void survivePoverty();

} // namespace reprise

#endif // REPRISE_SUPPORT_GUARD_H
