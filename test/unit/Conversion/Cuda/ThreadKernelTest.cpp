// reprise: distribution of work in kernels of a GPU, and faults that the emulation must find.
// LoopHarness::check compares the results of such kernels.
#include "../Cpu/NestHarness.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace reprise::test;
using reprise::Tensor;

namespace {

struct ThreadKernels : LoopHarness {
  using Work = std::pair<int64_t, int64_t>;
  /// Threads per block; fewer if rows in shared memory leave no room for more. 0: not the same for
  /// all commands.
  int64_t blockThreads = 256;
  /// Items, and threads per item, of each command.
  std::vector<Work> work(const std::string &source) {
    gpuCommands.clear();
    check(source);
    std::vector<Work> result;
    for (const reprise::EmittedCommand &command : gpuCommands) {
      if (blockThreads != 0)
        EXPECT_EQ(command.blockThreads, blockThreads);
      result.push_back({command.items, command.itemThreads});
    }
    return result;
  }
};

TEST_F(ThreadKernels, AThreadHasFourNeighbours) {
  const std::string source = R"(
func.func @f(%x: tensor<T>, %y: tensor<T>) -> tensor<T> {
  %0 = reprise.mul %x, %y : tensor<T>
  %1 = reprise.add %0, %x : tensor<T>
  return %1 : tensor<T>
})";
  EXPECT_EQ(work(fill(source, "T", "60x100xf32")), (std::vector<Work>{{1500, 1}}));
  EXPECT_EQ(work(fill(source, "T", "7x9xf64")), (std::vector<Work>{{63, 1}}));
  EXPECT_EQ(work(fill(source, "T", "1xbf16")), (std::vector<Work>{{1, 1}}));
}

/// Eight threads have a short row, four elements each at a time; where rows are not aligned, one.
/// 32 threads have a long one. The last warp has one, two or three short rows.
TEST_F(ThreadKernels, AWarpHasOneRowOrFour) {
  const std::string source = R"(
func.func @f(%x: tensor<T>) -> tensor<T> {
  %0 = reprise.softmax %x : tensor<T>
  return %0 : tensor<T>
})";
  for (const char *type : {"41x32xf32", "42x20xbf16", "43x4xf64", "41x10xf32", "42x33xbf16",
                           "43x1xf64", "41x127xf32", "41x128xf32"}) {
    int64_t rows = std::atoi(type);
    EXPECT_EQ(work(fill(source, "T", type)), (std::vector<Work>{{rows, 8}})) << type;
  }
  EXPECT_EQ(work(fill(source, "T", "41x129xf32")), (std::vector<Work>{{41, 32}}));
  EXPECT_EQ(work(fill(source, "T", "40x1000xf32")), (std::vector<Work>{{40, 32}}));
  // There are as many warps as rows that fit into 48 KiB.
  blockThreads = 128;
  EXPECT_EQ(work(fill(source, "T", "40x3072xf32")), (std::vector<Work>{{40, 32}}));
  blockThreads = 64;
  EXPECT_EQ(work(fill(source, "T", "7x3000xf64")), (std::vector<Work>{{7, 32}}));
}

TEST_F(ThreadKernels, BlocksMeetInASecondCommand) {
  specials = false;
  EXPECT_EQ(work(R"(
func.func @f(%x: tensor<200x100xf32>) -> tensor<100xf32> {
  %0 = reprise.sum %x dims [0] : (tensor<200x100xf32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
})"),
            (std::vector<Work>{{4 * 25, 1}, {100, 1}}));
  // Three blocks of 16 KiB are in flight in shared memory.
  blockThreads = 0;
  EXPECT_EQ(work(R"(
func.func @f(%x: tensor<3x100000xf32>) -> tensor<3xf32> {
  %0 = reprise.mean %x dims [1] : (tensor<3x100000xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
})"),
            (std::vector<Work>{{3 * 25, 32}, {3, 1}}));
}

TEST_F(ThreadKernels, WhatALaterPassReadsMayNotBeOverwritten) {
  auto module = parse(R"(
func.func @f(%x: tensor<40x70xf32>) -> (tensor<40x70xf32>, tensor<40x70xf32>) {
  %g = reprise.gelu %x : tensor<40x70xf32>
  %m = reprise.max %g dims [1] : (tensor<40x70xf32>) -> tensor<40xf32>
  %a = reprise.broadcast %m dims [0] : (tensor<40xf32>) -> tensor<40x70xf32>
  %h = reprise.sub %g, %a : tensor<40x70xf32>
  %s = reprise.sum %h dims [1] : (tensor<40x70xf32>) -> tensor<40xf32>
  %b = reprise.broadcast %s dims [0] : (tensor<40xf32>) -> tensor<40x70xf32>
  %q = reprise.div %h, %b : tensor<40x70xf32>
  %y = reprise.add %q, %g : tensor<40x70xf32>
  return %h, %y : tensor<40x70xf32>, tensor<40x70xf32>
})");
  mlir::Block &body = module->lookupSymbol<mlir::func::FuncOp>("f").getBody().front();
  using Pairs = reprise::Target::InPlacePairs;
  EXPECT_EQ(reprise::findInPlacePairs(body), (Pairs{{0, 0}, {1, 0}}));
  // Threads compute %g again.
  EXPECT_EQ(reprise::CudaBackend("sm_90").findInPlacePairs(body), (Pairs{{1, 0}}));
}

/// A butterfly over distances 1, 2, 4, 8, 16 adds the same numbers in another order, which the
/// check must find.
TEST_F(ThreadKernels, AnotherOrderIsSeen) {
  specials = false;
  auto module = parse(R"(
func.func @f(%x: tensor<50x1000xf32>) -> tensor<50xf32> {
  %0 = reprise.sum %x dims [1] : (tensor<50x1000xf32>) -> tensor<50xf32>
  return %0 : tensor<50xf32>
})");
  auto function = module->lookupSymbol<mlir::func::FuncOp>("f");
  Tensor argument =
      randomTensor(llvm::cast<mlir::RankedTensorType>(function.getArgumentTypes()[0]));
  auto expected = reprise::interpret(function, {argument});
  ASSERT_TRUE(succeeded(expected));
  auto kernels = mlir::OwningOpRef<mlir::ModuleOp>(mlir::ModuleOp::create(function.getLoc()));
  auto launch =
      reprise::CudaBackend("sm_90").emitLaunch(function.getBody().front(), "group", *kernels);
  ASSERT_TRUE(succeeded(launch));
  auto sums = [&] {
    EmulatedGpu gpu(*kernels);
    auto input = alignedBytes(argument.bytes.size());
    std::memcpy(input->data(), argument.bytes.data(), argument.bytes.size());
    Tensor got((*expected)[0].type);
    std::vector<void *> buffers = {input->data(), got.bytes.data()};
    gpu.run(launch->commands[0], buffers, false);
    return got;
  };
  EXPECT_EQ(difference(sums(), (*expected)[0]), "");
  kernels->walk([](mlir::gpu::ShuffleOp shuffle) {
    auto distance = shuffle.getOffset().getDefiningOp<mlir::arith::ConstantIntOp>();
    mlir::OpBuilder b(shuffle);
    shuffle.getOffsetMutable().assign(
        mlir::arith::ConstantIntOp::create(b, shuffle.getLoc(), 16 / distance.value(), 32));
  });
  EXPECT_NE(difference(sums(), (*expected)[0]), "");
}

} // namespace
