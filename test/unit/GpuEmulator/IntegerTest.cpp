// reprise: integer instructions of the emulator against C++
#include "TestKernel.h"
#include "gtest/gtest.h"

#include <functional>

using namespace reprise::emulator;

namespace {

using Binary = std::function<uint64_t(uint64_t, uint64_t)>;
using Ternary = std::function<uint64_t(uint64_t, uint64_t, uint64_t)>;

uint64_t low(uint64_t value, unsigned bits) {
  return bits == 64 ? value : value & ((1ull << bits) - 1);
}
int64_t extend(uint64_t value, unsigned bits) {
  return int64_t(value << (64 - bits)) >> (64 - bits);
}

void checkBinary(const std::string &text, unsigned result, unsigned bits, const Binary &expected,
                 unsigned secondBits = 0) {
  auto a = integerOperands(bits, 0), b = integerOperands(secondBits ? secondBits : bits, 1);
  auto got = runInstruction(text, result, {bits, secondBits ? secondBits : bits}, {a, b});
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(got[i], low(expected(a[i], b[i]), result)) << text << " of " << a[i] << ", " << b[i];
}

void checkTernary(const std::string &text, std::vector<unsigned> bits, unsigned result,
                  const Ternary &expected) {
  auto a = integerOperands(bits[0], 0), b = integerOperands(bits[1], 1),
       c = integerOperands(bits[2], 2);
  auto got = runInstruction(text, result, bits, {a, b, c});
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(got[i], low(expected(a[i], b[i], c[i]), result))
        << text << " of " << a[i] << ", " << b[i] << ", " << c[i];
}

TEST(EmulatedIntegers, SumsAndProducts) {
  for (unsigned bits : {16u, 32u, 64u}) {
    std::string type = std::to_string(bits);
    checkBinary("add.s" + type + " %d, %a, %b", bits, bits, std::plus<uint64_t>());
    checkBinary("sub.u" + type + " %d, %a, %b", bits, bits, std::minus<uint64_t>());
    checkBinary("mul.lo.s" + type + " %d, %a, %b", bits, bits, std::multiplies<uint64_t>());
    checkBinary("mul.hi.u" + type + " %d, %a, %b", bits, bits,
                [&](uint64_t a, uint64_t b) { return uint64_t((unsigned __int128)a * b >> bits); });
    checkBinary("mul.hi.s" + type + " %d, %a, %b", bits, bits, [&](uint64_t a, uint64_t b) {
      return uint64_t((__int128)extend(a, bits) * extend(b, bits) >> bits);
    });
    checkTernary("mad.lo.u" + type + " %d, %a, %b, %c", {bits, bits, bits}, bits,
                 [](uint64_t a, uint64_t b, uint64_t c) { return a * b + c; });
    checkTernary("mad.hi.u" + type + " %d, %a, %b, %c", {bits, bits, bits}, bits,
                 [&](uint64_t a, uint64_t b, uint64_t c) {
                   return uint64_t((unsigned __int128)a * b >> bits) + c;
                 });
  }
}

TEST(EmulatedIntegers, WideProducts) {
  for (unsigned bits : {16u, 32u}) {
    std::string type = std::to_string(bits);
    checkBinary("mul.wide.u" + type + " %d, %a, %b", 2 * bits, bits, std::multiplies<uint64_t>());
    checkBinary("mul.wide.s" + type + " %d, %a, %b", 2 * bits, bits, [&](uint64_t a, uint64_t b) {
      return uint64_t(extend(a, bits) * extend(b, bits));
    });
    checkTernary("mad.wide.u" + type + " %d, %a, %b, %c", {bits, bits, 2 * bits}, 2 * bits,
                 [](uint64_t a, uint64_t b, uint64_t c) { return a * b + c; });
    checkTernary("mad.wide.s" + type + " %d, %a, %b, %c", {bits, bits, 2 * bits}, 2 * bits,
                 [&](uint64_t a, uint64_t b, uint64_t c) {
                   return uint64_t(extend(a, bits) * extend(b, bits)) + c;
                 });
  }
}

TEST(EmulatedIntegers, QuotientsAndExtremes) {
  for (unsigned bits : {16u, 32u, 64u}) {
    std::string type = std::to_string(bits);
    checkBinary("div.u" + type + " %d, %a, %b", bits, bits,
                [](uint64_t a, uint64_t b) { return b ? a / b : ~0ull; });
    checkBinary("rem.u" + type + " %d, %a, %b", bits, bits,
                [](uint64_t a, uint64_t b) { return b ? a % b : a; });
    checkBinary("div.s" + type + " %d, %a, %b", bits, bits, [&](uint64_t a, uint64_t b) {
      int64_t x = extend(a, bits), y = extend(b, bits);
      return y == 0 ? ~0ull : y == -1 ? 0 - uint64_t(x) : uint64_t(x / y);
    });
    checkBinary("rem.s" + type + " %d, %a, %b", bits, bits, [&](uint64_t a, uint64_t b) {
      int64_t x = extend(a, bits), y = extend(b, bits);
      return y == 0 ? a : y == -1 ? 0 : uint64_t(x % y);
    });
    checkBinary("min.s" + type + " %d, %a, %b", bits, bits, [&](uint64_t a, uint64_t b) {
      return uint64_t(std::min(extend(a, bits), extend(b, bits)));
    });
    checkBinary("max.u" + type + " %d, %a, %b", bits, bits,
                [](uint64_t a, uint64_t b) { return std::max(a, b); });
  }
}

TEST(EmulatedIntegers, CarriesPassFromWordToWord) {
  checkTernary("add.cc.u32 %r25, %a, %b;\naddc.u32 %d, %c, %c", {32, 32, 32}, 32,
               [](uint64_t a, uint64_t b, uint64_t c) { return c + c + ((a + b) >> 32); });
  checkTernary("sub.cc.u32 %r25, %a, %b;\nsubc.u32 %d, %c, 5", {32, 32, 32}, 32,
               [](uint64_t a, uint64_t b, uint64_t c) { return c - 5 - (a < b); });
  checkTernary("mad.lo.cc.u32 %r25, %a, %b, %c;\nmadc.hi.u32 %d, %a, %b, 0", {32, 32, 32}, 32,
               [](uint64_t a, uint64_t b, uint64_t c) { return (a * b + c) >> 32; });
}

TEST(EmulatedIntegers, LogicAndShifts) {
  for (unsigned bits : {16u, 32u, 64u}) {
    std::string type = std::to_string(bits);
    checkBinary("and.b" + type + " %d, %a, %b", bits, bits, std::bit_and<uint64_t>());
    checkBinary("or.b" + type + " %d, %a, %b", bits, bits, std::bit_or<uint64_t>());
    checkBinary("xor.b" + type + " %d, %a, %b", bits, bits, std::bit_xor<uint64_t>());
    checkBinary("not.b" + type + " %d, %a", bits, bits, [](uint64_t a, uint64_t) { return ~a; });
    checkBinary(
        "shl.b" + type + " %d, %a, %b", bits, bits,
        [&](uint64_t a, uint64_t b) { return b >= bits ? 0 : a << b; }, 32);
    checkBinary(
        "shr.u" + type + " %d, %a, %b", bits, bits,
        [&](uint64_t a, uint64_t b) { return b >= bits ? 0 : a >> b; }, 32);
    checkBinary(
        "shr.s" + type + " %d, %a, %b", bits, bits,
        [&](uint64_t a, uint64_t b) {
          return uint64_t(extend(a, bits) >> std::min<uint64_t>(b, 63));
        },
        32);
  }
  checkTernary("shf.l.wrap.b32 %d, %a, %b, %c", {32, 32, 32}, 32,
               [](uint64_t a, uint64_t b, uint64_t c) { return (b << 32 | a) << (c & 31) >> 32; });
  checkTernary("shf.r.clamp.b32 %d, %a, %b, %c", {32, 32, 32}, 32,
               [](uint64_t a, uint64_t b, uint64_t c) {
                 return (b << 32 | a) >> std::min<uint64_t>(c, 32);
               });
}

TEST(EmulatedIntegers, LookUpTables) {
  for (unsigned table : {0x00u, 0x80u, 0xe8u, 0x96u, 0xcau, 0x1bu, 0xffu})
    checkTernary(
        "lop3.b32 %d, %a, %b, %c, " + std::to_string(table), {32, 32, 32}, 32,
        [&](uint64_t a, uint64_t b, uint64_t c) {
          uint64_t result = 0;
          for (unsigned i = 0; i < 32; ++i)
            result |= uint64_t(table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1)
                      << i;
          return result;
        });
  checkTernary("prmt.b32 %d, %a, %b, %c", {32, 32, 32}, 32, [](uint64_t a, uint64_t b, uint64_t c) {
    uint64_t bytes = b << 32 | a, result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      uint64_t choice = c >> 4 * i & 15, byte = bytes >> 8 * (choice & 7) & 255;
      result |= (choice & 8 ? (byte & 128 ? 255 : 0) : byte) << 8 * i;
    }
    return result;
  });
}

TEST(EmulatedIntegers, FieldsOfBits) {
  checkTernary("bfe.u32 %d, %a, %b, %c", {32, 32, 32}, 32, [](uint64_t a, uint64_t b, uint64_t c) {
    b &= 255, c &= 255;
    return c && b < 32 ? (a >> b) & ((1ull << std::min<uint64_t>(c, 32)) - 1) : 0;
  });
  checkTernary("bfe.s32 %d, %a, %b, %c", {32, 32, 32}, 32, [](uint64_t a, uint64_t b, uint64_t c) {
    b &= 255, c &= 255;
    if (!c)
      return uint64_t(0);
    uint64_t sign = a >> std::min<uint64_t>(b + c - 1, 31) & 1, result = 0;
    // Bit by bit, as the manual defines it.
    for (unsigned i = 0; i < 32; ++i)
      result |= (i < c && b + i < 32 ? a >> (b + i) & 1 : sign) << i;
    return result;
  });
  auto a = integerOperands(32, 0), b = integerOperands(32, 1), start = integerOperands(32, 2),
       length = integerOperands(32, 4);
  auto got =
      runInstruction("bfi.b32 %d, %a, %b, %c, %e", 32, {32, 32, 32, 32}, {a, b, start, length});
  for (size_t i = 0; i < a.size(); ++i) {
    uint64_t expected = b[i], from = start[i] & 255, count = length[i] & 255;
    for (unsigned bit = 0; bit < count && from + bit < 32; ++bit) {
      uint64_t value = bit < 32 ? a[i] >> bit & 1 : 0, mask = 1ull << (from + bit);
      expected = value ? expected | mask : expected & ~mask;
    }
    ASSERT_EQ(got[i], expected) << a[i] << " into " << b[i] << " at " << from << ", " << count;
  }
}

TEST(EmulatedIntegers, CountsOfBits) {
  for (unsigned bits : {32u, 64u}) {
    std::string type = std::to_string(bits);
    checkBinary("popc.b" + type + " %d, %a", 32, bits,
                [](uint64_t a, uint64_t) { return __builtin_popcountll(a); });
    checkBinary("clz.b" + type + " %d, %a", 32, bits,
                [&](uint64_t a, uint64_t) { return a ? __builtin_clzll(a) - (64 - bits) : bits; });
    checkBinary("brev.b" + type + " %d, %a", bits, bits, [&](uint64_t a, uint64_t) {
      uint64_t result = 0;
      for (unsigned i = 0; i < bits; ++i)
        result |= (a >> i & 1) << (bits - 1 - i);
      return result;
    });
    checkBinary("bfind.u" + type + " %d, %a", 32, bits,
                [](uint64_t a, uint64_t) { return a ? 63 - __builtin_clzll(a) : ~0ull; });
    checkBinary("bfind.s" + type + " %d, %a", 32, bits, [&](uint64_t a, uint64_t) {
      int64_t value = extend(a, bits);
      uint64_t magnitude = value < 0 ? ~value : value;
      return magnitude ? 63 - __builtin_clzll(magnitude) : ~0ull;
    });
  }
}

TEST(EmulatedIntegers, Comparisons) {
  for (unsigned bits : {16u, 32u, 64u}) {
    std::string type = std::to_string(bits);
    checkBinary("setp.lt.s" + type + " %d, %a, %b", 1, bits,
                [&](uint64_t a, uint64_t b) { return extend(a, bits) < extend(b, bits); });
    checkBinary("setp.hs.u" + type + " %d, %a, %b", 1, bits, std::greater_equal<uint64_t>());
    checkBinary("setp.ne.b" + type + " %d, %a, %b", 1, bits, std::not_equal_to<uint64_t>());
    checkBinary("setp.gt.s" + type + " %q25|%d, %a, %b", 1, bits,
                [&](uint64_t a, uint64_t b) { return extend(a, bits) <= extend(b, bits); });
  }
  checkTernary("setp.le.and.u32 %d, %a, %b, !%c", {32, 32, 1}, 1,
               [](uint64_t a, uint64_t b, uint64_t c) { return a <= b && !c; });
  checkTernary("selp.b32 %d, %a, %b, %c", {32, 32, 1}, 32,
               [](uint64_t a, uint64_t b, uint64_t c) { return c ? a : b; });
}

} // namespace
