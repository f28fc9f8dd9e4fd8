// reprise: work that may crash, run in a child process
#include "reprise/Support/Guard.h"

#include "reprise/Support/Diagnostics.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace reprise;

/// Tells whether sanitizers are on. They reserve terabytes of address space and explain a crash on
/// standard error, so both limits and silence are off then.
#if LLVM_ADDRESS_SANITIZER_BUILD || LLVM_MEMORY_SANITIZER_BUILD || LLVM_THREAD_SANITIZER_BUILD
static constexpr bool kSanitized = true;
#else
static constexpr bool kSanitized = false;
#endif

static constexpr int kOutOfMemory = 125;

/// Sets a limit, at most the user's (ulimit).
static void limit(__rlimit_resource resource, uint64_t value) {
  rlimit old;
  if (getrlimit(resource, &old) != 0)
    return;
  rlim_t soft = std::min<rlim_t>(value, old.rlim_cur);
  rlimit next = {soft, old.rlim_max};
  setrlimit(resource, &next);
}

static uint64_t addressSpaceInUse() {
  unsigned long pages = 0;
  if (FILE *file = fopen("/proc/self/statm", "re")) {
    if (fscanf(file, "%lu", &pages) != 1)
      pages = 0;
    fclose(file);
  }
  return static_cast<uint64_t>(pages) * sysconf(_SC_PAGESIZE);
}

/// LLVM's crash handlers print a stack and a plea for a bug report; the child must die quietly.
static void dropSignalHandlers() {
  for (int number : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGXCPU, SIGXFSZ,
                     SIGQUIT, SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2})
    signal(number, SIG_DFL);
}

static void applyLimits(const GuardLimits &limits) {
  limit(RLIMIT_CORE, 0);
  if (limits.seconds > 0)
    limit(RLIMIT_CPU, limits.seconds);
  if (limits.memoryBytes > 0 && !kSanitized)
    limit(RLIMIT_AS, addressSpaceInUse() + limits.memoryBytes);
  rlimit stack;
  if (limits.stackDivisor > 1 && getrlimit(RLIMIT_STACK, &stack) == 0) {
    // We limit an unlimited stack, because a recursion could use all memory.
    uint64_t ours = stack.rlim_cur == RLIM_INFINITY ? 8u << 20 : stack.rlim_cur;
    limit(RLIMIT_STACK, ours / limits.stackDivisor);
  }
}

static bool writeAll(int pipe, const void *data, size_t size) {
  const char *next = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t written = write(pipe, next, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    next += written;
    size -= written;
  }
  return true;
}

/// Runs the child. An answer is its length, then its bytes.
[[noreturn]] static void runChild(llvm::function_ref<std::string()> work, const GuardLimits &limits,
                                  int pipe) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0); // so that processes that the work starts can be ended with it
  pid_t own = getpid();
  if (!kSanitized)
    dropSignalHandlers();
  // Handlers of the process that we are a copy of would write its files and streams once more.
  on_exit([](int code, void *) { _exit(code); }, nullptr);
  int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, STDIN_FILENO);
  // The tool's own standard output may be a file that is being written.
  dup2(limits.keepsOutput ? STDERR_FILENO : nowhere, STDOUT_FILENO);
  if (!limits.keepsOutput && !kSanitized)
    dup2(nowhere, STDERR_FILENO);
  std::set_new_handler([] { _exit(kOutOfMemory); });
  applyLimits(limits);
  std::string answer = work();
  if (getpid() != own)
    _exit(0); // a fork made by the work itself has no answer to give
  fflush(stdout);
  uint64_t size = answer.size();
  bool isWritten =
      writeAll(pipe, &size, sizeof size) && writeAll(pipe, answer.data(), answer.size());
  _exit(isWritten ? 0 : 1);
}

static int64_t milliseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t(1000) + now.tv_nsec / 1000000;
}

/// Returns whether the child has ended, without reaping it.
static bool hasEnded(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

/// Seconds by the clock that the child may take; 0 means no limit. A lower limit of processor time
/// that the user set (ulimit -t) counts instead of ours.
static uint64_t findClockLimit(const GuardLimits &limits) {
  rlimit users = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_CPU, &users);
  return limits.clockFactor * std::min<uint64_t>(limits.seconds, users.rlim_cur);
}

/// Reads the child's answer. Returns false if the answer never came whole: the child has ended, or
/// is `late`. What the child started may keep the pipe open, so the pipe's end is not waited for.
static bool awaitAnswer(pid_t child, int pipe, const GuardLimits &limits, std::string &answer,
                        bool &late) {
  constexpr int kGlance = 20; // milliseconds
  int64_t limit = 1000 * static_cast<int64_t>(findClockLimit(limits));
  int64_t end = milliseconds() + limit;
  bool isOpen = true;
  std::string bytes;
  uint64_t size = 0;
  while (bytes.size() < sizeof size || bytes.size() - sizeof size < size) {
    bool isOver = hasEnded(child);
    late = !isOver && limit > 0 && milliseconds() >= end;
    if (late)
      return false;
    if (limits.whileWaiting)
      limits.whileWaiting();
    pollfd waiting = {pipe, POLLIN, 0};
    int ready = poll(&waiting, isOpen ? 1 : 0, isOver ? 0 : kGlance);
    if (ready == 0 && isOver)
      return false;
    char part[1 << 16];
    ssize_t count = ready > 0 ? read(pipe, part, sizeof part) : -1;
    isOpen &= ready <= 0 || count > 0 || (count < 0 && errno == EINTR);
    bytes.append(part, std::max<ssize_t>(count, 0));
    if (bytes.size() >= sizeof size)
      memcpy(&size, bytes.data(), sizeof size);
  }
  answer = bytes.substr(sizeof size);
  return true;
}

static std::string describeStatus(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return "out of time";
  if (WIFEXITED(status) && WEXITSTATUS(status) == kOutOfMemory)
    return "out of memory";
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status)) + ": " + strsignal(WTERMSIG(status));
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

static int waitFor(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string reprise::runInChild(llvm::function_ref<void()> work, const GuardLimits &limits) {
  std::string nothing;
  auto silent = [&] {
    work();
    return std::string();
  };
  return runInChild(silent, limits, nothing);
}

std::string reprise::runInChild(llvm::function_ref<std::string()> work, const GuardLimits &limits,
                                std::string &answer) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return std::string("cannot open a pipe to a child process: ") + strerror(errno);
  if (limits.keepsOutput) {
    llvm::outs().flush();
    fflush(nullptr);
  }
  pid_t child = fork();
  if (child == 0)
    runChild(work, limits, ends[1]);
  int forkError = errno;
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return std::string("cannot start a child process: ") + strerror(forkError);
  }
  bool late = false;
  bool done = awaitAnswer(child, ends[0], limits, answer, late);
  close(ends[0]);
  // We kill the group before we reap the child, because until then its number stays that of the
  // group.
  kill(-child, SIGKILL);
  int status = waitFor(child);
  if (late)
    return "out of time: " + std::to_string(findClockLimit(limits)) + " s by the clock";
  return done ? "" : describeStatus(status);
}

int reprise::runToolInChild(const char *what, llvm::function_ref<int()> tool) {
  llvm::outs().flush();
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    limit(RLIMIT_CORE, 0);
    int code = tool();
    llvm::outs().flush();
    fflush(nullptr);
    _exit(code);
  }
  if (child < 0) {
    printError(llvm::Twine("cannot start a child process for ") + what + ": " + strerror(errno));
    return 1;
  }
  int status = waitFor(child);
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  printError(llvm::Twine(what) + " died (" + describeStatus(status) + ")");
  return 1;
}

/// Raises the limit of the running process: Linux reads the limit when the stack grows, and keeps
/// 128 MiB of addresses free below it.
void reprise::deepenStack() {
  constexpr rlim_t wanted = 64 << 20;
  rlimit stack;
  if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= wanted)
    return;
  stack.rlim_cur = std::min(wanted, stack.rlim_max);
  setrlimit(RLIMIT_STACK, &stack);
}

/// Ends the process without an allocation.
[[noreturn]] static void endOutOfMemory() {
  const char *tool = getToolName();
  for (const char *text : {tool, *tool ? ": " : "", "error: out of memory\n"})
    (void)!write(STDERR_FILENO, text, strlen(text));
  _exit(1);
}

/// Reports that standard output cannot be written; LLVM ends the process by this error without a
/// crash.
static void endUnwritable(void *, const char *reason, bool isCrash) {
  llvm::StringRef what = reason;
  if (isCrash || !what.consume_front("IO failure on output stream: "))
    return;
  printError("cannot write the standard output: " + what);
  _exit(1);
}

void reprise::survivePoverty() {
  signal(SIGXFSZ, SIG_IGN); // write() reports the error as well
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { endOutOfMemory(); });
  std::set_new_handler([] { endOutOfMemory(); });
  llvm::install_fatal_error_handler(endUnwritable);
}
