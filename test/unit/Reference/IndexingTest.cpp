// reprise: reads and writes at computed positions in the interpreter
#include "Interpret.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

struct IndexingTest : InterpreterTest {
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

TEST_F(IndexingTest, gathersWithClampedIndices) {
  Tensor indices = makeTensor<int64_t>(type({2, 2}, integer(64)), {2, -5, 1, 100});
  EXPECT_EQ(valuesOf<int32_t>(
                runOp("gather %a0[%a1] : (tensor<3x2xi32>, tensor<2x2xi64>) -> tensor<2x2x2xi32>",
                      {"tensor<3x2xi32>", "tensor<2x2xi64>"}, "tensor<2x2x2xi32>",
                      {counted({3, 2}), indices})),
            (Ints{4, 5, 0, 1, 2, 3, 4, 5}));
}

TEST_F(IndexingTest, scatterAddsInIndexOrder) {
  const std::string op =
      "scatter_add %a1 at %a0 : (tensor<4xi32>, tensor<4x1xf32>) -> tensor<3x1xf32>";
  auto scatter = [&](const Ints &rows, const Floats &updates) {
    return valuesOf<float>(
        runOp(op, {"tensor<4xi32>", "tensor<4x1xf32>"}, "tensor<3x1xf32>",
              {makeTensor<int32_t>(type({4}, integer(32)), rows), floats({4, 1}, updates)}));
  };
  EXPECT_EQ(scatter({1, 1, -7, 9}, {1, 2, 3, 4}), (Floats{3, 3, 4}));
  EXPECT_EQ(scatter({0, 0, 0, 2}, {0x1p24f, 1, -0x1p24f, 0}), (Floats{0, 0, 0}));
  EXPECT_EQ(scatter({0, 0, 0, 2}, {0x1p24f, -0x1p24f, 1, 0}), (Floats{1, 0, 0}));
  EXPECT_FALSE(std::signbit(scatter({0, 0, 0, 0}, {-0.0f, -0.0f, -0.0f, -0.0f})[0])) << "from +0";
}

TEST_F(IndexingTest, scatterAddOf16BitsRoundsOnce) {
  uint16_t one = 0x3f80, small = reference::toBf16(0x1p-9f);
  Tensor rows = makeTensor<int32_t>(type({5}, integer(32)), {0, 0, 0, 0, 0});
  Tensor updates = makeTensor<uint16_t>(type({5}, bf16()), {one, small, small, small, small});
  EXPECT_EQ(valuesOf<uint16_t>(
                runOp("scatter_add %a1 at %a0 : (tensor<5xi32>, tensor<5xbf16>) -> tensor<1xbf16>",
                      {"tensor<5xi32>", "tensor<5xbf16>"}, "tensor<1xbf16>", {rows, updates})),
            (std::vector<uint16_t>{0x3f81}))
      << "four times 2^-9 is one unit, each alone would vanish";
}

TEST_F(IndexingTest, scatterKeepsTheLastUpdate) {
  EXPECT_EQ(valuesOf<int32_t>(runOp(
                "scatter %a2 into %a0 at %a1 : (tensor<3x2xi32>, tensor<4xi32>, tensor<4x2xi32>) "
                "-> tensor<3x2xi32>",
                {"tensor<3x2xi32>", "tensor<4xi32>", "tensor<4x2xi32>"}, "tensor<3x2xi32>",
                {makeTensor<int32_t>(type({3, 2}, integer(32)), {-1, -2, -3, -4, -5, -6}),
                 makeTensor<int32_t>(type({4}, integer(32)), {2, -9, 9, 0}), counted({4, 2})})),
            (Ints{6, 7, -3, -4, 4, 5}));
}

TEST_F(IndexingTest, elementsOfRows) {
  Tensor indices = makeTensor<int64_t>(type({2, 3}, integer(64)), {2, -5, 1, 100, 0, 0});
  EXPECT_EQ(valuesOf<int32_t>(
                runOp("take_along %a0[%a1] : (tensor<2x4xi32>, tensor<2x3xi64>) -> tensor<2x3xi32>",
                      {"tensor<2x4xi32>", "tensor<2x3xi64>"}, "tensor<2x3xi32>",
                      {counted({2, 4}), indices})),
            (Ints{2, 0, 1, 7, 4, 4}));
  EXPECT_EQ(valuesOf<float>(runOp("scatter_add_along %a1 at %a0 : (tensor<2x3xi64>, "
                                  "tensor<2x3xf32>) -> tensor<2x4xf32>",
                                  {"tensor<2x3xi64>", "tensor<2x3xf32>"}, "tensor<2x4xf32>",
                                  {indices, floats({2, 3}, {1, 2, 4, 8, 0x1p24f, 1})})),
            (Floats{2, 4, 1, 0, 0x1p24f, 0, 0, 8}));
}

TEST_F(IndexingTest, oneHot) {
  EXPECT_EQ(valuesOf<float>(runOp("one_hot %a0 : (tensor<4xi32>) -> tensor<4x3xf32>",
                                  {"tensor<4xi32>"}, "tensor<4x3xf32>",
                                  {makeTensor<int32_t>(type({4}, integer(32)), {2, -1, 0, 3})})),
            (Floats{0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0}))
      << "nothing is clamped";
}

TEST_F(IndexingTest, windowsAtClampedStarts) {
  auto slice = [&](const std::vector<int64_t> &starts) {
    return valuesOf<int32_t>(
        runOp("dynamic_slice %a0 at %a1 : (tensor<3x4xi32>, tensor<2xi64>) -> tensor<2x2xi32>",
              {"tensor<3x4xi32>", "tensor<2xi64>"}, "tensor<2x2xi32>",
              {counted({3, 4}), makeTensor<int64_t>(type({2}, integer(64)), starts)}));
  };
  EXPECT_EQ(slice({0, 1}), (Ints{1, 2, 5, 6}));
  EXPECT_EQ(slice({-1, INT64_MAX}), (Ints{2, 3, 6, 7}));
  EXPECT_EQ(slice({2, INT64_MIN}), (Ints{4, 5, 8, 9}));
  Tensor starts = makeTensor<int32_t>(type({2}, integer(32)), {9, 1});
  Tensor update = makeTensor<int32_t>(type({2, 2}, integer(32)), {-1, -2, -3, -4});
  EXPECT_EQ(valuesOf<int32_t>(runOp("dynamic_update %a1 into %a0 at %a2 : (tensor<3x4xi32>, "
                                    "tensor<2x2xi32>, tensor<2xi32>) -> tensor<3x4xi32>",
                                    {"tensor<3x4xi32>", "tensor<2x2xi32>", "tensor<2xi32>"},
                                    "tensor<3x4xi32>", {counted({3, 4}), update, starts})),
            (Ints{0, 1, 2, 3, 4, -1, -2, 7, 8, -3, -4, 11}));
}

} // namespace
