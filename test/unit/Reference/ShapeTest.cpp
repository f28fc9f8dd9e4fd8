// reprise: constants, data movement, argmax, contractions in the interpreter
#include "Interpret.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

struct ShapeTest : InterpreterTest {
  /// 0, 1, 2, … in i32.
  Tensor counted(ArrayRef<int64_t> shape) {
    Tensor tensor(type(shape, integer(32)));
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.data<int32_t>()[i] = static_cast<int32_t>(i);
    return tensor;
  }
  Tensor floats(ArrayRef<int64_t> shape, const std::vector<float> &values) {
    return makeTensor<float>(type(shape, f32()), values);
  }
  using Ints = std::vector<int32_t>;
  using Floats = std::vector<float>;
};

TEST_F(ShapeTest, constants) {
  EXPECT_EQ(valuesOf<float>(
                runOp("constant dense<[1.5, -2.0]> : tensor<2xf32>", {}, "tensor<2xf32>", {})),
            (Floats{1.5f, -2}));
  EXPECT_EQ(
      valuesOf<uint16_t>(runOp("constant dense<1.0> : tensor<3xbf16>", {}, "tensor<3xbf16>", {})),
      (std::vector<uint16_t>(3, 0x3f80)));
  EXPECT_EQ(valuesOf<uint8_t>(runOp("constant dense<[true, false, true]> : tensor<3xi1>", {},
                                    "tensor<3xi1>", {})),
            (std::vector<uint8_t>{1, 0, 1}));
  EXPECT_EQ(valuesOf<uint8_t>(runOp("constant dense<true> : tensor<9xi1>", {}, "tensor<9xi1>", {})),
            (std::vector<uint8_t>(9, 1)));
  EXPECT_TRUE(
      valuesOf<float>(runOp("constant dense<1.0> : tensor<0x2xf32>", {}, "tensor<0x2xf32>", {}))
          .empty());
  std::vector<Tensor> resource = run(R"(
    func.func @f() -> tensor<2xi32> {
      %0 = reprise.constant dense_resource<two> : tensor<2xi32>
      return %0 : tensor<2xi32>
    }
    {-# dialect_resources: { builtin: { two: "0x040000000700000009000000" } } #-})",
                                     {});
  ASSERT_EQ(resource.size(), 1u) << error;
  EXPECT_EQ(valuesOf<int32_t>(resource[0]), (Ints{7, 9}));
}

TEST_F(ShapeTest, iota) {
  EXPECT_EQ(valuesOf<int32_t>(runOp("iota dim 0 : tensor<2x3xi32>", {}, "tensor<2x3xi32>", {})),
            (Ints{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(valuesOf<float>(runOp("iota dim 1 : tensor<2x3xf32>", {}, "tensor<2x3xf32>", {})),
            (Floats{0, 1, 2, 0, 1, 2}));
  std::vector<uint16_t> half =
      valuesOf<uint16_t>(runOp("iota dim 0 : tensor<260xbf16>", {}, "tensor<260xbf16>", {}));
  EXPECT_EQ(half[259], reference::toBf16(260.0f)) << "259 has nine bits";
}

TEST_F(ShapeTest, movesElements) {
  Tensor x = counted({2, 3});
  EXPECT_EQ(valuesOf<int32_t>(runOp("broadcast %a0 dims [1] : (tensor<2xi32>) -> tensor<2x2x2xi32>",
                                    {"tensor<2xi32>"}, "tensor<2x2x2xi32>", {counted({2})})),
            (Ints{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(valuesOf<int32_t>(runOp("reshape %a0 : (tensor<2x3xi32>) -> tensor<3x2xi32>",
                                    {"tensor<2x3xi32>"}, "tensor<3x2xi32>", {x})),
            (Ints{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(valuesOf<int32_t>(runOp("transpose %a0 [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>",
                                    {"tensor<2x3xi32>"}, "tensor<3x2xi32>", {x})),
            (Ints{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(
      valuesOf<int32_t>(runOp("transpose %a0 [2, 0, 1] : (tensor<2x3x2xi32>) -> tensor<2x2x3xi32>",
                              {"tensor<2x3x2xi32>"}, "tensor<2x2x3xi32>", {counted({2, 3, 2})})),
      (Ints{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(valuesOf<int32_t>(runOp(
                "slice %a0 from [0, 1] to [2, 6] by [1, 2] : (tensor<2x6xi32>) -> tensor<2x3xi32>",
                {"tensor<2x6xi32>"}, "tensor<2x3xi32>", {counted({2, 6})})),
            (Ints{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(valuesOf<int32_t>(runOp("name %a0 \"n\" : tensor<2x3xi32>", {"tensor<2x3xi32>"},
                                    "tensor<2x3xi32>", {x})),
            valuesOf<int32_t>(x));
}

TEST_F(ShapeTest, padsAndConcatenates) {
  EXPECT_EQ(
      valuesOf<int32_t>(runOp(
          "pad %a0 with 9 : i32 low [1] high [2] interior [1] : (tensor<3xi32>) -> tensor<8xi32>",
          {"tensor<3xi32>"}, "tensor<8xi32>", {counted({3})})),
      (Ints{9, 0, 9, 1, 9, 2, 9, 9}));
  EXPECT_EQ(valuesOf<int32_t>(runOp("pad %a0 with -1 : i32 low [0, 1] high [1, 0] interior [0, 0] "
                                    ": (tensor<2x2xi32>) -> tensor<3x3xi32>",
                                    {"tensor<2x2xi32>"}, "tensor<3x3xi32>", {counted({2, 2})})),
            (Ints{-1, 0, 1, -1, 2, 3, -1, -1, -1}));
  EXPECT_EQ(
      valuesOf<uint16_t>(runOp("pad %a0 with 1.0 : bf16 low [1] high [0] interior [0] : "
                               "(tensor<0xbf16>) -> tensor<1xbf16>",
                               {"tensor<0xbf16>"}, "tensor<1xbf16>", {Tensor(type({0}, bf16()))})),
      (std::vector<uint16_t>{0x3f80}));
  EXPECT_EQ(
      valuesOf<int32_t>(runOp(
          "concatenate %a0, %a1 dim 1 : (tensor<2x2xi32>, tensor<2x1xi32>) -> tensor<2x3xi32>",
          {"tensor<2x2xi32>", "tensor<2x1xi32>"}, "tensor<2x3xi32>",
          {counted({2, 2}), counted({2, 1})})),
      (Ints{0, 1, 0, 2, 3, 1}));
}

TEST_F(ShapeTest, argmaxTakesTheFirst) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  Tensor x = floats({4, 3}, {1, 3, 3, 5, nan, nan, -0.0f, 0.0f, -1, nan, 2, nan});
  EXPECT_EQ(valuesOf<int64_t>(runOp("argmax %a0 dim 1 : (tensor<4x3xf32>) -> tensor<4xi64>",
                                    {"tensor<4x3xf32>"}, "tensor<4xi64>", {x})),
            (std::vector<int64_t>{1, 1, 0, 0}));
  EXPECT_EQ(valuesOf<int32_t>(
                runOp("argmax %a0 dim 0 : (tensor<3x2xi32>) -> tensor<2xi32>", {"tensor<3x2xi32>"},
                      "tensor<2xi32>",
                      {makeTensor<int32_t>(type({3, 2}, integer(32)), {1, 9, 7, 9, 7, 3})})),
            (Ints{1, 0}));
}

TEST_F(ShapeTest, reducesIntegers) {
  Tensor x = makeTensor<int32_t>(type({2, 2}, integer(32)),
                                 {std::numeric_limits<int32_t>::max(), 1, 5, -6});
  auto reduce = [&](const std::string &op) {
    return valuesOf<int32_t>(runOp(op + " %a0 dims [1] : (tensor<2x2xi32>) -> tensor<2xi32>",
                                   {"tensor<2x2xi32>"}, "tensor<2xi32>", {x}));
  };
  EXPECT_EQ(reduce("sum"), (Ints{std::numeric_limits<int32_t>::min(), -1}));
  EXPECT_EQ(reduce("max"), (Ints{std::numeric_limits<int32_t>::max(), 5}));
  EXPECT_EQ(reduce("min"), (Ints{1, -6}));
}

TEST_F(ShapeTest, meanOf16BitsAddsIn32) {
  Tensor x = makeTensor<uint16_t>(type({512}, bf16()), std::vector<uint16_t>(512, 0x3f80));
  EXPECT_EQ(valuesOf<uint16_t>(runOp("mean %a0 dims [0] : (tensor<512xbf16>) -> tensor<bf16>",
                                     {"tensor<512xbf16>"}, "tensor<bf16>", {x})),
            (std::vector<uint16_t>{0x3f80}))
      << "a bf16 sum would stick at 256";
}

//===-- dot_general ---------------------------------------------------------------------------===//

TEST_F(ShapeTest, dotGeneralOrdersItsDimensions) {
  // Operands lhs [k0, b, m, k1] and rhs [n, k1, b, k0] give result [b, m, n].
  const int64_t B = 2, M = 3, N = 2, K0 = 2, K1 = 4;
  auto sequence = [](int64_t n, int64_t step) {
    Floats values;
    for (int64_t i = 0; i < n; ++i)
      values.push_back(static_cast<float>((i * step) % 11 - 5));
    return values;
  };
  Floats a = sequence(K0 * B * M * K1, 3), b = sequence(N * K1 * B * K0, 7), expected;
  for (int64_t batch = 0; batch < B; ++batch)
    for (int64_t m = 0; m < M; ++m)
      for (int64_t n = 0; n < N; ++n) {
        float sum = 0;
        for (int64_t k1 = 0; k1 < K1; ++k1)
          for (int64_t k0 = 0; k0 < K0; ++k0)
            sum +=
                a[((k0 * B + batch) * M + m) * K1 + k1] * b[((n * K1 + k1) * B + batch) * K0 + k0];
        expected.push_back(sum);
      }
  EXPECT_EQ(
      valuesOf<float>(runOp("dot_general %a0, %a1 batch [1] x [2] contracting [3, 0] x [1, 3] : "
                            "(tensor<2x2x3x4xf32>, tensor<2x4x2x2xf32>) -> tensor<2x3x2xf32>",
                            {"tensor<2x2x3x4xf32>", "tensor<2x4x2x2xf32>"}, "tensor<2x3x2xf32>",
                            {floats({K0, B, M, K1}, a), floats({N, K1, B, K0}, b)})),
      expected);
}

TEST_F(ShapeTest, dotGeneralCornersAndTypes) {
  EXPECT_EQ(valuesOf<float>(runOp("dot_general %a0, %a1 contracting [] x [] : (tensor<2xf32>, "
                                  "tensor<2xf32>) -> tensor<2x2xf32>",
                                  {"tensor<2xf32>", "tensor<2xf32>"}, "tensor<2x2xf32>",
                                  {floats({2}, {1, 2}), floats({2}, {3, 4})})),
            (Floats{3, 4, 6, 8}));
  EXPECT_EQ(valuesOf<float>(runOp("dot_general %a0, %a1 contracting [0] x [0] : (tensor<0x1xf32>, "
                                  "tensor<0xf32>) -> tensor<1xf32>",
                                  {"tensor<0x1xf32>", "tensor<0xf32>"}, "tensor<1xf32>",
                                  {floats({0, 1}, {}), floats({0}, {})})),
            (Floats{0}));
  // 257² needs more than bf16's eight bits: an f32 result keeps it, a bf16 one rounds once.
  Tensor x =
      makeTensor<uint16_t>(type({2}, bf16()), {reference::toBf16(16.0f), reference::toBf16(1.0f)});
  const std::string operands = " : (tensor<2xbf16>, tensor<2xbf16>) -> ";
  EXPECT_EQ(
      valuesOf<float>(runOp("dot_general %a0, %a1 contracting [0] x [0]" + operands + "tensor<f32>",
                            {"tensor<2xbf16>", "tensor<2xbf16>"}, "tensor<f32>", {x, x})),
      (Floats{257}));
  EXPECT_EQ(valuesOf<uint16_t>(
                runOp("dot_general %a0, %a1 contracting [0] x [0]" + operands + "tensor<bf16>",
                      {"tensor<2xbf16>", "tensor<2xbf16>"}, "tensor<bf16>", {x, x})),
            (std::vector<uint16_t>{reference::toBf16(256.0f)}));
}

TEST_F(ShapeTest, dotBiasRoundsTheDotAndTheSum) {
  auto bf16s = [&](ArrayRef<int64_t> shape, const Floats &values) {
    std::vector<uint16_t> bits;
    for (float value : values)
      bits.push_back(reference::toBf16(value));
    return makeTensor<uint16_t>(type(shape, bf16()), bits);
  };
  // 16² + 1 rounds to 256; 259 would round to 260.
  Tensor result =
      runOp("dot_bias %a0, %a1 bias %a2 contracting [1] x [1] : (tensor<1x2xbf16>, "
            "tensor<3x2xbf16>, tensor<3xbf16>) -> tensor<1x3xbf16>",
            {"tensor<1x2xbf16>", "tensor<3x2xbf16>", "tensor<3xbf16>"}, "tensor<1x3xbf16>",
            {bf16s({1, 2}, {16, 1}), bf16s({3, 2}, {16, 1, 16, 1, 0, 1}), bf16s({3}, {2, 0, 0.5})});
  EXPECT_EQ(valuesOf<uint16_t>(result),
            (std::vector<uint16_t>{reference::toBf16(258.0f), reference::toBf16(256.0f),
                                   reference::toBf16(1.5f)}));
}

} // namespace
