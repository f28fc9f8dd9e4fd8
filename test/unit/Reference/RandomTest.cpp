// reprise: the distributions of the random ops: exact values from chosen words, and their moments.
#include "reprise/Reference/Random.h"
#include "gtest/gtest.h"
#include <cmath>
#include <vector>

using namespace reprise;
using namespace reprise::reference;

namespace {

const Draw draw = {0x853c49e6748fea9b, 3, 1 << 20};

/// Mean and variance of `count` draws of `element`, in f64.
template <typename Element> std::pair<double, double> moments(Element element, int count) {
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    double x = element(i);
    sum += x;
    squares += x * x;
  }
  double mean = sum / count;
  return {mean, squares / count - mean * mean};
}

TEST(ReferenceRandom, UniformsKeepTheirGrids) {
  for (uint64_t i = 0; i < 4096; ++i) {
    uint32_t w = draw.word(i);
    EXPECT_EQ(uniformF32(draw, i), (w >> 8) / 16777216.0f);
    EXPECT_EQ(uniformF16(draw, i), (w >> 21) / 2048.0f);
    EXPECT_EQ(uniformBf16(draw, i), (w >> 24) / 256.0f);
    EXPECT_EQ(uniformF64(draw, i), w / 4294967296.0);
    EXPECT_LT(uniformF32(draw, i), 1.0f);
    EXPECT_EQ(uniformF32(draw, i, -2, 6), -2.0f + 8.0f * uniformF32(draw, i));
  }
}

TEST(ReferenceRandom, UniformIntegersCoverTheRange) {
  std::vector<int> seen(10);
  for (uint64_t i = 0; i < 100000; ++i) {
    int64_t value = uniformInt(draw, i, -3, 7);
    ASSERT_GE(value, -3);
    ASSERT_LT(value, 7);
    ++seen[value + 3];
  }
  for (int count : seen)
    EXPECT_NEAR(count, 10000, 500);
  EXPECT_EQ(uniformInt(draw, 5, 9, 10), 9);
  // The widest range gives the word itself, also where its ends overflow a 32-bit type.
  EXPECT_EQ(uniformInt(draw, 5, -2147483648ll, 2147483648ll), int64_t(draw.word(5)) - 2147483648ll);
}

TEST(ReferenceRandom, NormalsAreNormal) {
  const int count = 400000;
  auto [mean, variance] = moments([](int i) { return normal(draw, i); }, count);
  EXPECT_NEAR(mean, 0, 5 / std::sqrt(count));
  EXPECT_NEAR(variance, 1, 10 / std::sqrt(count));
  int below = 0;
  for (int i = 0; i < count; ++i)
    below += normal(draw, i) < -1;
  EXPECT_NEAR(below / double(count), 0.1586553, 5 * 0.366 / std::sqrt(count));
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(normal(draw, i, 3, 0.02), 3.0f + 0.02f * normal(draw, i));
}

TEST(ReferenceRandom, NormalsAreBoxMullersPairs) {
  for (uint64_t i = 0; i < 4096; i += 2) {
    double u1 = ((draw.word(i) >> 8) + 1) * 0x1p-24, u2 = (draw.word(i + 1) >> 8) * 0x1p-24;
    double radius = std::sqrt(-2 * std::log(u1)), angle = 2 * M_PI * u2;
    EXPECT_NEAR(normal(draw, i), radius * std::cos(angle), 2e-6);
    EXPECT_NEAR(normal(draw, i + 1), radius * std::sin(angle), 2e-6);
  }
}

TEST(ReferenceRandom, BernoulliComparesWithTheThreshold) {
  EXPECT_EQ(hitThreshold(0), 0u);
  EXPECT_EQ(hitThreshold(1), uint64_t(1) << 32);
  EXPECT_EQ(hitThreshold(0.1), 429496729u);
  int hits = 0;
  for (uint64_t i = 0; i < 100000; ++i) {
    EXPECT_FALSE(bernoulli(draw, i, 0));
    EXPECT_TRUE(bernoulli(draw, i, 1));
    hits += bernoulli(draw, i, 0.3);
    // The word itself is the boundary: it does not hit, and one more would.
    double edge = draw.word(i) * 0x1p-32;
    EXPECT_FALSE(bernoulli(draw, i, edge));
    EXPECT_TRUE(bernoulli(draw, i, edge + 0x1p-32));
  }
  EXPECT_NEAR(hits, 30000, 800);
}

TEST(ReferenceRandom, DropoutDropsToPlusZeroAndScales) {
  for (uint64_t i = 0; i < 1000; ++i) {
    float kept = dropout(draw, i, -2.0f, 0.1);
    if (bernoulli(draw, i, 0.1))
      EXPECT_TRUE(kept == 0 && !std::signbit(kept));
    else
      EXPECT_EQ(kept, -2.0f * static_cast<float>(1 / 0.9));
    EXPECT_EQ(dropout(draw, i, -2.0f, 0), -2.0f);
    EXPECT_EQ(dropout(draw, i, -2.0, 0.75), bernoulli(draw, i, 0.75) ? 0.0 : -8.0);
    float all = dropout(draw, i, std::nanf(""), 1);
    EXPECT_TRUE(all == 0 && !std::signbit(all));
  }
}

} // namespace
