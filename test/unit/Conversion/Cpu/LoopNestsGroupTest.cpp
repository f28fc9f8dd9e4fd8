// reprise: groups of ops of a training step, each in one pass, against the interpreter
#include "NestHarness.h"

using namespace reprise::test;

namespace {

struct LoopsGroups : LoopHarness {
  LoopsGroups() { specials = false; }
  /// Replaces $T by each 16- and 32-bit float type; expects so many commands.
  void group(const std::string &source, size_t expected,
             std::vector<std::string> types = {"f32", "bf16"}) {
    for (const std::string &type : types) {
      std::string text = source;
      for (size_t at; (at = text.find("$T")) != std::string::npos;)
        text.replace(at, 2, type);
      check(text);
      EXPECT_EQ(commands, expected) << text;
    }
  }
};

TEST_F(LoopsGroups, BiasAndGelu) {
  for (const char *columns : {"96", "95"}) {
    std::string source = R"(
func.func @f(%x: tensor<5x7x$Cx$T>, %b: tensor<$Cx$T>) -> (tensor<5x7x$Cx$T>, tensor<5x7x$Cx$T>) {
  %0 = reprise.broadcast %b dims [2] : (tensor<$Cx$T>) -> tensor<5x7x$Cx$T>
  %1 = reprise.add %x, %0 : tensor<5x7x$Cx$T>
  %2 = reprise.gelu %1 : tensor<5x7x$Cx$T>
  return %1, %2 : tensor<5x7x$Cx$T>, tensor<5x7x$Cx$T>
})";
    for (size_t at; (at = source.find("$C")) != std::string::npos;)
      source.replace(at, 2, columns);
    group(source, 1, {"f32", "bf16", "f16", "f64"});
  }
}

/// A chain of more operations than a core can look ahead over gets wider vectors.
TEST_F(LoopsGroups, LongChain) {
  for (std::string shape : {"3x129", "517"}) {
    std::string type = "tensor<" + shape + "x$T>";
    std::string source = "func.func @f(%x: " + type + ") -> (" + type + ", " + type + ") {\n";
    std::string last = "%x", middle;
    for (int i = 0; i < 40; ++i) {
      std::string next = "%" + std::to_string(i);
      source += "  " + next + " = ";
      source += i % 2 ? "reprise.add " + last + ", %x" : "reprise.tanh " + last;
      source += " : " + type + "\n";
      last = next;
      middle = i == 20 ? next : middle;
    }
    source += "  return " + middle + ", " + last + " : " + type + ", " + type + "\n}";
    group(source, 1, {"f32", "bf16", "f64"});
  }
}

TEST_F(LoopsGroups, ResidualDropoutLayerNorm) {
  group(R"(
func.func @f(%x: tensor<4x9x65x$T>, %a: tensor<4x9x65x$T>, %w: tensor<65x$T>, %b: tensor<65x$T>,
             %seed: tensor<i64>, %offset: tensor<i64>)
    -> (tensor<4x9x65x$T>, tensor<4x9x65x$T>, tensor<4x9xf32>, tensor<4x9xf32>) {
  %0 = reprise.dropout %a seed %seed offset %offset {rate = 0.1 : f64, stream = 5 : i64} : tensor<4x9x65x$T>
  %1 = reprise.add %x, %0 : tensor<4x9x65x$T>
  %2:3 = reprise.layer_norm %1, %w, %b {epsilon = 1.0e-5 : f64}
      : (tensor<4x9x65x$T>, tensor<65x$T>, tensor<65x$T>) -> (tensor<4x9x65x$T>, tensor<4x9xf32>, tensor<4x9xf32>)
  return %1, %2#0, %2#1, %2#2 : tensor<4x9x65x$T>, tensor<4x9x65x$T>, tensor<4x9xf32>, tensor<4x9xf32>
})",
        1);
}

TEST_F(LoopsGroups, LayerNormBackward) {
  for (const char *columns : {"64", "384", "33"}) {
    std::string source = R"(
func.func @f(%x: tensor<10x13x$Cxf32>, %w: tensor<$Cxf32>, %mean: tensor<10x13xf32>, %rstd: tensor<10x13xf32>,
             %dy: tensor<10x13x$Cxf32>) -> (tensor<10x13x$Cxf32>, tensor<$Cxf32>, tensor<$Cxf32>) {
  %0 = reprise.broadcast %mean dims [0, 1] : (tensor<10x13xf32>) -> tensor<10x13x$Cxf32>
  %1 = reprise.sub %x, %0 : tensor<10x13x$Cxf32>
  %2 = reprise.broadcast %rstd dims [0, 1] : (tensor<10x13xf32>) -> tensor<10x13x$Cxf32>
  %3 = reprise.mul %1, %2 : tensor<10x13x$Cxf32>
  %4 = reprise.mul %dy, %3 : tensor<10x13x$Cxf32>
  %dw = reprise.sum %4 dims [0, 1] : (tensor<10x13x$Cxf32>) -> tensor<$Cxf32>
  %db = reprise.sum %dy dims [0, 1] : (tensor<10x13x$Cxf32>) -> tensor<$Cxf32>
  %5 = reprise.broadcast %w dims [2] : (tensor<$Cxf32>) -> tensor<10x13x$Cxf32>
  %6 = reprise.mul %dy, %5 : tensor<10x13x$Cxf32>
  %7 = reprise.mean %6 dims [2] : (tensor<10x13x$Cxf32>) -> tensor<10x13xf32>
  %8 = reprise.mul %6, %3 : tensor<10x13x$Cxf32>
  %9 = reprise.mean %8 dims [2] : (tensor<10x13x$Cxf32>) -> tensor<10x13xf32>
  %10 = reprise.broadcast %7 dims [0, 1] : (tensor<10x13xf32>) -> tensor<10x13x$Cxf32>
  %11 = reprise.broadcast %9 dims [0, 1] : (tensor<10x13xf32>) -> tensor<10x13x$Cxf32>
  %12 = reprise.mul %3, %11 : tensor<10x13x$Cxf32>
  %13 = reprise.sub %6, %10 : tensor<10x13x$Cxf32>
  %14 = reprise.sub %13, %12 : tensor<10x13x$Cxf32>
  %dx = reprise.mul %14, %2 : tensor<10x13x$Cxf32>
  return %dx, %dw, %db : tensor<10x13x$Cxf32>, tensor<$Cxf32>, tensor<$Cxf32>
})";
    for (size_t at; (at = source.find("$C")) != std::string::npos;)
      source.replace(at, 2, columns);
    group(source, 2, {"f32"});
  }
}

TEST_F(LoopsGroups, SoftmaxBackward) {
  group(R"(
func.func @f(%p: tensor<2x3x20x45x$T>, %dp: tensor<2x3x20x45x$T>) -> tensor<2x3x20x45x$T> {
  %0 = reprise.mul %p, %dp : tensor<2x3x20x45x$T>
  %1 = reprise.sum %0 dims [3] : (tensor<2x3x20x45x$T>) -> tensor<2x3x20x$T>
  %2 = reprise.broadcast %1 dims [0, 1, 2] : (tensor<2x3x20x$T>) -> tensor<2x3x20x45x$T>
  %3 = reprise.sub %dp, %2 : tensor<2x3x20x45x$T>
  %4 = reprise.mul %p, %3 : tensor<2x3x20x45x$T>
  return %4 : tensor<2x3x20x45x$T>
})",
        1);
}

TEST_F(LoopsGroups, Loss) {
  group(R"(
func.func @f(%x: tensor<4x9x50x$T>, %l: tensor<4x9xi64>) -> tensor<$T> {
  %0 = reprise.cross_entropy %x, %l : (tensor<4x9x50x$T>, tensor<4x9xi64>) -> tensor<4x9x$T>
  %1 = reprise.mean %0 dims [0, 1] : (tensor<4x9x$T>) -> tensor<$T>
  return %1 : tensor<$T>
})",
        2);
}

TEST_F(LoopsGroups, LossBackward) {
  group(R"(
func.func @f(%x: tensor<36x50x$T>, %l: tensor<36xi32>, %g: tensor<$T>) -> tensor<36x50x$T> {
  %0 = reprise.softmax %x : tensor<36x50x$T>
  %1 = reprise.iota dim 1 : tensor<36x50xi32>
  %2 = reprise.broadcast %l dims [0] : (tensor<36xi32>) -> tensor<36x50xi32>
  %3 = reprise.compare eq %1, %2 : tensor<36x50xi32>
  %4 = reprise.cast %3 : tensor<36x50xi1> to tensor<36x50x$T>
  %5 = reprise.sub %0, %4 : tensor<36x50x$T>
  %6 = reprise.broadcast %g dims [] : (tensor<$T>) -> tensor<36x50x$T>
  %7 = reprise.mul %5, %6 : tensor<36x50x$T>
  return %7 : tensor<36x50x$T>
})",
        1);
}

TEST_F(LoopsGroups, Embedding) {
  group(R"(
func.func @f(%t: tensor<20x48x$T>, %i: tensor<3x10xi64>, %p: tensor<16x48x$T>, %seed: tensor<i64>,
             %offset: tensor<i64>) -> tensor<3x10x48x$T> {
  %0 = reprise.gather %t[%i] : (tensor<20x48x$T>, tensor<3x10xi64>) -> tensor<3x10x48x$T>
  %1 = reprise.slice %p from [0, 0] to [10, 48] by [1, 1] : (tensor<16x48x$T>) -> tensor<10x48x$T>
  %2 = reprise.broadcast %1 dims [1, 2] : (tensor<10x48x$T>) -> tensor<3x10x48x$T>
  %3 = reprise.add %0, %2 : tensor<3x10x48x$T>
  %4 = reprise.dropout %3 seed %seed offset %offset {rate = 0.2 : f64, stream = 0 : i64} : tensor<3x10x48x$T>
  return %4 : tensor<3x10x48x$T>
})",
        1);
}

TEST_F(LoopsGroups, HeadsSplitAndMerge) {
  group(R"(
func.func @f(%x: tensor<2x5x96x$T>, %b: tensor<96x$T>) -> tensor<2x4x5x8x$T> {
  %0 = reprise.broadcast %b dims [2] : (tensor<96x$T>) -> tensor<2x5x96x$T>
  %1 = reprise.add %x, %0 : tensor<2x5x96x$T>
  %2 = reprise.slice %1 from [0, 0, 32] to [2, 5, 64] by [1, 1, 1] : (tensor<2x5x96x$T>) -> tensor<2x5x32x$T>
  %3 = reprise.reshape %2 : (tensor<2x5x32x$T>) -> tensor<2x5x4x8x$T>
  %4 = reprise.transpose %3 [0, 2, 1, 3] : (tensor<2x5x4x8x$T>) -> tensor<2x4x5x8x$T>
  return %4 : tensor<2x4x5x8x$T>
})",
        1);
  group(R"(
func.func @f(%q: tensor<2x4x5x8x$T>, %k: tensor<2x4x5x8x$T>) -> (tensor<2x5x64x$T>, tensor<64x$T>) {
  %0 = reprise.transpose %q [0, 2, 1, 3] : (tensor<2x4x5x8x$T>) -> tensor<2x5x4x8x$T>
  %1 = reprise.reshape %0 : (tensor<2x5x4x8x$T>) -> tensor<2x5x32x$T>
  %2 = reprise.transpose %k [0, 2, 1, 3] : (tensor<2x4x5x8x$T>) -> tensor<2x5x4x8x$T>
  %3 = reprise.reshape %2 : (tensor<2x5x4x8x$T>) -> tensor<2x5x32x$T>
  %zero = reprise.constant dense<0.0> : tensor<2x5x64x$T>
  %4 = reprise.pad %1 with 0.0 : $T low [0, 0, 0] high [0, 0, 32] interior [0, 0, 0]
      : (tensor<2x5x32x$T>) -> tensor<2x5x64x$T>
  %5 = reprise.pad %3 with 0.0 : $T low [0, 0, 32] high [0, 0, 0] interior [0, 0, 0]
      : (tensor<2x5x32x$T>) -> tensor<2x5x64x$T>
  %6 = reprise.add %4, %5 : tensor<2x5x64x$T>
  %7 = reprise.sum %6 dims [0, 1] : (tensor<2x5x64x$T>) -> tensor<64x$T>
  return %6, %7 : tensor<2x5x64x$T>, tensor<64x$T>
})",
        2);
}

const char *adamw = R"(
func.func @f(%p: tensor<70x33xf32>, %g: tensor<70x33xf32>, %m: tensor<70x33xf32>, %v: tensor<70x33xf32>,
             %rate: tensor<f32>, %power: tensor<f32>)
    -> (tensor<70x33xf32>, tensor<70x33xf32>, tensor<70x33xf32>, tensor<f32>) {
  %b1 = reprise.constant dense<0.9> : tensor<70x33xf32>
  %c1 = reprise.constant dense<0.1> : tensor<70x33xf32>
  %eps = reprise.constant dense<1.0e-8> : tensor<70x33xf32>
  %beta = reprise.constant dense<0.9> : tensor<f32>
  %one = reprise.constant dense<1.0> : tensor<f32>
  %next = reprise.mul %power, %beta : tensor<f32>
  %correction = reprise.sub %one, %next : tensor<f32>
  %0 = reprise.mul %m, %b1 : tensor<70x33xf32>
  %1 = reprise.mul %g, %c1 : tensor<70x33xf32>
  %m1 = reprise.add %0, %1 : tensor<70x33xf32>
  %2 = reprise.mul %g, %g : tensor<70x33xf32>
  %3 = reprise.mul %v, %b1 : tensor<70x33xf32>
  %v1 = reprise.add %3, %2 : tensor<70x33xf32>
  %4 = reprise.broadcast %correction dims [] : (tensor<f32>) -> tensor<70x33xf32>
  %5 = reprise.div %m1, %4 : tensor<70x33xf32>
  %6 = reprise.sqrt %v1 : tensor<70x33xf32>
  %7 = reprise.add %6, %eps : tensor<70x33xf32>
  %8 = reprise.div %5, %7 : tensor<70x33xf32>
  %9 = reprise.broadcast %rate dims [] : (tensor<f32>) -> tensor<70x33xf32>
  %10 = reprise.mul %8, %9 : tensor<70x33xf32>
  %p1 = reprise.sub %p, %10 : tensor<70x33xf32>
  return %p1, %m1, %v1, %next : tensor<70x33xf32>, tensor<70x33xf32>, tensor<70x33xf32>, tensor<f32>
})";

TEST_F(LoopsGroups, AdamW) { group(adamw, 1, {"f32"}); }

TEST_F(LoopsGroups, NormOfAGradientBesideItsUse) {
  group(R"(
func.func @f(%g: tensor<300x401xf32>, %s: tensor<f32>) -> (tensor<300x401xf32>, tensor<f32>) {
  %0 = reprise.broadcast %s dims [] : (tensor<f32>) -> tensor<300x401xf32>
  %1 = reprise.mul %g, %0 : tensor<300x401xf32>
  %2 = reprise.mul %1, %1 : tensor<300x401xf32>
  %3 = reprise.sum %2 dims [0, 1] : (tensor<300x401xf32>) -> tensor<f32>
  %4 = reprise.sqrt %3 : tensor<f32>
  return %1, %4 : tensor<300x401xf32>, tensor<f32>
})",
        2, {"f32"});
}

TEST_F(LoopsGroups, BiasGradientBesideGeluBackward) {
  group(R"(
func.func @f(%x: tensor<130x40x$T>, %dy: tensor<130x40x$T>) -> (tensor<130x40x$T>, tensor<40x$T>) {
  %0 = reprise.tanh %x : tensor<130x40x$T>
  %1 = reprise.mul %0, %dy : tensor<130x40x$T>
  %2 = reprise.sum %1 dims [0] : (tensor<130x40x$T>) -> tensor<40x$T>
  %3 = reprise.neg %2 : tensor<40x$T>
  return %1, %3 : tensor<130x40x$T>, tensor<40x$T>
})",
        2);
}

TEST_F(LoopsGroups, SumOverASmallBatchStaysInOnePass) {
  group(R"(
func.func @f(%d: tensor<8x20x33x$T>, %p: tensor<20x33x$T>) -> tensor<20x33x$T> {
  %0 = reprise.sum %d dims [0] : (tensor<8x20x33x$T>) -> tensor<20x33x$T>
  %1 = reprise.sub %p, %0 : tensor<20x33x$T>
  return %1 : tensor<20x33x$T>
})",
        1);
}

TEST_F(LoopsGroups, RowValuesAlone) {
  group(R"(
func.func @f(%x: tensor<40x70x$T>, %y: tensor<40x$T>) -> (tensor<40x$T>, tensor<40x$T>, tensor<40x70x$T>) {
  %0 = reprise.max %x dims [1] : (tensor<40x70x$T>) -> tensor<40x$T>
  %1 = reprise.exp %0 : tensor<40x$T>
  %2 = reprise.mul %1, %y : tensor<40x$T>
  %3 = reprise.broadcast %2 dims [0] : (tensor<40x$T>) -> tensor<40x70x$T>
  return %0, %2, %3 : tensor<40x$T>, tensor<40x$T>, tensor<40x70x$T>
})",
        1);
}

// The value of a row is stored by a nest without the reduction: that must not store one per column.
TEST_F(LoopsGroups, RowValueAfterItsReduction) {
  group(R"(
func.func @f(%x: tensor<5x5x5xf32>, %t: tensor<33xbf16>) -> (tensor<5xbf16>, tensor<5xbf16>) {
  %0 = reprise.mean %x dims [0, 2] : (tensor<5x5x5xf32>) -> tensor<5xf32>
  %1 = reprise.cast %0 : tensor<5xf32> to tensor<5xbf16>
  %2 = reprise.broadcast %t dims [1] : (tensor<33xbf16>) -> tensor<3x33x33xbf16>
  %3 = reprise.reshape %2 : (tensor<3x33x33xbf16>) -> tensor<3267xbf16>
  %4 = reprise.slice %3 from [1234] to [1239] by [1] : (tensor<3267xbf16>) -> tensor<5xbf16>
  %5 = reprise.mul %1, %4 : tensor<5xbf16>
  %6 = reprise.slice %3 from [654] to [3267] by [653] : (tensor<3267xbf16>) -> tensor<5xbf16>
  %7 = reprise.mul %5, %6 : tensor<5xbf16>
  return %5, %7 : tensor<5xbf16>, tensor<5xbf16>
})",
        3, {"f32"});
}

TEST_F(LoopsGroups, ResultsThatAreArgumentsOrEachOther) {
  group(R"(
func.func @f(%x: tensor<40x$T>) -> (tensor<40x$T>, tensor<40x$T>, tensor<40x$T>) {
  %0 = reprise.exp %x : tensor<40x$T>
  return %x, %0, %0 : tensor<40x$T>, tensor<40x$T>, tensor<40x$T>
})",
        1);
}

TEST_F(LoopsGroups, ReductionsThatDoNotFit) {
  check(R"(
func.func @f(%x: tensor<200x300xf32>) -> tensor<200x300xf32> {
  %0 = reprise.mean %x dims [0] : (tensor<200x300xf32>) -> tensor<300xf32>
  %1 = reprise.broadcast %0 dims [1] : (tensor<300xf32>) -> tensor<200x300xf32>
  %2 = reprise.sub %x, %1 : tensor<200x300xf32>
  return %2 : tensor<200x300xf32>
})");
  check(R"(
func.func @f(%x: tensor<200x300xf32>) -> tensor<300x200xf32> {
  %0 = reprise.softmax %x : tensor<200x300xf32>
  %1 = reprise.transpose %0 [1, 0] : (tensor<200x300xf32>) -> tensor<300x200xf32>
  %2 = reprise.softmax %1 : tensor<300x200xf32>
  return %2 : tensor<300x200xf32>
})");
}

} // namespace
