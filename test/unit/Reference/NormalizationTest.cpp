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
  /// Runs `text` as it is and with its decomposable ops expanded; expects equal bits.
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

  /// Runs a row op on two rows of `n` elements; returns all results.
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

/// Mean and 1/√(variance + 1e-5) of the elements of `x` that `belongs` picks.
template <typename Fn> std::pair<double, double> momentsOf(const Tensor &x, Fn belongs) {
  double sum = 0, squares = 0, count = 0;
  for (int64_t i = 0; i < x.size(); ++i)
    if (belongs(i))
      sum += valueAt(x, i), ++count;
  for (int64_t i = 0; i < x.size(); ++i)
    if (belongs(i))
      squares += std::pow(valueAt(x, i) - sum / count, 2);
  return {sum / count, 1 / std::sqrt(squares / count + 1e-5)};
}

TEST_F(NormalizationTest, rmsNorm) {
  for (int64_t n : sizes) {
    std::string N = std::to_string(n), shape = "tensor<2x" + N + "xf32>",
                row = "tensor<" + N + "xf32>";
    Tensor x = randomTensor(type({2, n}, f32()), n), w = randomTensor(type({n}, f32()), n + 1);
    std::vector<Tensor> y = runBothWays(
        "func.func @f(%x: " + shape + ", %w: " + row + ") -> (" + shape +
            ", tensor<2xf32>) {\n  %r:2 = reprise.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : (" +
            shape + ", " + row + ") -> (" + shape +
            ", tensor<2xf32>)\n  return %r#0, %r#1 : " + shape + ", tensor<2xf32>\n}",
        {x, w});
    ASSERT_EQ(y.size(), 2u);
    double square = 0;
    for (int64_t j = 0; j < n; ++j)
      square += std::pow(valueAt(x, j), 2) / n;
    double inverse = 1 / std::sqrt(square + 1e-5);
    EXPECT_NEAR(valueAt(y[1], 0), inverse, inverse * 1e-5);
    for (int64_t j = 0; j < n; ++j)
      EXPECT_NEAR(valueAt(y[0], j), valueAt(x, j) * inverse * valueAt(w, j), 2e-5);
  }
}

// [5, 6, 7, 3]: 7 and 3 are one dimension of 21 positions.
TEST_F(NormalizationTest, normsOfChannels) {
  Tensor x = randomTensor(type({5, 6, 7, 3}, f32()), 1), w = randomTensor(type({6}, f32()), 2),
         b = randomTensor(type({6}, f32()), 3);
  std::vector<Tensor> y = runBothWays(R"(
    func.func @f(%x: tensor<5x6x7x3xf32>, %w: tensor<6xf32>, %b: tensor<6xf32>)
        -> (tensor<5x6x7x3xf32>, tensor<6xf32>, tensor<6xf32>, tensor<5x6x7x3xf32>, tensor<5x2xf32>, tensor<5x2xf32>,
            tensor<5x6x7x3xf32>) {
      %0:3 = reprise.batch_norm %x, %w, %b {epsilon = 1.0e-5 : f64}
        : (tensor<5x6x7x3xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<5x6x7x3xf32>, tensor<6xf32>, tensor<6xf32>)
      %1:3 = reprise.group_norm %x, %w, %b groups 2 {epsilon = 1.0e-5 : f64}
        : (tensor<5x6x7x3xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<5x6x7x3xf32>, tensor<5x2xf32>, tensor<5x2xf32>)
      %2 = reprise.batch_norm_inference %x, %w, %b, %0#1, %0#2 {epsilon = 1.0e-5 : f64}
        : (tensor<5x6x7x3xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<5x6x7x3xf32>
      return %0#0, %0#1, %0#2, %1#0, %1#1, %1#2, %2
        : tensor<5x6x7x3xf32>, tensor<6xf32>, tensor<6xf32>, tensor<5x6x7x3xf32>, tensor<5x2xf32>, tensor<5x2xf32>,
          tensor<5x6x7x3xf32>
    })",
                                      {x, w, b});
  ASSERT_EQ(y.size(), 7u);
  expectEqualBits(y[6], y[0]);
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t c = i / 21 % 6, group = i / 63;
    auto expectNormal = [&](const Tensor &result, std::pair<double, double> moments) {
      double expected = (valueAt(x, i) - moments.first) * moments.second * valueAt(w, c);
      EXPECT_NEAR(valueAt(result, i), expected + valueAt(b, c), 1e-5) << i;
    };
    auto channel = momentsOf(x, [&](int64_t j) { return j / 21 % 6 == c; });
    auto ownGroup = momentsOf(x, [&](int64_t j) { return j / 63 == group; });
    expectNormal(y[0], channel);
    expectNormal(y[3], ownGroup);
    EXPECT_NEAR(valueAt(y[1], c), channel.first, 1e-6);
    EXPECT_NEAR(valueAt(y[2], c), 1 / std::pow(channel.second, 2) - 1e-5, 1e-6);
    EXPECT_NEAR(valueAt(y[4], group), ownGroup.first, 1e-6);
    EXPECT_NEAR(valueAt(y[5], group), ownGroup.second, 1e-5);
  }
}

// The tensors have no spatial dimensions, or one position per sample.
TEST_F(NormalizationTest, normsOfVectors) {
  Tensor x = randomTensor(type({70, 4}, f64()), 1), w = randomTensor(type({4}, f64()), 2);
  std::vector<Tensor> y = runBothWays(R"(
    func.func @f(%x: tensor<70x4xf64>, %w: tensor<4xf64>) -> (tensor<70x4xf64>, tensor<70x4xf64>) {
      %0:3 = reprise.batch_norm %x, %w, %w {epsilon = 1.0e-5 : f64}
        : (tensor<70x4xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<70x4xf64>, tensor<4xf64>, tensor<4xf64>)
      %1:3 = reprise.group_norm %x, %w, %w groups 2 {epsilon = 1.0e-5 : f64}
        : (tensor<70x4xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<70x4xf64>, tensor<70x2xf64>, tensor<70x2xf64>)
      return %0#0, %1#0 : tensor<70x4xf64>, tensor<70x4xf64>
    })",
                                      {x, w});
  ASSERT_EQ(y.size(), 2u);
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t c = i % 4;
    auto channel = momentsOf(x, [&](int64_t j) { return j % 4 == c; });
    auto group = momentsOf(x, [&](int64_t j) { return j / 2 == i / 2; });
    for (auto [result, moments] : {std::pair(&y[0], channel), std::pair(&y[1], group)})
      EXPECT_NEAR(valueAt(*result, i),
                  (valueAt(x, i) - moments.first) * moments.second * valueAt(w, c) + valueAt(w, c),
                  1e-9);
  }
}

TEST_F(NormalizationTest, rotary) {
  Tensor x = randomTensor(type({2, 3, 5, 6}, f32()), 1), cosine(type({5, 3}, f32())),
         sine(type({5, 3}, f32()));
  for (int64_t i = 0; i < 15; ++i) {
    cosine.data<float>()[i] = std::cos(static_cast<float>(i));
    sine.data<float>()[i] = std::sin(static_cast<float>(i));
  }
  std::vector<Tensor> y = runBothWays(R"(
    func.func @f(%x: tensor<2x3x5x6xf32>, %c: tensor<5x3xf32>, %s: tensor<5x3xf32>) -> tensor<2x3x5x6xf32> {
      %r = reprise.rotary %x, %c, %s : tensor<2x3x5x6xf32>, tensor<5x3xf32>
      return %r : tensor<2x3x5x6xf32>
    })",
                                      {x, cosine, sine});
  ASSERT_EQ(y.size(), 1u);
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t row = i / 6 % 5, d = i % 3;
    double angle = row * 3 + d, own = valueAt(x, i);
    bool low = i % 6 < 3;
    double other = low ? -valueAt(x, i + 3) : valueAt(x, i - 3);
    EXPECT_NEAR(valueAt(y[0], i), own * std::cos(angle) + other * std::sin(angle), 1e-5);
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
