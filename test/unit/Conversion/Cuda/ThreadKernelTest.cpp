// reprise: the emulation of a GPU's kernels sees what is wrong. Their results are compared wherever
// LoopHarness::check runs.
#include "../Cpu/NestHarness.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace reprise::test;
using reprise::Tensor;

namespace {

struct ThreadKernels : LoopHarness {};

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
