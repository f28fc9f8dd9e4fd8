// reprise: tests of work that may crash
#include "reprise/Support/Guard.h"

#include "llvm/Support/Compiler.h"
#include "gtest/gtest.h"
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <new>
#include <unistd.h>

using namespace reprise;

/// Sanitizers turn signals into exit codes and bring their own memory.
#if LLVM_ADDRESS_SANITIZER_BUILD
static constexpr bool kSanitized = true;
#else
static constexpr bool kSanitized = false;
#endif

TEST(Guard, ComesBack) {
  int changed = 0;
  EXPECT_EQ(runInChild([&] { changed = 1; }, {}), "");
  EXPECT_EQ(changed, 0) << "the work must run in another process";
}

TEST(Guard, NamesTheSignal) {
  EXPECT_EQ(runInChild([] { raise(SIGKILL); }, {}), "signal 9: Killed");
  std::string aborted = runInChild([] { abort(); }, {});
  EXPECT_EQ(aborted, kSanitized ? aborted : "signal 6: Aborted");
  EXPECT_NE(aborted, "");
}

TEST(Guard, NamesTheExitCode) {
  EXPECT_EQ(runInChild([] { _exit(0); }, {}), "exit code 0");
}

/// Keeps the compiler from seeing through the tests.
static volatile int sink;
__attribute__((noinline)) static int recurse(int depth) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(depth);
  return sink == 1 ? depth : recurse(depth + 1) + frame[0];
}

TEST(Guard, SurvivesAStackOverflow) {
  EXPECT_NE(runInChild([] { recurse(0); }, {}), "");
}

TEST(Guard, LimitsTheStackToAFraction) {
  // Two MB of the usual eight fit, but not into a quarter.
  auto halfFull = [] {
    volatile char block[3 << 20];
    for (size_t i = 0; i < sizeof(block); i += 4096)
      block[sizeof(block) - 1 - i] = 1;
  };
  GuardLimits quarter;
  quarter.stackDivisor = 4;
  EXPECT_EQ(runInChild(halfFull, {}), "");
  EXPECT_NE(runInChild(halfFull, quarter), "");
}

TEST(Guard, LimitsMemory) {
  if (kSanitized)
    GTEST_SKIP() << "a sanitizer's address space has no limit";
  GuardLimits limits;
  limits.memoryBytes = 64 << 20;
  auto grow = [] {
    auto *block = static_cast<volatile char *>(operator new(size_t(256) << 20));
    block[12345] = 1;
    sink = block[12345];
  };
  EXPECT_EQ(runInChild(grow, limits), "out of memory");
  EXPECT_EQ(runInChild(grow, {}), "");
}

TEST(Guard, LimitsProcessorTime) {
  GuardLimits limits;
  limits.seconds = 1;
  auto spin = [] {
    while (true)
      sink = sink + 1;
  };
  EXPECT_EQ(runInChild(spin, limits), "out of time");
}

TEST(Guard, AToolKeepsItsExitCode) {
  EXPECT_EQ(runToolInChild("the tool", [] { return 3; }), 3);
  EXPECT_EQ(runToolInChild("the tool", [] { return raise(SIGKILL); }), 1);
}

TEST(Guard, GivesBytesBack) {
  std::string sent(1 << 20, 'x'), answer;
  sent[77] = '\0';
  EXPECT_EQ(runInChild([&] { return sent; }, {}, answer), "");
  EXPECT_EQ(answer, sent) << "more than a pipe holds";
}

TEST(Guard, ExitRunsNoHandlerOfOurs) {
  static bool isChild = false;
  atexit([] {
    if (isChild)
      _exit(99);
  });
  auto leave = [] {
    isChild = true;
    exit(3);
  };
  EXPECT_EQ(runInChild(leave, {}), "exit code 3");
}

static double countSeconds(llvm::function_ref<void()> work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A grandchild holds the pipe, and lives for longer than any test.
static void startSleeper() {
  if (fork() == 0) {
    sleep(600);
    _exit(0);
  }
}

TEST(Guard, DoesNotWaitForGrandchildren) {
  GuardLimits limits;
  limits.seconds = 60;
  double seconds = countSeconds([&] {
    auto leave = [] {
      startSleeper();
      _exit(0);
    };
    EXPECT_EQ(runInChild(leave, limits), "exit code 0");
    std::string answer;
    auto reply = [] {
      startSleeper();
      return std::string("good");
    };
    EXPECT_EQ(runInChild(reply, limits, answer), "");
    EXPECT_EQ(answer, "good");
  });
  EXPECT_LT(seconds, 10);
}

TEST(Guard, EndsWhatTheChildStarted) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(runInChild([] { startSleeper(); }, {}), "");
  close(ends[1]);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0) << "nobody holds the pipe any more";
  close(ends[0]);
}

TEST(Guard, HearsOneCopyOfTheWork) {
  std::string answer;
  auto copy = [] {
    fork();
    return std::string(1 << 18, 'x');
  };
  EXPECT_EQ(runInChild(copy, {}, answer), "");
  EXPECT_EQ(answer, std::string(1 << 18, 'x'));
}

TEST(Guard, LimitsTimeByTheClock) {
  GuardLimits limits;
  limits.seconds = 1;
  limits.clockFactor = 1;
  int glances = 0;
  limits.whileWaiting = [&] { ++glances; };
  EXPECT_EQ(runInChild([] { sleep(600); }, limits), "out of time: 1 s by the clock");
  EXPECT_GT(glances, 2);
  auto closeAll = [] {
    for (int i = 3; i < 256; ++i)
      close(i);
    sleep(600);
  };
  EXPECT_EQ(runInChild(closeAll, limits), "out of time: 1 s by the clock");
}
