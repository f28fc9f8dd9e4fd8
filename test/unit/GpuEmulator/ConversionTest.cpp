// reprise: conversions of the emulator against slow, exact ones
#include "SlowFloat.h"
#include "TestKernel.h"
#include "gtest/gtest.h"

#include <cfenv>
#include <functional>

using namespace reprise::emulator;

namespace {

float asFloat(uint64_t bits) { return bitsAs<float>(uint32_t(bits)); }
double asDouble(uint64_t bits) { return bitsAs<double>(bits); }
uint64_t bitsOfFloat(float value) {
  return std::isnan(value) ? 0x7fffffff : bitsAs<uint32_t>(value);
}

void check(const std::string &text, unsigned to, unsigned from, const std::vector<uint64_t> &values,
           const std::function<uint64_t(uint64_t)> &expected) {
  auto got = runInstruction(text + " %d, %a", to, {from}, {values});
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(got[i], expected(values[i])) << text << " of " << std::hex << values[i];
}

std::vector<uint64_t> all16() {
  std::vector<uint64_t> values;
  for (uint64_t i = 0; i < 65536; ++i)
    values.push_back(i);
  return values;
}

TEST(EmulatedConversions, EverySixteenBitValueWidens) {
  check("cvt.f32.f16", 32, 16, all16(),
        [](uint64_t a) { return bitsOfFloat(float(halfFormat.widen(a))); });
  check("cvt.f32.bf16", 32, 16, all16(),
        [](uint64_t a) { return bitsOfFloat(float(bfloatFormat.widen(a))); });
}

TEST(EmulatedConversions, NarrowsToNearestEven) {
  for (unsigned seed : {0, 1, 2}) {
    auto values = floatOperands(32, seed);
    // Ties, and their neighbours.
    if (seed == 2)
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = (i * 0x9e3779b1u & 0xffffe000u) + (i % 2 ? 0x1000 : 0x8000) + i % 3 - 1;
    check("cvt.rn.f16.f32", 16, 32, values,
          [](uint64_t a) { return halfFormat.round(asFloat(a)); });
    check("cvt.rn.bf16.f32", 16, 32, values,
          [](uint64_t a) { return bfloatFormat.round(asFloat(a)); });
  }
  check("cvt.rn.f16.f64", 16, 64, floatOperands(64, 0),
        [](uint64_t a) { return halfFormat.round(asDouble(a)); });
  check("cvt.rn.f16.s32", 16, 32, integerOperands(32, 0),
        [](uint64_t a) { return halfFormat.round(int32_t(a)); });
  check("cvt.rn.bf16.u64", 16, 64, integerOperands(64, 0),
        [](uint64_t a) { return bfloatFormat.round(Exact(a)); });
}

TEST(EmulatedConversions, NarrowsTwoAtOnce) {
  auto a = floatOperands(32, 0), b = floatOperands(32, 1);
  auto half = runInstruction("cvt.rn.f16x2.f32 %d, %a, %b", 32, {32, 32}, {a, b});
  auto brain = runInstruction("cvt.rn.bf16x2.f32 %d, %a, %b", 32, {32, 32}, {a, b});
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(half[i], halfFormat.round(asFloat(a[i])) << 16 | halfFormat.round(asFloat(b[i])));
    ASSERT_EQ(brain[i],
              bfloatFormat.round(asFloat(a[i])) << 16 | bfloatFormat.round(asFloat(b[i])));
  }
}

TEST(EmulatedConversions, RoundsInEveryDirection) {
  struct Case {
    const char *name;
    int mode;
  };
  for (Case entry : {Case{"rn", FE_TONEAREST}, Case{"rz", FE_TOWARDZERO}, Case{"rm", FE_DOWNWARD},
                     Case{"rp", FE_UPWARD}}) {
    auto with = [&](auto convert) {
      int before = std::fegetround();
      std::fesetround(entry.mode);
      auto result = convert();
      std::fesetround(before);
      return result;
    };
    std::string name = entry.name;
    check("cvt." + name + ".f32.f64", 32, 64, floatOperands(64, 0), [&](uint64_t a) {
      return bitsOfFloat(with([&] {
        volatile double v = asDouble(a);
        return float(v);
      }));
    });
    check("cvt." + name + ".f32.s32", 32, 32, integerOperands(32, 0), [&](uint64_t a) {
      return bitsOfFloat(with([&] {
        volatile int32_t v = int32_t(a);
        return float(v);
      }));
    });
    check("cvt." + name + ".f32.u64", 32, 64, integerOperands(64, 0), [&](uint64_t a) {
      return bitsOfFloat(with([&] {
        volatile uint64_t v = a;
        return float(v);
      }));
    });
    check("cvt." + name + "i.f32.f32", 32, 32, floatOperands(32, 0), [&](uint64_t a) {
      return bitsOfFloat(with([&] {
        volatile float v = asFloat(a);
        return std::nearbyint(v);
      }));
    });
  }
}

template <typename D> uint64_t saturate(double value, bool wide) {
  if (std::isnan(value))
    return wide ? uint64_t(1) << (sizeof(D) * 8 - 1) : 0;
  value = std::trunc(value);
  D result = value >= std::ldexp(1.0, sizeof(D) * 8 - std::is_signed_v<D>)
                 ? std::numeric_limits<D>::max()
             : value < double(std::numeric_limits<D>::min()) ? std::numeric_limits<D>::min()
                                                             : D(value);
  return uint64_t(std::make_unsigned_t<D>(result));
}

TEST(EmulatedConversions, FloatsSaturateAsIntegers) {
  auto f32 = floatOperands(32, 0), f64 = floatOperands(64, 0);
  check("cvt.rzi.s32.f32", 32, 32, f32,
        [](uint64_t a) { return saturate<int32_t>(asFloat(a), false); });
  check("cvt.rzi.u32.f32", 32, 32, f32,
        [](uint64_t a) { return saturate<uint32_t>(asFloat(a), false); });
  check("cvt.rzi.s64.f32", 64, 32, f32,
        [](uint64_t a) { return saturate<int64_t>(asFloat(a), true); });
  check("cvt.rzi.u64.f64", 64, 64, f64,
        [](uint64_t a) { return saturate<uint64_t>(asDouble(a), true); });
  check("cvt.rzi.s16.f32", 16, 32, f32,
        [](uint64_t a) { return saturate<int16_t>(asFloat(a), false); });
  check("cvt.rzi.s32.f16", 32, 16, all16(),
        [](uint64_t a) { return saturate<int32_t>(double(halfFormat.widen(a)), false); });
}

TEST(EmulatedConversions, IntegersExtendAndSaturate) {
  auto values = integerOperands(32, 0);
  check("cvt.s64.s32", 64, 32, values, [](uint64_t a) { return uint64_t(int64_t(int32_t(a))); });
  check("cvt.u64.u32", 64, 32, values, [](uint64_t a) { return a; });
  check("cvt.s32.s8", 32, 32, values, [](uint64_t a) { return uint64_t(uint32_t(int8_t(a))); });
  check("cvt.u32.u16", 32, 32, values, [](uint64_t a) { return a & 0xffff; });
  check("cvt.sat.u8.s32", 32, 32, values,
        [](uint64_t a) { return uint64_t(std::clamp<int64_t>(int32_t(a), 0, 255)); });
  check("cvt.sat.s32.u32", 32, 32, values,
        [](uint64_t a) { return std::min<uint64_t>(a, 0x7fffffff); });
  check("cvt.sat.f32.f32", 32, 32, floatOperands(32, 0), [](uint64_t a) {
    float value = asFloat(a);
    return bitsOfFloat(value > 0 ? std::min(value, 1.0f) : 0.0f);
  });
  check("cvt.rna.tf32.f32", 32, 32, floatOperands(32, 1), [](uint64_t a) {
    float value = asFloat(a);
    if (std::isnan(value) || std::isinf(value))
      return bitsOfFloat(value);
    return (((a & 0x7fffffff) + 0x1000) & 0x7fffe000) | (a & 0x80000000);
  });
}

} // namespace
