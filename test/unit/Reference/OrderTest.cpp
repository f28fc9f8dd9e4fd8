// reprise: canonical orders of reductions and contractions, on data for which another order gives
// other bits
#include "reprise/Reference/Order.h"
#include "Interpret.h"

#include <cmath>
#include <functional>
#include <limits>
#include <random>

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

/// Returns numbers of many magnitudes and both signs: almost every order of adding them gives
/// another sum.
std::vector<float> roughNumbers(int64_t n, unsigned seed) {
  std::mt19937 words(seed);
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(std::ldexp(static_cast<float>(words() >> 8) - 0x1p23f,
                                static_cast<int>(words() % 20) - 30));
  return values;
}

uint32_t bits(float x) {
  uint32_t word;
  std::memcpy(&word, &x, 4);
  return word;
}

float bitsToFloat(uint32_t word) {
  float x;
  std::memcpy(&x, &word, 4);
  return x;
}

/// Computes the contract's sum from the end: a tree over [first, last) blocks whose left part is
/// the largest power of two below the count. The tree equals joining neighbours level by level.
float treeSum(const std::function<float(int64_t)> &block, int64_t first, int64_t last) {
  if (last - first == 1)
    return block(first);
  int64_t left = 1;
  while (left * 2 < last - first)
    left *= 2;
  return treeSum(block, first, first + left) + treeSum(block, first + left, last);
}

/// Lane l of a block folded down from `width` lanes: a butterfly, seen from its last step.
float butterfly(const std::vector<float> &x, int64_t begin, int64_t end, int64_t lane,
                int64_t width) {
  if (width < 32)
    return butterfly(x, begin, end, lane, width * 2) +
           butterfly(x, begin, end, lane + width, width * 2);
  float sum = 0;
  for (int64_t j = begin + lane; j < end; j += 32)
    sum += x[j];
  return sum;
}

float expectedLanes(const std::vector<float> &x) {
  int64_t n = x.size();
  auto block = [&](int64_t b) {
    return butterfly(x, b * 4096, std::min(n, b * 4096 + 4096), 0, 1);
  };
  return treeSum(block, 0, (n + 4095) / 4096);
}

float expectedOrdered(const std::vector<float> &x) {
  int64_t n = x.size();
  auto block = [&](int64_t b) {
    float sum = 0;
    for (int64_t j = b * 64; j < std::min(n, b * 64 + 64); ++j)
      sum += x[j];
    return sum;
  };
  return treeSum(block, 0, (n + 63) / 64);
}

float sequential(const std::vector<float> &x) {
  float sum = 0;
  for (float value : x)
    sum += value;
  return sum;
}

struct OrderTest : InterpreterTest {
  /// Σ over the last (lanes) or the first of two dimensions.
  float sum(const std::vector<float> &x, bool last) {
    std::string n = std::to_string(x.size());
    std::string shape = last ? "tensor<" + n + "xf32>" : "tensor<" + n + "x1xf32>";
    std::string result = last ? "tensor<f32>" : "tensor<1xf32>";
    auto operand = last ? type({static_cast<int64_t>(x.size())}, f32())
                        : type({static_cast<int64_t>(x.size()), 1}, f32());
    return reduce("sum", shape, result, makeTensor<float>(operand, x));
  }
  float reduce(const std::string &op, const std::string &shape, const std::string &result,
               const Tensor &operand) {
    return valuesOf<float>(
        runOp(op + " %a0 dims [0] : (" + shape + ") -> " + result, {shape}, result, {operand}))[0];
  }
  float extreme(const std::string &op, const std::vector<float> &x) {
    std::string shape = "tensor<" + std::to_string(x.size()) + "xf32>";
    return reduce(op, shape, "tensor<f32>",
                  makeTensor<float>(type({static_cast<int64_t>(x.size())}, f32()), x));
  }
};

const int64_t sizes[] = {1,   2,    31,   32,   33,   63,   64,    65,    100,
                         128, 1000, 4095, 4096, 4097, 8192, 10000, 12288, 20481};

TEST_F(OrderTest, sumOfTheLastDimensionGoesByLanes) {
  for (int64_t n : sizes) {
    std::vector<float> x = roughNumbers(n, n);
    EXPECT_EQ(bits(sum(x, true)), bits(expectedLanes(x))) << n;
  }
}

TEST_F(OrderTest, otherSumsGoInBlocksOf64) {
  for (int64_t n : sizes) {
    std::vector<float> x = roughNumbers(n, n);
    EXPECT_EQ(bits(sum(x, false)), bits(expectedOrdered(x))) << n;
  }
}

// The sabotage: each neighbouring order turns the check above red on the very same inputs.
TEST_F(OrderTest, anotherOrderGivesOtherBits) {
  std::vector<float> x = roughNumbers(10000, 10000);
  EXPECT_NE(bits(expectedLanes(x)), bits(sequential(x)));
  EXPECT_NE(bits(expectedLanes(x)), bits(expectedOrdered(x)));
  EXPECT_NE(bits(expectedOrdered(x)), bits(sequential(x)));
  float halves =
      expectedLanes({x.begin(), x.begin() + 5000}) + expectedLanes({x.begin() + 5000, x.end()});
  EXPECT_NE(bits(expectedLanes(x)), bits(halves));
}

// 2^24 + 1 rounds to 2^24: if the large numbers cancel first, the ones survive.
TEST_F(OrderTest, sumsByHand) {
  std::vector<float> x(64, 0.0f);
  x[0] = 0x1p24f, x[1] = 1, x[32] = -0x1p24f;
  EXPECT_EQ(sum(x, true), 1.0f) << "elements 0 and 32 share a lane";
  EXPECT_EQ(sum(x, false), 0.0f) << "in order, the one is lost";
  x.assign(32, 0.0f);
  x[0] = 0x1p24f, x[8] = 1, x[16] = -0x1p24f;
  EXPECT_EQ(sum(x, true), 1.0f) << "lanes 0 and 16 meet first";
  x[24] = 1, x[16] = 0, x[1] = -0x1p24f;
  EXPECT_EQ(sum(x, true), 2.0f) << "lanes 8 and 24 meet before 0 and 1 do, and 2^24 + 2 is exact";
  x.assign(4096 * 3, 0.0f);
  x[0] = 0x1p24f, x[4096] = 1, x[8192] = -0x1p24f;
  EXPECT_EQ(sum(x, true), 0.0f) << "blocks 0 and 1 meet first, the odd third moves up";
  x[0] = 0x1p25f, x[4096] = 0, x[8192] = -0x1p25f, x[8193] = 1;
  EXPECT_EQ(sum(x, true), 0.0f) << "the one is lost in block 2 before block 0 cancels";
}

TEST_F(OrderTest, signedZerosAndInfinities) {
  // Lanes start from +0, so a sum of -0 is +0.
  EXPECT_EQ(bits(sum({-0.0f}, true)), bits(0.0f));
  EXPECT_EQ(bits(sum({-0.0f, -0.0f}, false)), bits(0.0f));
  EXPECT_EQ(sum({infinity, 1}, true), infinity);
  EXPECT_EQ(bits(sum({infinity, -infinity}, true)), 0x7fc00000u);
  EXPECT_EQ(bits(sum({nan, 1}, false)), 0x7fc00000u);
}

TEST_F(OrderTest, maximumAndMinimumAreIEEE) {
  EXPECT_EQ(bits(extreme("max", {-0.0f, 0.0f, -0.0f})), bits(0.0f));
  EXPECT_EQ(bits(extreme("min", {0.0f, -0.0f, 0.0f})), bits(-0.0f));
  EXPECT_EQ(bits(extreme("max", {-0.0f})), bits(-0.0f));
  EXPECT_EQ(bits(extreme("max", {1, nan, infinity})), 0x7fc00000u);
  EXPECT_EQ(bits(extreme("min", {1, nan, -infinity})), 0x7fc00000u);
  EXPECT_EQ(extreme("max", {-infinity, -3}), -3.0f);
  EXPECT_EQ(extreme("min", {infinity, 3}), 3.0f);
}

TEST_F(OrderTest, anEmptyReductionIsTheIdentity) {
  EXPECT_EQ(bits(extreme("sum", {})), bits(0.0f));
  EXPECT_EQ(extreme("max", {}), -infinity);
  EXPECT_EQ(extreme("min", {}), infinity);
  EXPECT_EQ(bits(extreme("mean", {})), 0x7fc00000u);
}

TEST_F(OrderTest, severalDimensionsAreOneRowMajorIndex) {
  std::vector<float> x = roughNumbers(3 * 5 * 50, 7);
  Tensor operand = makeTensor<float>(type({3, 5, 50}, f32()), x);
  const std::string shape = "tensor<3x5x50xf32>";
  auto both = [&](const std::string &dims, const std::string &result) {
    return valuesOf<float>(runOp("sum %a0 dims " + dims + " : (" + shape + ") -> " + result,
                                 {shape}, result, {operand}));
  };
  std::vector<float> last = both("[0, 2]", "tensor<5xf32>"),
                     first = both("[0, 1]", "tensor<50xf32>");
  for (int64_t i = 0; i < 5; ++i) {
    std::vector<float> row;
    for (int64_t a = 0; a < 3; ++a)
      for (int64_t c = 0; c < 50; ++c)
        row.push_back(x[(a * 5 + i) * 50 + c]);
    EXPECT_EQ(bits(last[i]), bits(expectedLanes(row)));
  }
  for (int64_t c = 0; c < 50; ++c) {
    std::vector<float> column;
    for (int64_t ab = 0; ab < 15; ++ab)
      column.push_back(x[ab * 50 + c]);
    EXPECT_EQ(bits(first[c]), bits(expectedOrdered(column)));
  }
  EXPECT_EQ(bits(both("[0, 1, 2]", "tensor<f32>")[0]), bits(expectedLanes(x)));
}

//===-- Contractions --------------------------------------------------------------------------===//

float expectedChain(const std::vector<float> &a, const std::vector<float> &b) {
  int64_t n = a.size();
  auto block = [&](int64_t number) {
    float sum = 0;
    for (int64_t k = number * 4096; k < std::min(n, number * 4096 + 4096); ++k)
      sum = std::fma(a[k], b[k], sum);
    return sum;
  };
  return treeSum(block, 0, (n + 4095) / 4096);
}

TEST_F(OrderTest, aContractionIsOneChainOfFmaPerBlock) {
  for (int64_t n : sizes) {
    std::vector<float> a = roughNumbers(n, n), b = roughNumbers(n, n + 1);
    std::string shape = "tensor<" + std::to_string(n) + "xf32>";
    Tensor result =
        runOp("dot_general %a0, %a1 contracting [0] x [0] : (" + shape + ", " + shape +
                  ") -> tensor<f32>",
              {shape, shape}, "tensor<f32>",
              {makeTensor<float>(type({n}, f32()), a), makeTensor<float>(type({n}, f32()), b)});
    EXPECT_EQ(bits(valuesOf<float>(result)[0]), bits(expectedChain(a, b))) << n;
  }
}

/// Lanes are parts of the first contracted dimension, or of the second, whose lanes have every
/// second pair of terms.
TEST_F(OrderTest, lanesOfAContractionAreChainsThatMeetInATree) {
  int others = 0;
  for (int64_t n : {8, 24, 8 * 4100}) {
    std::vector<float> a = roughNumbers(n, n), b = roughNumbers(n, n + 1);
    for (bool isInner : {false, true}) {
      std::string shape = isInner ? "tensor<" + std::to_string(n / 8) + "x8xf32>"
                                  : "tensor<8x" + std::to_string(n / 8) + "xf32>";
      SmallVector<int64_t> sizes{isInner ? n / 8 : 8, isInner ? 8 : n / 8};
      Tensor result = runOp(
          "dot_lanes %a0, %a1 lanes 4 along " + std::string(isInner ? "1" : "0") +
              " contracting [0, 1] x [0, 1] : (" + shape + ", " + shape + ") -> tensor<f32>",
          {shape, shape}, "tensor<f32>",
          {makeTensor<float>(type(sizes, f32()), a), makeTensor<float>(type(sizes, f32()), b)});
      std::vector<std::vector<float>> left(4), right(4);
      for (int64_t i = 0; i < n; ++i) {
        int64_t lane = isInner ? i % 8 / 2 : i / (n / 4);
        left[lane].push_back(a[i]);
        right[lane].push_back(b[i]);
      }
      auto lane = [&](int64_t number) { return expectedChain(left[number], right[number]); };
      EXPECT_EQ(bits(valuesOf<float>(result)[0]), bits(treeSum(lane, 0, 4))) << n << isInner;
      others += bits(valuesOf<float>(result)[0]) != bits(expectedChain(a, b));
    }
  }
  EXPECT_GT(others, 0); // one chain is another sum
}

TEST_F(OrderTest, aChainOfProductsAndSumsGivesOtherBits) {
  std::vector<float> a = roughNumbers(10000, 1), b = roughNumbers(10000, 2);
  float rounded = 0, fused = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    rounded += a[k] * b[k];
    fused = std::fma(a[k], b[k], fused);
  }
  EXPECT_NE(bits(expectedChain(a, b)), bits(rounded));
  EXPECT_NE(bits(expectedChain(a, b)), bits(fused));
}

TEST_F(OrderTest, skippedTermsLeaveTheirBlockAtZero) {
  using reference::contract;
  auto within = [](int64_t first, int64_t last) {
    return [=](int64_t k) { return first <= k && k < last; };
  };
  auto one = [](int64_t) { return 1.0f; };
  auto index = [](int64_t k) { return static_cast<float>(k); };
  EXPECT_EQ(contract<float>(10, within(3, 6), one, index), 12.0f);
  EXPECT_EQ(contract<float>(10000, within(4095, 4098), one, index), 3 * 4096.0f);
  // A product that underflows to -0 stays -0 in a lone block, but meets the +0 of a block without
  // terms.
  auto tiny = [](int64_t) { return bitsToFloat(1); };
  auto minusTiny = [](int64_t) { return bitsToFloat(0x80000001u); };
  EXPECT_EQ(bits(contract<float>(10, within(0, 1), tiny, minusTiny)), bits(-0.0f));
  EXPECT_EQ(bits(contract<float>(5000, within(0, 1), tiny, minusTiny)), bits(0.0f));
}

} // namespace
