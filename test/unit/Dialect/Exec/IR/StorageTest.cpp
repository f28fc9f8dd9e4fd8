// reprise: tests of positions of values in and around loops, and of times in which commands are in
// flight
#include "reprise/Dialect/Exec/IR/Storage.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "reprise/InitAll.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace reprise;
using namespace reprise::exec;

namespace {

class StorageTest : public ::testing::Test {
protected:
  StorageTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  Block &parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return (*module->getOps<func::FuncOp>().begin()).getBody().front();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

constexpr StringLiteral kLoop = R"(
func.func @f(%w: tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
  %l = reprise.loop 3 () over (%s = %w) : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
    %m = reprise.loop 2 () over (%t = %s) : (tensor<2x4xf32>) -> tensor<2x4xf32> {
      %0 = exec.launch (%a = %t) : (tensor<4xf32>) -> tensor<4xf32> {
        %r = reprise.exp %a : tensor<4xf32>
        exec.return %r : tensor<4xf32>
      }
      reprise.yield %0 : tensor<4xf32>
    }
    reprise.yield %m : tensor<2x4xf32>
  }
  return %l : tensor<3x2x4xf32>
})";

TEST_F(StorageTest, RowsOfRowsLieInTheOutermostBuffer) {
  Block &block = parse(kLoop);
  Positions positions(block);
  ASSERT_EQ(positions.launches.size(), 1u);
  ASSERT_EQ(positions.loops.size(), 2u);
  LaunchOp launch = positions.launches[0];
  Storage read = findStorage(launch.getInputs()[0]), made = findStorage(launch.getResult(0));
  EXPECT_EQ(read.root, block.getArgument(0));
  EXPECT_EQ(made.root, positions.loops[0].getResult(0));
  for (const Storage &storage : {read, made}) {
    ASSERT_EQ(storage.rows.size(), 2u);
    EXPECT_EQ(storage.rows[0].first, positions.loops[1]);
    EXPECT_EQ(storage.rows[0].second, 16);
    EXPECT_EQ(storage.rows[1].first, positions.loops[0]);
    EXPECT_EQ(storage.rows[1].second, 32);
  }
}

TEST_F(StorageTest, ALoopIsThereFromBeforeToBehindItsBody) {
  Block &block = parse(kLoop);
  Positions positions(block);
  auto launch = positions.of(positions.launches[0]);
  auto inner = positions.of(positions.loops[1]), outer = positions.of(positions.loops[0]);
  EXPECT_LT(outer.first, inner.first);
  EXPECT_LT(inner.first, launch.first);
  EXPECT_EQ(launch.first, launch.second);
  EXPECT_LT(launch.second, inner.second);
  EXPECT_LT(inner.second, outer.second);
  EXPECT_EQ(positions.seenFrom(block.getArgument(0), positions.launches[0]), outer);
  EXPECT_GT(positions.of(block.getTerminator()).first, outer.second);
}

TEST_F(StorageTest, ATransferIsInFlightUntilItsWait) {
  Block &block = parse(R"(
func.func @f(%x: tensor<4xf32>) {
  %sent = exec.send %x to @g tag 1 : tensor<4xf32>
  %y, %arrived = exec.receive from @g tag 1 : tensor<4xf32>
  exec.wait %arrived
  exec.wait %sent
  exec.wait %sent
  return
})");
  Positions positions(block);
  ASSERT_EQ(positions.others.size(), 5u);
  using Interval = std::pair<int64_t, int64_t>;
  EXPECT_EQ(positions.inFlight(positions.others[0]), Interval(0, 3));
  EXPECT_EQ(positions.inFlight(positions.others[1]), Interval(1, 2));
}

TEST_F(StorageTest, AnotherStreamIsSeenThroughItsEvents) {
  Block &block = parse(R"(
func.func @f(%x: tensor<4xf32>) {
  exec.call "first"(%x) : (tensor<4xf32>) -> ()
  %start = exec.record
  exec.call "second"(%x) : (tensor<4xf32>) -> ()
  exec.wait %start on 1
  exec.call "beside"(%x) on 1 : (tensor<4xf32>) -> ()
  %one = exec.record on 1
  exec.wait %one on 2
  %two = exec.record on 2
  exec.wait %two
  exec.call "alone"(%x) on 1 : (tensor<4xf32>) -> ()
  return
})");
  Positions positions(block);
  using Interval = std::pair<int64_t, int64_t>;
  // The interval reaches from the record on stream 0 to the wait there, by way of stream 2.
  EXPECT_EQ(positions.inFlight(positions.others[4]), Interval(1, 8));
  // No command waits for the last transfer: it may end with the program.
  int64_t end = positions.of(block.getTerminator()).first;
  EXPECT_EQ(positions.inFlight(positions.others[9]), Interval(1, end));
}

} // namespace
