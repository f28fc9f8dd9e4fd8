// reprise: tests of work that several threads share
#include "reprise/Support/Parallel.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "gtest/gtest.h"

#include <atomic>
#include <thread>

using namespace mlir;
using namespace reprise;

namespace {

class ParallelTest : public testing::Test {
protected:
  ParallelTest()
      : handler(&context, [this](Diagnostic &diagnostic) { heard += diagnostic.str() + ";"; }) {}

  LogicalResult fail(size_t number) {
    return emitError(UnknownLoc::get(&context)) << "error " << number;
  }
  void warn(size_t number) { emitWarning(UnknownLoc::get(&context)) << "warning " << number; }

  MLIRContext context;
  std::string heard;
  ScopedDiagnosticHandler handler;
};

TEST_F(ParallelTest, MessagesComeInOrder) {
  for (int round = 0; round < 20; ++round) {
    heard.clear();
    std::vector<int> done(6);
    EXPECT_TRUE(succeeded(forEachInParallel(context, done.size(), [&](size_t number) {
      warn(number);
      done[number] = 1;
      return success();
    })));
    EXPECT_EQ(done, std::vector<int>(6, 1));
    EXPECT_EQ(heard, "warning 0;warning 1;warning 2;warning 3;warning 4;warning 5;");
  }
}

/// Threads that look for interfaces walk the table of dialects.
TEST_F(ParallelTest, WorkLoadsNoDialect) {
  DialectRegistry registry;
  registry.insert<RepriseDialect>();
  context.appendDialectRegistry(registry);
  auto load = [&](size_t) { return success(context.getOrLoadDialect("reprise") != nullptr); };
  EXPECT_TRUE(failed(forEachInParallel(context, 1, load)));
  EXPECT_EQ(heard, "internal error: a dialect was loaded by one of several threads;");
  EXPECT_TRUE(succeeded(forEachInParallel(context, 1, load)));
}

/// Reports end with the first failure, as in a loop: messages of later items are dropped.
TEST_F(ParallelTest, TheFirstFailureIsTheLastMessage) {
  for (int round = 0; round < 50; ++round) {
    heard.clear();
    EXPECT_TRUE(failed(forEachInParallel(context, 8, [&](size_t number) -> LogicalResult {
      if (number == 3)
        std::this_thread::yield(); // a later one may fail before it
      if (number >= 3)
        return fail(number);
      warn(number);
      return success();
    })));
    EXPECT_EQ(heard, "warning 0;warning 1;warning 2;error 3;");
  }
}

TEST_F(ParallelTest, OneThreadIsEnough) {
  context.disableMultithreading();
  EXPECT_TRUE(failed(forEachInParallel(context, 3, [&](size_t number) {
    warn(number);
    return success(number != 1);
  })));
  EXPECT_EQ(heard, "warning 0;warning 1;");
  EXPECT_TRUE(succeeded(forEachInParallel(context, 0, [&](size_t n) { return fail(n); })));
}

TEST_F(ParallelTest, AQuietThreadSilencesNoOther) {
  QuietThread quiet(context);
  warn(1);
  std::thread([&] { warn(2); }).join();
  EXPECT_EQ(heard, "warning 2;");
}

} // namespace
