// reprise: the interpreter's elementary functions against the host's long double, and at the
// special values.
#include "reprise/Reference/Elementary.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>

namespace ref = reprise::reference;

namespace {

template <typename To, typename From> To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

template <typename F> constexpr F infinity = std::numeric_limits<F>::infinity();
template <typename F> constexpr F smallest = std::numeric_limits<F>::denorm_min();

/// Returns |got - exact| in units of the last place of `exact` in the type F, at least those of its
/// subnormals.
template <typename F> double ulps(F got, long double exact) {
  constexpr int digits = std::numeric_limits<F>::digits;
  constexpr int leastExponent = std::numeric_limits<F>::min_exponent;
  if (std::isnan(exact))
    return std::isnan(got) ? 0 : infinity<double>;
  long double limit = std::ldexp(2 - std::ldexp(1.0L, -digits), -leastExponent + 2);
  if (std::isinf(got) || std::fabs(exact) >= limit)
    return std::isinf(got) && std::fabs(exact) >= limit && (got > 0) == (exact > 0)
               ? 0
               : infinity<double>;
  int exponent;
  std::frexp(exact, &exponent);
  long double unit = std::ldexp(1.0L, std::max(exponent, leastExponent) - digits);
  return static_cast<double>(std::fabs(got - exact) / unit);
}

/// The largest error of `function` over every 1021st f32 in [low, high].
template <typename Exact>
double sweep(float (*function)(float), Exact exact, float low, float high) {
  double worst = 0;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 1021) {
    float x = bitCast<float>(static_cast<uint32_t>(bits));
    if (x >= low && x <= high)
      worst = std::max(worst, ulps(function(x), exact(static_cast<double>(x))));
  }
  return worst;
}

/// The largest error of `function` over random f64: of any magnitude in [low, high], and evenly
/// spread over [-8, 8].
template <typename Exact>
double sweep(double (*function)(double), Exact exact, double low, double high) {
  std::mt19937_64 random(7);
  double worst = 0;
  auto look = [&](double x) {
    if (x >= low && x <= high)
      worst = std::max(worst, ulps(function(x), static_cast<long double>(exact((long double)x))));
  };
  for (int i = 0; i < 300000; ++i) {
    uint64_t bits = random();
    look(bitCast<double>(bits));
    // The magnitudes from 2^-16 to 2^16 are where something happens.
    look(bitCast<double>((bits & 0x800fffffffffffff) | (uint64_t(1007) + (bits >> 52) % 32) << 52));
    look(static_cast<double>(static_cast<int64_t>(bits)) * 0x1p-60);
  }
  return worst;
}

/// The test compares f32 results with the host's double, f64 results with its long double.
#define REPRISE_SWEEP(NAME, EXACT, LOW, HIGH, BOUND32, BOUND64)                                    \
  TEST(ReferenceElementary, NAME##StaysWithinItsBound) {                                           \
    auto exact = [](auto x) { return EXACT; };                                                     \
    double error32 = sweep(static_cast<float (*)(float)>(ref::NAME), exact, LOW, HIGH);            \
    double error64 = sweep(static_cast<double (*)(double)>(ref::NAME), exact, LOW, HIGH);          \
    EXPECT_LE(error32, BOUND32);                                                                   \
    EXPECT_LE(error64, BOUND64);                                                                   \
    RecordProperty("f32", std::to_string(error32));                                                \
    RecordProperty("f64", std::to_string(error64));                                                \
  }

REPRISE_SWEEP(exp, std::exp(x), -infinity<float>, infinity<float>, 0.88, 0.94)
REPRISE_SWEEP(log, std::log(x), 0, infinity<float>, 0.93, 1.25)
REPRISE_SWEEP(tanh, std::tanh(x), -infinity<float>, infinity<float>, 1.28, 1.24)
REPRISE_SWEEP(erf, std::erf(x), -infinity<float>, infinity<float>, 1.01, 1.00)
REPRISE_SWEEP(sigmoid, 1 / (1 + std::exp(-x)), -infinity<float>, infinity<float>, 2.01, 2.01)
REPRISE_SWEEP(sqrt, std::sqrt(x), 0, infinity<float>, 0.5, 0.501)
REPRISE_SWEEP(rsqrt, 1 / std::sqrt(x), 0, infinity<float>, 1.5, 1.5)
REPRISE_SWEEP(sin, std::sin(x), -infinity<float>, infinity<float>, 1.54, 1.48)
REPRISE_SWEEP(cos, std::cos(x), -infinity<float>, infinity<float>, 1.51, 1.48)

/// The largest error of pow where the result is neither 0 nor infinite: bases of any magnitude,
/// and near 1.
template <typename F, typename Exact> double sweepPow(Exact exact) {
  using Bits = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;
  std::mt19937_64 random(7);
  double worst = 0;
  for (int i = 0; i < 2000000; ++i) {
    F x = std::fabs(bitCast<F>(static_cast<Bits>(random())));
    if (i % 2)
      x = F(0.5) + static_cast<F>(random()) * F(0x1p-64);
    if (std::isnan(x) || x == 0 || std::isinf(x))
      continue;
    // The exponent that gives 2^t, for t in [-1100, 1100] or [-160, 160].
    F t = static_cast<F>(static_cast<int64_t>(random())) * (sizeof(F) == 4 ? 160 : 1100);
    F y = static_cast<F>(std::ldexp(t, -63) / std::log2(static_cast<double>(x)));
    if (std::isnan(y) || std::isinf(y))
      continue;
    worst = std::max(worst, ulps(ref::pow(x, y), static_cast<long double>(exact(x, y))));
  }
  return worst;
}

TEST(ReferenceElementary, PowStaysWithinItsBound) {
  double error32 = sweepPow<float>([](double x, double y) { return std::pow(x, y); });
  double error64 = sweepPow<double>([](long double x, long double y) { return std::pow(x, y); });
  EXPECT_LE(error32, 0.51);
  EXPECT_LE(error64, 0.91);
  RecordProperty("f32", std::to_string(error32));
  RecordProperty("f64", std::to_string(error64));
}

/// Near multiples of pi/2: most of the digits cancel.
TEST(ReferenceElementary, SinesOfHardAngles) {
  for (double x :
       {0x1.6ac5b262ca1ffp+849, 0x1.921fb54442d18p+40, 1e22, 1e300, 0x1.fffffffffffffp+1023}) {
    EXPECT_LE(ulps(ref::sin(x), std::sin(static_cast<long double>(x))), 1.6) << x;
    EXPECT_LE(ulps(ref::cos(x), std::cos(static_cast<long double>(x))), 1.6) << x;
    EXPECT_LE(ulps(ref::sin(-x), -std::sin(static_cast<long double>(x))), 1.6) << x;
    EXPECT_LE(ulps(ref::cos(-x), std::cos(static_cast<long double>(x))), 1.6) << x;
  }
}

TEST(ReferenceElementary, SineAndCosineOfATurn) {
  double worst = 0;
  for (int i = 0; i <= 1 << 24; i += 17) {
    float u = static_cast<float>(i) * 0x1p-24f, sine, cosine;
    ref::sinCosOfTurn(u, sine, cosine);
    // The angle is reduced here, since 2πu rounds in the host's function too.
    int quadrant = (i + (1 << 21)) >> 22;
    long double rest = (i - (quadrant << 22)) * 0x1p-22L * (3.14159265358979323846264L / 2);
    long double parts[] = {std::sin(rest), std::cos(rest), -std::sin(rest), -std::cos(rest)};
    worst = std::max(worst, ulps(sine, parts[quadrant % 4]));
    worst = std::max(worst, ulps(cosine, parts[(quadrant + 1) % 4]));
  }
  EXPECT_LE(worst, 0.88);
  RecordProperty("f32", std::to_string(worst));
}

template <typename F> void expectSame(F got, F expected, const char *what) {
  using Bits = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(got)) << what;
  else
    EXPECT_EQ(bitCast<Bits>(got), bitCast<Bits>(expected)) << what << ": " << got;
}

template <typename F> class ReferenceSpecialValues : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(ReferenceSpecialValues, FloatTypes);

TYPED_TEST(ReferenceSpecialValues, AreRight) {
  using F = TypeParam;
  const F nan = std::numeric_limits<F>::quiet_NaN(), inf = infinity<F>, tiny = smallest<F>;
  const F zero = 0, one = 1;
  expectSame(ref::exp(nan), nan, "exp(nan)");
  expectSame(ref::exp(inf), inf, "exp(inf)");
  expectSame(ref::exp(-inf), zero, "exp(-inf)");
  expectSame(ref::exp(zero), one, "exp(0)");
  expectSame(ref::exp(-zero), one, "exp(-0)");
  expectSame(ref::exp(tiny), one, "exp(tiny)");
  expectSame(ref::log(nan), nan, "log(nan)");
  expectSame(ref::log(inf), inf, "log(inf)");
  expectSame(ref::log(-inf), nan, "log(-inf)");
  expectSame(ref::log(-tiny), nan, "log(-tiny)");
  expectSame(ref::log(zero), -inf, "log(0)");
  expectSame(ref::log(-zero), -inf, "log(-0)");
  expectSame(ref::log(one), zero, "log(1)");
  for (auto odd : {static_cast<F (*)(F)>(ref::tanh), static_cast<F (*)(F)>(ref::erf)}) {
    expectSame(odd(nan), nan, "odd(nan)");
    expectSame(odd(inf), one, "odd(inf)");
    expectSame(odd(-inf), -one, "odd(-inf)");
    expectSame(odd(zero), zero, "odd(0)");
    expectSame(odd(-zero), -zero, "odd(-0)");
  }
  expectSame(ref::tanh(-tiny), -tiny, "tanh(-tiny)");
  expectSame(ref::sigmoid(nan), nan, "sigmoid(nan)");
  expectSame(ref::sigmoid(inf), one, "sigmoid(inf)");
  expectSame(ref::sigmoid(-inf), zero, "sigmoid(-inf)");
  expectSame(ref::sigmoid(-zero), F(0.5), "sigmoid(-0)");
  expectSame(ref::sqrt(-zero), -zero, "sqrt(-0)");
  expectSame(ref::sqrt(-one), nan, "sqrt(-1)");
  expectSame(ref::rsqrt(zero), inf, "rsqrt(0)");
  expectSame(ref::rsqrt(-zero), -inf, "rsqrt(-0)");
  expectSame(ref::rsqrt(inf), zero, "rsqrt(inf)");
  expectSame(ref::sin(-zero), -zero, "sin(-0)");
  expectSame(ref::sin(-tiny), -tiny, "sin(-tiny)");
  expectSame(ref::sin(inf), nan, "sin(inf)");
  expectSame(ref::cos(-inf), nan, "cos(-inf)");
  expectSame(ref::cos(zero), one, "cos(0)");
  expectSame(ref::cos(nan), nan, "cos(nan)");
}

TYPED_TEST(ReferenceSpecialValues, PowIsThatOfIeee) {
  using F = TypeParam;
  const F nan = std::numeric_limits<F>::quiet_NaN(), inf = infinity<F>, tiny = smallest<F>;
  const F most = std::numeric_limits<F>::max(), zero = 0, one = 1;
  const F bases[] = {zero,  -zero, one,   -one, inf, -inf,   nan,    tiny,
                     -tiny, most,  -most, 2,    -2,  F(0.5), -F(0.5)};
  const F exponents[] = {zero, -zero, one, -one, inf, -inf, nan,    tiny,    -tiny,
                         most, -most, 2,   -2,   3,   -3,   F(0.5), -F(0.5), F(1.5)};
  for (F x : bases)
    for (F y : exponents) {
      F got = ref::pow(x, y), expected = std::pow(x, y);
      std::string what = "pow(" + std::to_string(x) + ", " + std::to_string(y) + ")";
      if (std::isfinite(expected) && expected != 0)
        EXPECT_LE(ulps(got, expected), 1) << what;
      else
        expectSame(got, expected, what.c_str());
    }
}

TYPED_TEST(ReferenceSpecialValues, MaximumAndMinimumAreThoseOfIeee) {
  using F = TypeParam;
  const F nan = std::numeric_limits<F>::quiet_NaN(), inf = infinity<F>, zero = 0, one = 1;
  for (F x : {zero, -zero, one, -one, inf, -inf, smallest<F>, nan}) {
    expectSame(ref::maximum(x, nan), nan, "maximum(x, nan)");
    expectSame(ref::maximum(nan, x), nan, "maximum(nan, x)");
    expectSame(ref::minimum(x, nan), nan, "minimum(x, nan)");
    expectSame(ref::minimum(nan, x), nan, "minimum(nan, x)");
    expectSame(ref::maximum(x, x), x, "maximum(x, x)");
    expectSame(ref::minimum(x, x), x, "minimum(x, x)");
  }
  expectSame(ref::maximum(-zero, zero), zero, "maximum(-0, 0)");
  expectSame(ref::maximum(zero, -zero), zero, "maximum(0, -0)");
  expectSame(ref::minimum(-zero, zero), -zero, "minimum(-0, 0)");
  expectSame(ref::minimum(zero, -zero), -zero, "minimum(0, -0)");
  expectSame(ref::maximum(-inf, one), one, "maximum(-inf, 1)");
  expectSame(ref::minimum(one, -inf), -inf, "minimum(1, -inf)");
}

} // namespace
