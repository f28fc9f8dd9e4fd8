// reprise: float instructions of the emulator against the CPU's arithmetic
#include "SlowFloat.h"
#include "TestKernel.h"
#include "gtest/gtest.h"

#include <cmath>
#include <functional>

using namespace reprise::emulator;

namespace {

float asFloat(uint64_t bits) { return bitsAs<float>(uint32_t(bits)); }
double asDouble(uint64_t bits) { return bitsAs<double>(bits); }
/// Returns the bits of a result; every NaN of f32 is the NaN of GPUs.
uint64_t bitsOfFloat(float value) {
  return std::isnan(value) ? 0x7fffffff : bitsAs<uint32_t>(value);
}

template <typename F> using Wide = std::function<F(F, F, F)>;

void checkF32(const std::string &text, const Wide<float> &expected) {
  auto a = floatOperands(32, 0), b = floatOperands(32, 1), c = floatOperands(32, 2);
  auto got = runInstruction(text, 32, {32, 32, 32}, {a, b, c});
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(got[i], bitsOfFloat(expected(asFloat(a[i]), asFloat(b[i]), asFloat(c[i]))))
        << text << " of " << std::hex << a[i] << ", " << b[i] << ", " << c[i];
}

void checkF64(const std::string &text, const Wide<double> &expected) {
  auto a = floatOperands(64, 0), b = floatOperands(64, 1), c = floatOperands(64, 2);
  auto got = runInstruction(text, 64, {64, 64, 64}, {a, b, c});
  for (size_t i = 0; i < a.size(); ++i) {
    double right = expected(asDouble(a[i]), asDouble(b[i]), asDouble(c[i]));
    if (std::isnan(right))
      ASSERT_TRUE(std::isnan(asDouble(got[i]))) << text << " of " << a[i] << ", " << b[i];
    else
      ASSERT_EQ(got[i], bitsAs<uint64_t>(right)) << text << " of " << a[i] << ", " << b[i];
  }
}

TEST(EmulatedFloats, SinglePrecision) {
  checkF32("add.rn.f32 %d, %a, %b", [](float a, float b, float) { return a + b; });
  checkF32("sub.f32 %d, %a, %b", [](float a, float b, float) { return a - b; });
  checkF32("mul.rn.f32 %d, %a, %b", [](float a, float b, float) { return a * b; });
  checkF32("div.rn.f32 %d, %a, %b", [](float a, float b, float) { return a / b; });
  checkF32("fma.rn.f32 %d, %a, %b, %c",
           [](float a, float b, float c) { return std::fmaf(a, b, c); });
  checkF32("sqrt.rn.f32 %d, %a", [](float a, float, float) { return std::sqrt(a); });
  checkF32("rcp.rn.f32 %d, %a", [](float a, float, float) { return 1 / a; });
}

TEST(EmulatedFloats, DoublePrecision) {
  checkF64("add.rn.f64 %d, %a, %b", [](double a, double b, double) { return a + b; });
  checkF64("sub.rn.f64 %d, %a, %b", [](double a, double b, double) { return a - b; });
  checkF64("mul.f64 %d, %a, %b", [](double a, double b, double) { return a * b; });
  checkF64("div.rn.f64 %d, %a, %b", [](double a, double b, double) { return a / b; });
  checkF64("fma.rn.f64 %d, %a, %b, %c",
           [](double a, double b, double c) { return std::fma(a, b, c); });
  checkF64("sqrt.rn.f64 %d, %a", [](double a, double, double) { return std::sqrt(a); });
}

/// Returns the minimum or maximum with -0 < +0, and the number beside a NaN unless `nan`.
float extreme(float a, float b, bool larger, bool nan) {
  if (std::isnan(a) || std::isnan(b))
    return nan ? NAN : std::isnan(a) ? b : a;
  if (a == b)
    return std::signbit(a) == larger ? b : a;
  return (a < b) == larger ? b : a;
}

TEST(EmulatedFloats, Extremes) {
  for (bool larger : {false, true})
    for (bool nan : {false, true}) {
      std::string text = std::string(larger ? "max" : "min") + (nan ? ".NaN" : "");
      checkF32(text + ".f32 %d, %a, %b",
               [&](float a, float b, float) { return extreme(a, b, larger, nan); });
    }
  checkF64("min.f64 %d, %a, %b", [](double a, double b, double) {
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) ? b : a;
    return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
  });
}

TEST(EmulatedFloats, SignsAreBits) {
  auto a = floatOperands(32, 0), b = floatOperands(32, 1);
  auto absolute = runInstruction("abs.f32 %d, %a", 32, {32}, {a});
  auto negated = runInstruction("neg.f32 %d, %a", 32, {32}, {a});
  auto copied = runInstruction("copysign.f32 %d, %a, %b", 32, {32, 32}, {a, b});
  auto finite = runInstruction("testp.finite.f32 %d, %a", 1, {32}, {a});
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(absolute[i], a[i] & 0x7fffffff);
    ASSERT_EQ(negated[i], a[i] ^ 0x80000000);
    ASSERT_EQ(copied[i], (a[i] & 0x80000000) | (b[i] & 0x7fffffff));
    ASSERT_EQ(finite[i], std::isfinite(asFloat(a[i])));
  }
}

TEST(EmulatedFloats, ComparisonsWithNans) {
  struct Case {
    const char *name;
    bool less, equal, greater, unordered;
  };
  const Case cases[] = {{"eq", false, true, false, false}, {"ne", true, false, true, false},
                        {"lt", true, false, false, false}, {"le", true, true, false, false},
                        {"gt", false, false, true, false}, {"ge", false, true, true, false},
                        {"equ", false, true, false, true}, {"neu", true, false, true, true},
                        {"ltu", true, false, false, true}, {"leu", true, true, false, true},
                        {"gtu", false, false, true, true}, {"geu", false, true, true, true},
                        {"num", true, true, true, false},  {"nan", false, false, false, true}};
  auto a = floatOperands(32, 0), b = floatOperands(32, 1);
  for (const Case &entry : cases) {
    std::string text = std::string("setp.") + entry.name + ".f32 %d, %a, %b";
    auto got = runInstruction(text, 1, {32, 32}, {a, b});
    for (size_t i = 0; i < a.size(); ++i) {
      float x = asFloat(a[i]), y = asFloat(b[i]);
      bool expected = x < y    ? entry.less
                      : x == y ? entry.equal
                      : x > y  ? entry.greater
                               : entry.unordered;
      ASSERT_EQ(got[i], expected) << text << " of " << x << ", " << y;
    }
  }
}

/// Values of 16 bits, one or two in a register, against roundings of the exact result.
void checkNarrow(const std::string &op, const SlowFormat &format, unsigned arity,
                 const std::function<Exact(Exact, Exact, Exact)> &expected) {
  std::vector<std::vector<uint64_t>> operands;
  for (unsigned i = 0; i < arity; ++i)
    operands.push_back(format.exponentBits == 8 ? bfloatOperands(i) : floatOperands(16, i));
  std::string names = arity == 1 ? "%d, %a" : arity == 2 ? "%d, %a, %b" : "%d, %a, %b, %c";
  auto got = runInstruction(op + " " + names, 16, std::vector<unsigned>(arity, 16), operands);
  for (size_t i = 0; i < got.size(); ++i) {
    Exact values[3] = {0, 0, 0};
    for (unsigned k = 0; k < arity; ++k)
      values[k] = format.widen(operands[k][i]);
    ASSERT_EQ(got[i], format.round(expected(values[0], values[1], values[2])))
        << op << " of " << std::hex << operands[0][i] << ", " << operands[arity > 1][i];
  }
  auto both = runInstruction(op + "x2 " + names, 32, std::vector<unsigned>(arity, 32), [&] {
    auto pairs = operands;
    for (auto &list : pairs)
      for (size_t i = 0; i < list.size(); ++i)
        list[i] = (list[i] | list[(i + 1) % list.size()] << 16) & 0xffffffff;
    return pairs;
  }());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(both[i], got[i] | got[(i + 1) % got.size()] << 16) << op << "x2";
}

/// Adds a product and a term. If Exact would lose the smaller summand, another small number of its
/// sign replaces it, which rounds the same.
Exact multiplyAdd(Exact a, Exact b, Exact c) {
  Exact product = a * b;
  double p = std::fabs(double(product)), q = std::fabs(double(c));
  if (p == 0 || q == 0 || std::isinf(p) || std::isinf(q) || p != p || q != q)
    return product + c;
  if (q < p * 0x1p-80)
    c = (c < 0 ? -1 : 1) * p * 0x1p-80;
  if (p < q * 0x1p-80)
    product = (product < 0 ? -1 : 1) * q * 0x1p-80;
  return product + c;
}

TEST(EmulatedFloats, SixteenBits) {
  for (bool brain : {false, true}) {
    const SlowFormat &format = brain ? bfloatFormat : halfFormat;
    std::string type = brain ? "bf16" : "f16";
    checkNarrow("add.rn." + type, format, 2, [](Exact a, Exact b, Exact) { return a + b; });
    checkNarrow("sub.rn." + type, format, 2, [](Exact a, Exact b, Exact) { return a - b; });
    checkNarrow("mul.rn." + type, format, 2, [](Exact a, Exact b, Exact) { return a * b; });
    checkNarrow("fma.rn." + type, format, 3, multiplyAdd);
  }
}

TEST(EmulatedFloats, MixedWidths) {
  auto a = bfloatOperands(0), b = bfloatOperands(1), c = floatOperands(32, 2);
  auto sums = runInstruction("add.rn.f32.bf16 %d, %a, %b", 32, {16, 32}, {a, c});
  auto fused = runInstruction("fma.rn.f32.bf16 %d, %a, %b, %c", 32, {16, 16, 32}, {a, b, c});
  for (size_t i = 0; i < a.size(); ++i) {
    float x = asFloat(a[i] << 16), y = asFloat(b[i] << 16), z = asFloat(c[i]);
    ASSERT_EQ(sums[i], bitsOfFloat(x + z));
    ASSERT_EQ(fused[i], bitsOfFloat(std::fmaf(x, y, z)));
  }
}

TEST(EmulatedFloats, PairsOfSinglePrecision) {
  auto a = floatOperands(64, 0), b = floatOperands(64, 1);
  auto got = runInstruction("mul.rn.f32x2 %d, %a, %b", 64, {64, 64}, {a, b});
  for (size_t i = 0; i < a.size(); ++i) {
    uint64_t low = bitsOfFloat(asFloat(a[i]) * asFloat(b[i])),
             high = bitsOfFloat(asFloat(a[i] >> 32) * asFloat(b[i] >> 32));
    ASSERT_EQ(got[i], high << 32 | low);
  }
}

} // namespace
