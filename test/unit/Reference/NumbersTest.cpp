// reprise: the interpreter's conversions and integer arithmetic, at every 16-bit value and every
// tie between two.
#include "reprise/Reference/Numbers.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <random>

using namespace reprise::reference;

namespace {

struct Bf16 {
  static constexpr uint16_t infinity = 0x7F80, quietNaN = 0x7FC0;
  static float from(uint16_t bits) { return fromBf16(bits); }
  template <typename T> static uint16_t to(T value) { return toBf16(value); }
};
struct F16 {
  static constexpr uint16_t infinity = 0x7C00, quietNaN = 0x7E00;
  static float from(uint16_t bits) { return fromF16(bits); }
  template <typename T> static uint16_t to(T value) { return toF16(value); }
};

template <typename Format> class SixteenBits : public testing::Test {};
using Formats = testing::Types<Bf16, F16>;
TYPED_TEST_SUITE(SixteenBits, Formats);

/// Checks that a number between two neighbours is rounded to the nearer one, and the middle to the
/// even one.
template <typename Format, typename T> void checkBetween(uint16_t low, T a, T b) {
  T middle = a + (b - a) / 2;
  uint16_t high = low + 1, even = low & 1 ? high : low;
  EXPECT_EQ(Format::template to<T>(middle), even) << middle;
  EXPECT_EQ(Format::template to<T>(std::nextafter(middle, T(0))), low) << middle;
  EXPECT_EQ(Format::template to<T>(std::nextafter(middle, std::numeric_limits<T>::infinity())),
            high)
      << middle;
  EXPECT_EQ(Format::template to<T>(-middle), even | 0x8000) << middle;
  EXPECT_EQ(Format::template to<T>(std::nextafter(a, std::numeric_limits<T>::infinity())), low)
      << a;
}

TYPED_TEST(SixteenBits, EveryValueAndEveryTie) {
  for (uint32_t bits = 0; bits < TypeParam::infinity; ++bits) {
    float value = TypeParam::from(bits);
    ASSERT_EQ(TypeParam::to(value), bits);
    ASSERT_EQ(TypeParam::to(static_cast<double>(value)), bits);
    ASSERT_EQ(TypeParam::to(-value), bits | 0x8000);
    ASSERT_EQ(TypeParam::from(bits | 0x8000), -value);
    // Above the largest number, the next number of an unlimited format serves as neighbour.
    float next = bits + 1 < TypeParam::infinity ? TypeParam::from(bits + 1)
                                                : value + (value - TypeParam::from(bits - 1));
    if (!std::isinf(next))
      checkBetween<TypeParam, float>(bits, value, next);
    checkBetween<TypeParam, double>(bits, value,
                                    std::isinf(next) ? 0x1p128 : static_cast<double>(next));
  }
}

TYPED_TEST(SixteenBits, InfinitiesAndNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(TypeParam::from(TypeParam::infinity), infinity);
  EXPECT_EQ(TypeParam::from(TypeParam::infinity | 0x8000), -infinity);
  EXPECT_EQ(TypeParam::to(-infinity), TypeParam::infinity | 0x8000);
  EXPECT_EQ(TypeParam::to(1e300), TypeParam::infinity);
  EXPECT_EQ(TypeParam::to(-1e-300), 0x8000);
  for (double nan : {std::nan(""), -std::nan(""), std::nan("123456")}) {
    EXPECT_EQ(TypeParam::to(nan), TypeParam::quietNaN);
    EXPECT_EQ(TypeParam::to(static_cast<float>(nan)), TypeParam::quietNaN);
  }
  for (uint32_t bits = TypeParam::infinity + 1; bits < 0x8000; ++bits)
    EXPECT_TRUE(std::isnan(TypeParam::from(bits)));
}

TYPED_TEST(SixteenBits, ADoubleRoundsOnce) {
  // The value is above a tie of the 16-bit type by less than a float can resolve: by way of float
  // it would round down to even.
  double tie = (1.0 + TypeParam::from(TypeParam::to(1.0) + 1)) / 2;
  EXPECT_EQ(TypeParam::to(tie), TypeParam::to(1.0));
  EXPECT_EQ(TypeParam::to(tie + 0x1p-40), TypeParam::to(1.0) + 1);
  EXPECT_EQ(TypeParam::to(static_cast<float>(tie + 0x1p-40)), TypeParam::to(1.0));
}

TYPED_TEST(SixteenBits, IntegersRoundOnce) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200000; ++i) {
    int64_t value = static_cast<int64_t>(random()) >> (random() % 64);
    // Near a tie.
    if (i % 2)
      value = (value & ~((int64_t(1) << random() % 40) - 1)) | (random() % 3);
    uint16_t bits = TypeParam::to(value);
    if ((bits & 0x7FFF) == TypeParam::infinity) {
      EXPECT_GE(std::fabs(static_cast<double>(value)), 65520.0);
      continue;
    }
    // long double holds every i64; no neighbour may be nearer, and a tie is even.
    auto distance = [&](uint16_t b) {
      return std::fabs(static_cast<long double>(value) - TypeParam::from(b));
    };
    for (int step : {-1, 1}) {
      uint16_t other = bits + step;
      if ((bits & 0x7FFF) == 0 || (other & 0x7FFF) >= TypeParam::infinity)
        continue;
      EXPECT_LE(distance(bits), distance(other)) << value;
      if (distance(bits) == distance(other))
        EXPECT_EQ(bits & 1, 0) << value;
    }
  }
}

TEST(Numbers, FloatToIntegerSaturates) {
  EXPECT_EQ(toInt32(std::nan("")), 0);
  EXPECT_EQ(toInt32(2147483647.5), 2147483647);
  EXPECT_EQ(toInt32(2147483648.0), 2147483647);
  EXPECT_EQ(toInt32(-2147483648.9), -2147483647 - 1);
  EXPECT_EQ(toInt32(-1e30), -2147483647 - 1);
  EXPECT_EQ(toInt32(-1.9), -1);
  EXPECT_EQ(toInt64(std::nan("")), 0);
  EXPECT_EQ(toInt64(0x1p63), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(toInt64(0x1.fffffffffffffp62), int64_t(0x7ffffffffffffc00));
  EXPECT_EQ(toInt64(-0x1p63), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(toInt64(-1e300), std::numeric_limits<int64_t>::min());
}

template <typename I> void checkDivision() {
  const I least = std::numeric_limits<I>::min(), greatest = std::numeric_limits<I>::max();
  for (I a : {least, I(-7), I(-1), I(0), I(1), I(7), greatest}) {
    EXPECT_EQ(divide(a, I(0)), -1);
    EXPECT_EQ(remainder(a, I(0)), a);
    EXPECT_EQ(remainder(a, I(-1)), 0);
  }
  EXPECT_EQ(divide(least, I(-1)), least);
  EXPECT_EQ(divide(I(-7), I(2)), -3);
  EXPECT_EQ(remainder(I(-7), I(2)), -1);
  EXPECT_EQ(remainder(I(7), I(-2)), 1);
}

TEST(Numbers, IntegerDivision) {
  checkDivision<int32_t>();
  checkDivision<int64_t>();
}

} // namespace
