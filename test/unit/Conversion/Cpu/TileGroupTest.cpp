// reprise: contractions with elementwise ops on their blocks, against the interpreter
#include "NestHarness.h"

using namespace reprise::test;

namespace {

struct TileGroups : LoopHarness {
  TileGroups() { specials = false; }

  void group(const std::string &source) {
    check(source);
    auto module = parse(source);
    EXPECT_TRUE(reprise::isContractionLaunch(
        module->lookupSymbol<mlir::func::FuncOp>("f").getBody().front()))
        << source;
  }
};

// Wide, high and awkward results, so that lanes run along columns and along rows.
const std::vector<std::array<const char *, 3>> sizes = {{"33", "96", "40"}, {"130", "64", "100"},
                                                        {"5", "200", "17"}, {"200", "6", "33"},
                                                        {"64", "1", "64"},  {"1", "70", "8"}};

TEST_F(TileGroups, BiasGeluAndBothResults) {
  for (const char *type : {"f32", "bf16", "f16", "f64"})
    for (auto [m, n, k] : sizes) {
      std::string source = R"(
func.func @f(%x: tensor<$Mx$Kx$T>, %w: tensor<$Nx$Kx$T>, %b: tensor<$Nx$T>) -> (tensor<$Mx$Nx$T>, tensor<$Mx$Nx$T>) {
  %0 = "reprise.dot_general"(%x, %w) {lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>}
      : (tensor<$Mx$Kx$T>, tensor<$Nx$Kx$T>) -> tensor<$Mx$Nx$T>
  %1 = reprise.broadcast %b dims [1] : (tensor<$Nx$T>) -> tensor<$Mx$Nx$T>
  %2 = reprise.add %0, %1 : tensor<$Mx$Nx$T>
  %3 = reprise.gelu %2 : tensor<$Mx$Nx$T>
  return %2, %3 : tensor<$Mx$Nx$T>, tensor<$Mx$Nx$T>
})";
      group(fill(fill(fill(fill(source, "$M", m), "$N", n), "$K", k), "$T", type));
    }
}

TEST_F(TileGroups, ResidualAndDropout) {
  for (auto [m, n, k] : sizes) {
    std::string source = R"(
func.func @f(%x: tensor<2x$Mx$Kxf32>, %w: tensor<$Kx$Nxf32>, %r: tensor<2x$Mx$Nxf32>, %b: tensor<$Nxf32>,
             %s: tensor<i64>, %o: tensor<i64>) -> tensor<2x$Mx$Nxf32> {
  %0 = "reprise.dot_general"(%x, %w) {lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 0>}
      : (tensor<2x$Mx$Kxf32>, tensor<$Kx$Nxf32>) -> tensor<2x$Mx$Nxf32>
  %1 = reprise.broadcast %b dims [2] : (tensor<$Nxf32>) -> tensor<2x$Mx$Nxf32>
  %2 = reprise.add %0, %1 : tensor<2x$Mx$Nxf32>
  %3 = reprise.dropout %2 seed %s offset %o {rate = 0.25 : f64, stream = 9 : i64} : tensor<2x$Mx$Nxf32>
  %4 = reprise.add %r, %3 : tensor<2x$Mx$Nxf32>
  return %4 : tensor<2x$Mx$Nxf32>
})";
    group(fill(fill(fill(source, "$M", m), "$N", n), "$K", k));
  }
}

TEST_F(TileGroups, BatchesAndTransposedArguments) {
  group(R"(
func.func @f(%q: tensor<3x20x4x16xf32>, %k: tensor<3x4x30x16xf32>, %m: tensor<30x20xf32>) -> tensor<3x4x20x30xf32> {
  %0 = reprise.transpose %q [0, 2, 1, 3] : (tensor<3x20x4x16xf32>) -> tensor<3x4x20x16xf32>
  %1 = "reprise.dot_general"(%0, %k) {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>,
      lhs_contracting = array<i64: 3>, rhs_contracting = array<i64: 3>}
      : (tensor<3x4x20x16xf32>, tensor<3x4x30x16xf32>) -> tensor<3x4x20x30xf32>
  %2 = reprise.transpose %m [1, 0] : (tensor<30x20xf32>) -> tensor<20x30xf32>
  %3 = reprise.broadcast %2 dims [2, 3] : (tensor<20x30xf32>) -> tensor<3x4x20x30xf32>
  %4 = reprise.mul %1, %3 : tensor<3x4x20x30xf32>
  return %4 : tensor<3x4x20x30xf32>
})");
}

TEST_F(TileGroups, OperandsThatAreNoViewsAreCopied) {
  group(R"(
func.func @f(%x: tensor<4x6xf32>, %y: tensor<3x8xf32>) -> tensor<4x4xf32> {
  %0 = reprise.transpose %y [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>
  %1 = reprise.reshape %0 : (tensor<8x3xf32>) -> tensor<6x4xf32>
  %2 = reprise.dot_general %x, %1 contracting [1] x [0] : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  %3 = reprise.tanh %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
})");
  group(R"(
func.func @f(%x: tensor<4x6xf32>) -> tensor<4x4xf32> {
  %0 = reprise.constant dense<0.5> : tensor<6x4xf32>
  %1 = reprise.dot_general %x, %0 contracting [1] x [0] : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
})");
}

} // namespace
