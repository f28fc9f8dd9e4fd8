// reprise: elementwise ops in the interpreter: IEEE corners, integers, roundings of 16-bit types
#include "Interpret.h"
#include "reprise/Reference/Elementary.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();
constexpr int32_t least = std::numeric_limits<int32_t>::min();
constexpr int32_t most = std::numeric_limits<int32_t>::max();

struct ElementwiseTest : InterpreterTest {
  /// The bits of an f32 op's results, so that zeros and NaNs are told apart.
  std::vector<uint32_t> bitsOf(const std::vector<float> &values) {
    std::vector<uint32_t> words(values.size());
    if (!values.empty())
      std::memcpy(words.data(), values.data(), 4 * values.size());
    for (uint32_t &word : words)
      if ((word & 0x7fffffffu) > 0x7f800000u)
        word = 0x7fc00000u;
    return words;
  }
  template <typename T>
  Tensor apply(const std::string &op, Type element, const std::string &name,
               const std::vector<std::vector<T>> &xs) {
    int64_t n = xs[0].size();
    std::string shape = "tensor<" + std::to_string(n) + "x" + name + ">", text = op;
    std::vector<Tensor> operands;
    for (size_t i = 0; i < xs.size(); ++i) {
      text += (i ? ", %a" : " %a") + std::to_string(i);
      operands.push_back(makeTensor<T>(type({n}, element), xs[i]));
    }
    return runOp(text + " : " + shape, std::vector<std::string>(xs.size(), shape), shape, operands);
  }
  void expectFloats(const std::string &op, const std::vector<std::vector<float>> &xs,
                    const std::vector<float> &expected) {
    EXPECT_EQ(bitsOf(valuesOf<float>(apply<float>(op, f32(), "f32", xs))), bitsOf(expected)) << op;
  }
  void expectInts(const std::string &op, const std::vector<std::vector<int32_t>> &xs,
                  const std::vector<int32_t> &expected) {
    EXPECT_EQ(valuesOf<int32_t>(apply<int32_t>(op, integer(32), "i32", xs)), expected) << op;
  }
  std::vector<uint16_t> toBf16(const std::vector<float> &values) {
    std::vector<uint16_t> rounded;
    for (float value : values)
      rounded.push_back(reference::toBf16(value));
    return rounded;
  }
};

TEST_F(ElementwiseTest, signs) {
  expectFloats("neg", {{1, -0.0f, 0.0f, infinity, nan}}, {-1, 0.0f, -0.0f, -infinity, nan});
  expectFloats("abs", {{-1, -0.0f, -infinity, nan}}, {1, 0.0f, infinity, nan});
  expectFloats("relu", {{-1, -0.0f, 0.0f, 2, -infinity, nan}}, {0, -0.0f, 0.0f, 2, 0, nan});
  expectInts("neg", {{1, 0, least}}, {-1, 0, least});
  expectInts("abs", {{-7, 7, least}}, {7, 7, least});
  expectInts("relu", {{-7, 7, least, most}}, {0, 7, 0, most});
}

TEST_F(ElementwiseTest, arithmetic) {
  expectFloats("add", {{1, 0.0f, infinity, 0x1p24f}, {2, -0.0f, -infinity, 1}},
               {3, 0.0f, nan, 0x1p24f});
  expectFloats("sub", {{1, -0.0f, infinity}, {2, 0.0f, infinity}}, {-1, -0.0f, nan});
  expectFloats("mul", {{3, 0, 0x1p-149f}, {-2, -infinity, 0.5f}}, {-6, nan, 0});
  expectFloats("div", {{1, 1, 0, -1}, {3, 0, 0, -0.0f}}, {1.0f / 3, infinity, nan, infinity});
}

TEST_F(ElementwiseTest, integersWrapAndDivideAnyway) {
  expectInts("add", {{most, least, 2}, {1, -1, 3}}, {least, most, 5});
  expectInts("sub", {{least, most, 2}, {1, -1, 3}}, {most, least, -1});
  expectInts("mul", {{65536, most, -3}, {65536, 2, 5}}, {0, -2, -15});
  expectInts("div", {{7, -7, 7, -7, 5, 0, least}, {2, 2, -2, -2, 0, 0, -1}},
             {3, -3, -3, 3, -1, -1, least});
  expectInts("rem", {{7, -7, 7, -7, 5, 0, least}, {2, 2, -2, -2, 0, 0, -1}},
             {1, -1, 1, -1, 5, 0, 0});
  Tensor wide = apply<int64_t>("rem", integer(64), "i64", {{int64_t(1) << 40, -5}, {1000, 0}});
  EXPECT_EQ(valuesOf<int64_t>(wide), (std::vector<int64_t>{(int64_t(1) << 40) % 1000, -5}));
}

TEST_F(ElementwiseTest, bitsOfIntegers) {
  expectInts("and", {{12, -1, least}, {10, 7, most}}, {8, 7, 0});
  expectInts("or", {{12, 5, least}, {10, 0, most}}, {14, 5, -1});
  expectInts("xor", {{12, -1, least}, {10, 7, most}}, {6, -8, -1});
  expectInts("shift_left", {{1, 3, 5, 5, 7, -1}, {31, 30, 32, -1, 0, 1}},
             {least, -1073741824, 0, 0, 7, -2});
  expectInts("shift_right", {{least, -1, 5, 5, 7}, {31, 28, 32, -1, 0}}, {1, 15, 0, 0, 7});
  Tensor wide = apply<int64_t>("shift_right", integer(64), "i64", {{-1, -1}, {60, 64}});
  EXPECT_EQ(valuesOf<int64_t>(wide), (std::vector<int64_t>{15, 0}));
}

TEST_F(ElementwiseTest, maximumAndMinimumAreIEEE) {
  expectFloats("maximum", {{1, -0.0f, 0.0f, nan, 1, -infinity}, {2, 0.0f, -0.0f, 1, nan, -3}},
               {2, 0.0f, 0.0f, nan, nan, -3});
  expectFloats("minimum", {{1, -0.0f, 0.0f, nan, 1, infinity}, {2, 0.0f, -0.0f, 1, nan, 3}},
               {1, -0.0f, -0.0f, nan, nan, 3});
  expectInts("maximum", {{1, least}, {-1, most}}, {1, most});
  expectInts("minimum", {{1, least}, {-1, most}}, {-1, least});
}

TEST_F(ElementwiseTest, comparisonsWithNaN) {
  std::vector<float> x = {1, 2, 2, nan, 1, nan, -0.0f}, y = {2, 1, 2, 1, nan, nan, 0.0f};
  struct {
    const char *predicate;
    std::vector<uint8_t> expected;
  } cases[] = {{"eq", {0, 0, 1, 0, 0, 0, 1}}, {"ne", {1, 1, 0, 1, 1, 1, 0}},
               {"lt", {1, 0, 0, 0, 0, 0, 0}}, {"le", {1, 0, 1, 0, 0, 0, 1}},
               {"gt", {0, 1, 0, 0, 0, 0, 0}}, {"ge", {0, 1, 1, 0, 0, 0, 1}}};
  Tensor left = makeTensor<float>(type({7}, f32()), x),
         right = makeTensor<float>(type({7}, f32()), y);
  for (const auto &[predicate, expected] : cases) {
    Tensor result = runOp(std::string("compare ") + predicate + " %a0, %a1 : tensor<7xf32>",
                          {"tensor<7xf32>", "tensor<7xf32>"}, "tensor<7xi1>", {left, right});
    EXPECT_EQ(valuesOf<uint8_t>(result), expected) << predicate;
  }
}

TEST_F(ElementwiseTest, comparisonsOfIntegersAndBooleans) {
  Tensor x = makeTensor<int64_t>(type({2}, integer(64)), {-1, 1}),
         y = makeTensor<int64_t>(type({2}, integer(64)), {1, -1});
  EXPECT_EQ(valuesOf<uint8_t>(runOp("compare lt %a0, %a1 : tensor<2xi64>",
                                    {"tensor<2xi64>", "tensor<2xi64>"}, "tensor<2xi1>", {x, y})),
            (std::vector<uint8_t>{1, 0}));
  Tensor f = makeTensor<uint8_t>(type({2}, integer(1)), {0, 1}),
         t = makeTensor<uint8_t>(type({2}, integer(1)), {1, 1});
  EXPECT_EQ(valuesOf<uint8_t>(runOp("compare lt %a0, %a1 : tensor<2xi1>",
                                    {"tensor<2xi1>", "tensor<2xi1>"}, "tensor<2xi1>", {f, t})),
            (std::vector<uint8_t>{1, 0}))
      << "false is less than true";
}

TEST_F(ElementwiseTest, selectTakesBitsAsTheyAre) {
  Tensor condition = makeTensor<uint8_t>(type({3}, integer(1)), {1, 0, 1});
  Tensor x = makeTensor<float>(type({3}, f32()), {nan, 1, -0.0f}),
         y = makeTensor<float>(type({3}, f32()), {2, nan, 0.0f});
  Tensor result =
      runOp("select %a0, %a1, %a2 : tensor<3xi1>, tensor<3xf32>",
            {"tensor<3xi1>", "tensor<3xf32>", "tensor<3xf32>"}, "tensor<3xf32>", {condition, x, y});
  EXPECT_EQ(bitsOf(valuesOf<float>(result)), bitsOf({nan, nan, -0.0f}));
}

TEST_F(ElementwiseTest, broadcastsAsNumPyDoes) {
  Tensor x = makeTensor<float>(type({2, 1}, f32()), {10, 20}),
         y = makeTensor<float>(type({3}, f32()), {1, 2, 3});
  Tensor sum = runOp("add %a0, %a1 : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>",
                     {"tensor<2x1xf32>", "tensor<3xf32>"}, "tensor<2x3xf32>", {x, y});
  EXPECT_EQ(valuesOf<float>(sum), (std::vector<float>{11, 12, 13, 21, 22, 23}));
  Tensor scalar = makeTensor<float>(type({}, f32()), {15});
  Tensor less = runOp("compare lt %a0, %a1 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xi1>",
                      {"tensor<2x1xf32>", "tensor<f32>"}, "tensor<2x1xi1>", {x, scalar});
  EXPECT_EQ(valuesOf<uint8_t>(less), (std::vector<uint8_t>{1, 0}));
}

TEST_F(ElementwiseTest, casts) {
  auto cast = [&](const std::string &from, const std::string &to, const Tensor &x) {
    std::string shape = "tensor<" + std::to_string(x.size()) + "x";
    return runOp("cast %a0 : " + shape + from + "> to " + shape + to + ">", {shape + from + ">"},
                 shape + to + ">", {x});
  };
  Tensor floats = makeTensor<float>(
      type({8}, f32()), {1.9f, -1.9f, nan, infinity, -infinity, 3e9f, -0.0f, 0x1p-149f});
  EXPECT_EQ(valuesOf<int32_t>(cast("f32", "i32", floats)),
            (std::vector<int32_t>{1, -1, 0, most, least, most, 0, 0}));
  EXPECT_EQ(valuesOf<int64_t>(cast("f32", "i64", floats))[5], 3000000000);
  EXPECT_EQ(valuesOf<uint8_t>(cast("f32", "i1", floats)),
            (std::vector<uint8_t>{1, 1, 1, 1, 1, 1, 0, 1}));
  Tensor integers = makeTensor<int64_t>(type({4}, integer(64)),
                                        {(int64_t(1) << 24) + 1, -1, int64_t(1) << 32, 65504 + 16});
  EXPECT_EQ(valuesOf<float>(cast("i64", "f32", integers))[0], 0x1p24f);
  EXPECT_EQ(valuesOf<int32_t>(cast("i64", "i32", integers)),
            (std::vector<int32_t>{16777217, -1, 0, 65520}));
  EXPECT_EQ(valuesOf<uint16_t>(cast("i64", "f16", integers))[3], 0x7c00) << "rounds to infinity";
  EXPECT_EQ(valuesOf<uint8_t>(cast("i64", "i1", integers)), (std::vector<uint8_t>{1, 1, 1, 1}));
  Tensor booleans = makeTensor<uint8_t>(type({2}, integer(1)), {0, 1});
  EXPECT_EQ(valuesOf<int32_t>(cast("i1", "i32", booleans)), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(valuesOf<uint16_t>(cast("i1", "bf16", booleans)), (std::vector<uint16_t>{0, 0x3f80}));
  // The value is just above the middle of two bf16 neighbours. A conversion by way of f32 would tie
  // to even, downwards.
  Tensor wide = makeTensor<double>(type({1}, f64()), {1 + 0x1p-8 + 0x1p-40});
  EXPECT_EQ(valuesOf<uint16_t>(cast("f64", "bf16", wide))[0], 0x3f81);
}

TEST_F(ElementwiseTest, functionsAgreeWithTheirFormulas) {
  std::vector<double> x = {-3.25, -1, -0.5, -1e-3, 0.25, 0.75, 1.5, 4};
  struct {
    const char *op;
    double (*f)(double);
  } cases[] = {{"exp", [](double x) { return std::exp(x); }},
               {"tanh", [](double x) { return std::tanh(x); }},
               {"erf", [](double x) { return std::erf(x); }},
               {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
               {"silu", [](double x) { return x / (1 + std::exp(-x)); }},
               {"gelu", [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
               {"log", [](double x) { return std::log(x); }},
               {"sqrt", [](double x) { return std::sqrt(x); }},
               {"rsqrt", [](double x) { return 1 / std::sqrt(x); }}};
  std::vector<float> narrow(x.begin(), x.end());
  for (const auto &[op, f] : cases) {
    std::vector<double> wide = valuesOf<double>(apply<double>(op, f64(), "f64", {x}));
    std::vector<float> single = valuesOf<float>(apply<float>(op, f32(), "f32", {narrow}));
    // A bf16 op is the f32 op on the widened operand, rounded once.
    std::vector<float> widened;
    for (uint16_t bits : toBf16(narrow))
      widened.push_back(reference::fromBf16(bits));
    EXPECT_EQ(valuesOf<uint16_t>(apply<uint16_t>(op, bf16(), "bf16", {toBf16(narrow)})),
              toBf16(valuesOf<float>(apply<float>(op, f32(), "f32", {widened}))))
        << op;
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(f(x[i]))) {
        EXPECT_TRUE(std::isnan(wide[i]) && std::isnan(single[i])) << op << " " << x[i];
        continue;
      }
      double scale = std::fabs(f(x[i])) + std::fabs(x[i]) * 0.05;
      EXPECT_NEAR(wide[i], f(x[i]), 4e-15 * scale) << op << " " << x[i];
      EXPECT_NEAR(single[i], f(x[i]), 1e-6 * scale) << op << " " << x[i];
    }
  }
}

TEST_F(ElementwiseTest, geluByTanh) {
  Tensor x = makeTensor<double>(type({3}, f64()), {-1.5, 0.5, 2});
  std::vector<double> y =
      valuesOf<double>(runOp("gelu %a0 {form = #reprise<gelu_form tanh>} : tensor<3xf64>",
                             {"tensor<3xf64>"}, "tensor<3xf64>", {x}));
  for (int i = 0; i < 3; ++i) {
    double v = x.data<double>()[i];
    EXPECT_NEAR(y[i], 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))),
                1e-15);
  }
}

// 1 + 2^-8 is a tie in bf16: an op rounds its exact f32 result once, and the next op starts from
// there.
TEST_F(ElementwiseTest, sixteenBitsRoundOncePerOp) {
  std::vector<uint16_t> x = toBf16({1, 3}), y = toBf16({0x1p-8f, 0x1p-9f});
  EXPECT_EQ(valuesOf<uint16_t>(apply<uint16_t>("add", bf16(), "bf16", {x, y})), toBf16({1, 3}));
  std::vector<uint16_t> z = {0x3c00, 0x7bff}, w = {0x1000, 0x7bff};
  EXPECT_EQ(valuesOf<uint16_t>(apply<uint16_t>("mul", f16(), "f16", {z, w})),
            (std::vector<uint16_t>{0x1000, 0x7c00}));
  // gelu is one op: its inner values stay in f32.
  std::vector<float> inner = {0.3f, -1.7f};
  std::vector<uint16_t> rounded = toBf16(inner), expected;
  for (uint16_t bits : rounded) {
    float v = reference::fromBf16(bits);
    expected.push_back(
        reference::toBf16((0.5f * v) * (1 + reference::erf(v * 0.70710678118654752440f))));
  }
  EXPECT_EQ(valuesOf<uint16_t>(apply<uint16_t>("gelu", bf16(), "bf16", {rounded})), expected);
}

} // namespace
