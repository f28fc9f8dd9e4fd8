// reprise: row ops in the interpreter against f64 arithmetic and, bit by bit, against their
// decompositions
#include "Compare.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include <cmath>

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

struct NormalizationTest : InterpreterTest {
  /// Runs `text` as it is and with its decomposable ops expanded: equal bits.
  std::vector<Tensor> runBothWays(const std::string &text, ArrayRef<Tensor> arguments) {
    std::vector<Tensor> direct = run(text, arguments);
    EXPECT_FALSE(direct.empty()) << error << text;
    int64_t expanded = 0;
    module->walk([&](DecomposableOpInterface op) {
      ImplicitLocOpBuilder builder(op.getLoc(), op);
      op->replaceAllUsesWith(op.decompose(builder, op->getOperands()));
      op->erase();
      ++expanded;
    });
    EXPECT_GT(expanded, 0);
    auto chained = interpret(module->lookupSymbol<func::FuncOp>("f"), arguments);
    if (failed(chained)) {
      ADD_FAILURE() << error;
      return direct;
    }
    for (size_t i = 0; i < direct.size(); ++i)
      expectEqualBits(direct[i], (*chained)[i]);
    return direct;
  }

  /// One op of rows of `n` elements, two of them; returns all of its results.
  std::vector<Tensor> rowOp(const std::string &op, int64_t n, const std::string &element,
                            const Tensor &x) {
    std::string shape = "tensor<2x" + std::to_string(n) + "x" + element + ">";
    return runBothWays("func.func @f(%x: " + shape + ") -> " + shape + " {\n  %r = reprise." + op +
                           " %x : " + shape + "\n  return %r : " + shape + "\n}",
                       {x});
  }
};

const int64_t sizes[] = {1, 5, 32, 100, 5000};

TEST_F(NormalizationTest, softmax) {
  for (int64_t n : sizes) {
    Tensor x = randomTensor(type({2, n}, f32()), n);
    std::vector<Tensor> y = rowOp("softmax", n, "f32", x);
    ASSERT_EQ(y.size(), 1u);
    for (int64_t row = 0; row < 2; ++row) {
      double sum = 0;
      for (int64_t j = 0; j < n; ++j)
        sum += std::exp(valueAt(x, row * n + j));
      for (int64_t j = 0; j < n; ++j)
        EXPECT_NEAR(valueAt(y[0], row * n + j), std::exp(valueAt(x, row * n + j)) / sum, 1e-6);
    }
    rowOp("softmax", n, "f64", randomTensor(type({2, n}, f64()), n));
  }
}

TEST_F(NormalizationTest, softmaxOfLargeAndInfiniteNumbers) {
  float infinity = std::numeric_limits<float>::infinity();
  Tensor x = makeTensor<float>(type({2, 3}, f32()), {1000, 1000, -infinity, infinity, 0, 0});
  std::vector<Tensor> y = rowOp("softmax", 3, "f32", x);
  ASSERT_EQ(y.size(), 1u);
  std::vector<float> values = valuesOf<float>(y[0]);
  EXPECT_EQ(std::vector<float>(values.begin(), values.begin() + 3),
            (std::vector<float>{0.5, 0.5, 0}));
  EXPECT_TRUE(std::isnan(values[3]));
}

TEST_F(NormalizationTest, logSoftmax) {
  for (int64_t n : sizes) {
    Tensor x = randomTensor(type({2, n}, f32()), n);
    std::vector<Tensor> y = rowOp("log_softmax", n, "f32", x);
    ASSERT_EQ(y.size(), 1u);
    double sum = 0;
    for (int64_t j = 0; j < n; ++j)
      sum += std::exp(valueAt(x, j));
    for (int64_t j = 0; j < n; ++j)
      EXPECT_NEAR(valueAt(y[0], j), valueAt(x, j) - std::log(sum), 1e-5);
  }
}

TEST_F(NormalizationTest, crossEntropy) {
  const char *text = R"(
    func.func @f(%x: tensor<4x7xf32>, %labels: tensor<4xi32>) -> tensor<4xf32> {
      %r = reprise.cross_entropy %x, %labels : (tensor<4x7xf32>, tensor<4xi32>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    })";
  Tensor x = randomTensor(type({4, 7}, f32()), 3);
  // Labels out of range are clamped.
  Tensor labels = makeTensor<int32_t>(type({4}, integer(32)), {3, 0, -9, 99});
  const int64_t clamped[] = {3, 0, 0, 6};
  std::vector<Tensor> y = runBothWays(text, {x, labels});
  ASSERT_EQ(y.size(), 1u);
  for (int64_t row = 0; row < 4; ++row) {
    double sum = 0;
    for (int64_t j = 0; j < 7; ++j)
      sum += std::exp(valueAt(x, row * 7 + j));
    EXPECT_NEAR(valueAt(y[0], row), std::log(sum) - valueAt(x, row * 7 + clamped[row]), 1e-6);
  }
}

TEST_F(NormalizationTest, layerNorm) {
  for (int64_t n : sizes) {
    std::string N = std::to_string(n), shape = "tensor<2x" + N + "xf32>",
                row = "tensor<" + N + "xf32>";
    std::string types = "(" + shape + ", " + row + ", " + row + ") -> (" + shape +
                        ", tensor<2xf32>, tensor<2xf32>)";
    std::string text =
        "func.func @f(%x: " + shape + ", %w: " + row + ", %b: " + row + ") -> (" + shape +
        ", tensor<2xf32>, tensor<2xf32>) {\n" +
        "  %r:3 = reprise.layer_norm %x, %w, %b {epsilon = 1.0e-5 : f64} : " + types +
        "\n  return %r#0, %r#1, %r#2 : " + shape + ", tensor<2xf32>, tensor<2xf32>\n}";
    Tensor x = randomTensor(type({2, n}, f32()), n), w = randomTensor(type({n}, f32()), n + 1),
           b = randomTensor(type({n}, f32()), n + 2);
    std::vector<Tensor> y = runBothWays(text, {x, w, b});
    ASSERT_EQ(y.size(), 3u);
    double mean = 0, variance = 0;
    for (int64_t j = 0; j < n; ++j)
      mean += valueAt(x, j) / n;
    for (int64_t j = 0; j < n; ++j)
      variance += std::pow(valueAt(x, j) - mean, 2) / n;
    double deviation = 1 / std::sqrt(variance + 1e-5);
    EXPECT_NEAR(valueAt(y[1], 0), mean, 1e-6);
    EXPECT_NEAR(valueAt(y[2], 0), deviation, deviation * 1e-5);
    for (int64_t j = 0; j < n; ++j)
      EXPECT_NEAR(valueAt(y[0], j),
                  (valueAt(x, j) - mean) * deviation * valueAt(w, j) + valueAt(b, j), 2e-5);
  }
}

// 16-bit row ops work in f32 and round at the end: the same as casting, the f32 op, and casting
// back.
TEST_F(NormalizationTest, sixteenBitsAreWidened) {
  std::vector<Tensor> results =
      run(R"(
    func.func @f(%x: tensor<2x33xbf16>, %w: tensor<33xbf16>) -> (tensor<2x33xbf16>, tensor<2x33xbf16>, tensor<2xf32>,
                                                                 tensor<2x33xbf16>, tensor<2x33xbf16>, tensor<2xf32>) {
      %s = reprise.softmax %x : tensor<2x33xbf16>
      %n:3 = reprise.layer_norm %x, %w, %w {epsilon = 0.1 : f64}
        : (tensor<2x33xbf16>, tensor<33xbf16>, tensor<33xbf16>) -> (tensor<2x33xbf16>, tensor<2xf32>, tensor<2xf32>)
      %x32 = reprise.cast %x : tensor<2x33xbf16> to tensor<2x33xf32>
      %w32 = reprise.cast %w : tensor<33xbf16> to tensor<33xf32>
      %s32 = reprise.softmax %x32 : tensor<2x33xf32>
      %n32:3 = reprise.layer_norm %x32, %w32, %w32 {epsilon = 0.1 : f64}
        : (tensor<2x33xf32>, tensor<33xf32>, tensor<33xf32>) -> (tensor<2x33xf32>, tensor<2xf32>, tensor<2xf32>)
      %s16 = reprise.cast %s32 : tensor<2x33xf32> to tensor<2x33xbf16>
      %n16 = reprise.cast %n32#0 : tensor<2x33xf32> to tensor<2x33xbf16>
      return %s, %n#0, %n#2, %s16, %n16, %n32#2
        : tensor<2x33xbf16>, tensor<2x33xbf16>, tensor<2xf32>, tensor<2x33xbf16>, tensor<2x33xbf16>, tensor<2xf32>
    })",
          {randomTensor(type({2, 33}, bf16()), 1), randomTensor(type({33}, bf16()), 2)});
  ASSERT_EQ(results.size(), 6u) << error;
  for (int i = 0; i < 3; ++i)
    expectEqualBits(results[i], results[i + 3]);
}

} // namespace
