// reprise: random ops in the interpreter: the word of each element, windows, initial values
#include "Compare.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Reference/Initial.h"
#include "reprise/Reference/Random.h"

#include <cmath>

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

struct RandomOpsTest : InterpreterTest {
  Tensor number(int64_t value) { return makeTensor<int64_t>(type({}, integer(64)), {value}); }
  Tensor draw(const std::string &op, const std::string &attributes, const std::string &result,
              int64_t seed = 7, int64_t offset = 12) {
    return runOp(op + " seed %a0 offset %a1 " + attributes + " : " + result,
                 {"tensor<i64>", "tensor<i64>"}, result, {number(seed), number(offset)});
  }
  static constexpr reference::Draw words{7, 3, 12};
};

TEST_F(RandomOpsTest, elementITakesWordOffsetPlusI) {
  Tensor uniform = draw("random_uniform", "{stream = 3 : i64}", "tensor<3x5xf32>");
  Tensor integers = draw("random_uniform_int",
                         "{stream = 3 : i64, low = -5 : i64, high = 100 : i64}", "tensor<3x5xi32>");
  Tensor bits =
      draw("random_bernoulli", "{stream = 3 : i64, probability = 0.25 : f64}", "tensor<3x5xi1>");
  for (int64_t i = 0; i < 15; ++i) {
    uint64_t word = philoxWord(7, 3, 12, i);
    EXPECT_EQ(uniform.data<float>()[i], static_cast<float>(word >> 8) * 0x1p-24f);
    EXPECT_EQ(integers.data<int32_t>()[i], static_cast<int32_t>(word * 105 >> 32) - 5);
    EXPECT_EQ(bits.bytes[i], word < uint64_t(1) << 30);
  }
}

TEST_F(RandomOpsTest, uniformsOfEveryType) {
  const std::string attributes = "{stream = 3 : i64, low = -1.0 : f64, high = 3.0 : f64}";
  Tensor f32s = draw("random_uniform", attributes, "tensor<9xf32>");
  Tensor f64s = draw("random_uniform", attributes, "tensor<9xf64>");
  Tensor bf16s = draw("random_uniform", attributes, "tensor<9xbf16>");
  Tensor f16s = draw("random_uniform", attributes, "tensor<9xf16>");
  for (int64_t i = 0; i < 9; ++i) {
    uint32_t word = words.word(i);
    EXPECT_EQ(f32s.data<float>()[i], -1.0f + 4.0f * (static_cast<float>(word >> 8) * 0x1p-24f));
    EXPECT_EQ(f64s.data<double>()[i], -1.0 + 4.0 * (word * 0x1p-32));
    EXPECT_EQ(bf16s.data<uint16_t>()[i],
              reference::toBf16(-1.0f + 4.0f * (static_cast<float>(word >> 24) * 0x1p-8f)));
    EXPECT_EQ(f16s.data<uint16_t>()[i],
              reference::toF16(-1.0f + 4.0f * (static_cast<float>(word >> 21) * 0x1p-11f)));
  }
}

TEST_F(RandomOpsTest, normalsComeInPairs) {
  Tensor z = draw("random_normal", "{stream = 3 : i64, mean = 2.0 : f64, std = 0.5 : f64}",
                  "tensor<9xf32>");
  for (int64_t i = 0; i < 9; ++i) {
    double u1 = ((words.word(i & ~1) >> 8) + 1) * 0x1p-24, u2 = (words.word(i | 1) >> 8) * 0x1p-24;
    double radius = std::sqrt(-2 * std::log(u1)), angle = 2 * M_PI * u2;
    EXPECT_NEAR(z.data<float>()[i], 2 + 0.5 * radius * (i % 2 ? std::sin(angle) : std::cos(angle)),
                1e-6);
  }
  Tensor wide = draw("random_normal", "{stream = 3 : i64}", "tensor<9xf64>");
  for (int64_t i = 0; i < 9; ++i)
    EXPECT_EQ(wide.data<double>()[i], reference::normal(words, i))
        << "f64 normals are f32 normals, widened";
}

TEST_F(RandomOpsTest, dropoutDropsToPlusZeroAndScales) {
  auto drop = [&](const std::string &rate) {
    std::vector<float> x(64, -2.0f);
    x[0] = std::numeric_limits<float>::quiet_NaN();
    return runOp("dropout %a0 seed %a1 offset %a2 {stream = 3 : i64, rate = " + rate +
                     " : f64} : tensor<64xf32>",
                 {"tensor<64xf32>", "tensor<i64>", "tensor<i64>"}, "tensor<64xf32>",
                 {makeTensor<float>(type({64}, f32()), x), number(7), number(12)});
  };
  Tensor half = drop("0.5"), all = drop("1.0"), none = drop("0.0");
  for (int64_t i = 1; i < 64; ++i) {
    float expected = words.word(i) < 0x80000000u ? 0.0f : -4.0f;
    EXPECT_EQ(half.data<float>()[i], expected);
    EXPECT_FALSE(expected == 0 && std::signbit(half.data<float>()[i]));
    EXPECT_EQ(none.data<float>()[i], -2.0f);
  }
  for (int64_t i = 0; i < 64; ++i)
    EXPECT_EQ(all.data<uint32_t>()[i], 0u) << "even a NaN is dropped";
}

TEST_F(RandomOpsTest, aWindowDrawsTheWordsOfItsPlace) {
  Tensor whole = draw("random_normal", "{stream = 3 : i64}", "tensor<6x10xf32>");
  Tensor origin = makeTensor<int64_t>(type({2}, integer(64)), {2, 3});
  Tensor window = runOp("random_normal seed %a0 offset %a1 origin %a2 : tensor<2xi64> "
                        "{stream = 3 : i64, global_shape = array<i64: 6, 10>} : tensor<3x5xf32>",
                        {"tensor<i64>", "tensor<i64>", "tensor<2xi64>"}, "tensor<3x5xf32>",
                        {number(7), number(12), origin});
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 5; ++j)
      EXPECT_EQ(window.data<float>()[i * 5 + j], whole.data<float>()[(i + 2) * 10 + j + 3]);
}

// The canonicalization slice(random) -> random of a window keeps every word; so does a replay.
TEST_F(RandomOpsTest, slicedAndReplayedElementsKeepTheirWords) {
  const char *text = R"(
    func.func @f(%seed: tensor<i64>, %offset: tensor<i64>) -> (tensor<2x4xf32>, tensor<5x7xf32>, tensor<5x7xf32>) {
      %x = reprise.random_uniform seed %seed offset %offset {stream = 9 : i64} : tensor<5x7xf32>
      %w = reprise.slice %x from [1, 2] to [3, 6] by [1, 1] : (tensor<5x7xf32>) -> tensor<2x4xf32>
      %y = reprise.random_uniform seed %seed offset %offset {stream = 9 : i64} : tensor<5x7xf32>
      %z = reprise.random_uniform seed %seed offset %offset {stream = 9 : i64, replay = 1 : i64} : tensor<5x7xf32>
      return %w, %y, %z : tensor<2x4xf32>, tensor<5x7xf32>, tensor<5x7xf32>
    })";
  std::vector<Tensor> before = run(text, {number(1), number(4)});
  ASSERT_EQ(before.size(), 3u) << error;
  expectEqualBits(before[1], before[2]);
  PassManager manager(&context);
  manager.addPass(createCanonicalizerPass());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  int64_t slices = 0;
  module->walk([&](SliceOp) { ++slices; });
  EXPECT_EQ(slices, 0) << "the slice was to become a window";
  auto after = interpret(module->lookupSymbol<func::FuncOp>("f"), {number(1), number(4)});
  ASSERT_TRUE(succeeded(after)) << error;
  for (int i = 0; i < 3; ++i)
    expectEqualBits(before[i], (*after)[i]);
}

//===-- Initial values ------------------------------------------------------------------------===//

TEST_F(RandomOpsTest, streamsOfNames) {
  // FNV-1a-64 of "a" and "foobar", from the authors' test vectors; the top bit tells arguments from
  // ops.
  EXPECT_EQ(initialStream("a"), 0xaf63dc4c8601ec8cu | uint64_t(1) << 63);
  EXPECT_EQ(initialStream("foobar"), 0x85944171f73967e8u | uint64_t(1) << 63);
}

TEST_F(RandomOpsTest, initialValuesAreTheOpsDraws) {
  auto attribute = [](double value, Type type) { return FloatAttr::get(type, value); };
  Attribute normal = NormalInitAttr::get(&context, attribute(1, f64()), attribute(0.5, f64()));
  Attribute uniform = UniformInitAttr::get(&context, attribute(-1, f64()), attribute(1, f64()));
  Attribute integers = UniformIntInitAttr::get(&context, 3, 50);
  // The stream is negative as an i64 attribute; only its bits count.
  std::string stream =
      "{stream = " + std::to_string(static_cast<int64_t>(initialStream("wte"))) + " : i64";
  expectEqualBits(initialValue(type({3, 3}, f32()), "wte", normal, 7, 5, false),
                  draw("random_normal", stream + ", mean = 1.0 : f64, std = 0.5 : f64}",
                       "tensor<3x3xf32>", 7, 0));
  expectEqualBits(initialValue(type({3, 3}, bf16()), "wte", uniform, 7, 5, false),
                  draw("random_uniform", stream + ", low = -1.0 : f64}", "tensor<3x3xbf16>", 7, 0));
  // Inputs move on by their elements, rounded up to 4, with every step: 9 elements take 12 words.
  expectEqualBits(initialValue(type({3, 3}, integer(64)), "wte", integers, 7, 5, true),
                  draw("random_uniform_int", stream + ", low = 3 : i64, high = 50 : i64}",
                       "tensor<3x3xi64>", 7, 5 * 12));
}

TEST_F(RandomOpsTest, fillsAreConverted) {
  auto fill = [&](double value, Type element) {
    Attribute init = FillInitAttr::get(&context, FloatAttr::get(f64(), value));
    return initialValue(type({2}, element), "x", init, 0, 0, true);
  };
  EXPECT_EQ(valuesOf<float>(fill(0.1, f32())), (std::vector<float>{0.1f, 0.1f}));
  EXPECT_EQ(valuesOf<uint16_t>(fill(1, bf16())), (std::vector<uint16_t>{0x3f80, 0x3f80}));
  EXPECT_EQ(valuesOf<int32_t>(fill(3e9, integer(32))),
            (std::vector<int32_t>(2, std::numeric_limits<int32_t>::max())));
  EXPECT_EQ(valuesOf<uint8_t>(fill(1, integer(1))), (std::vector<uint8_t>{1, 1}));
}

} // namespace
