// reprise: the reduction of large angles in the interpreter, exact in whole numbers (after Payne
// and Hanek).
#include "Angle.h"

#include "Polynomials.h"
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace reprise::reference {
namespace {

/// 192 bits, the least significant 32 first.
using Words = std::array<uint32_t, 6>;

/// 192 bits of 2/pi from bit `first` of the table on, where bit 0 stands for 2^63.
Words bitsOfTwoOverPi(int first) {
  Words words;
  for (int i = 0; i < 6; ++i) {
    int at = first + 32 * (5 - i), shift = at % 32;
    uint64_t pair = uint64_t(twoOverPiBits[at / 32]) << 32 | twoOverPiBits[at / 32 + 1];
    words[i] = static_cast<uint32_t>(pair << shift >> 32);
  }
  return words;
}

/// Adds a·factor·2^(32·places) to `sum`, modulo 2^192.
void addProduct(Words &sum, const Words &a, uint64_t factor, int places) {
  uint64_t carry = 0;
  for (int i = places; i < 6; ++i) {
    carry += sum[i] + factor * a[i - places];
    sum[i] = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
}

} // namespace

double reduceLargeAngle(double x, unsigned &turn) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(x));
  // |x| = mantissa·2^exponent.
  uint64_t mantissa = (bits & 0xfffffffffffff) | 0x10000000000000;
  int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1075;
  // Quarter turns modulo 4, in units of 2^-190; higher bits count whole turns.
  Words window = bitsOfTwoOverPi(exponent + 62), quarters{};
  addProduct(quarters, window, mantissa & 0xffffffff, 0);
  addProduct(quarters, window, mantissa >> 32, 1);
  turn = (quarters[5] + 0x20000000u) >> 30;
  // The rest, in units of 2^-30: the highest 30 bits have a sign.
  double high = static_cast<double>(static_cast<int32_t>(quarters[5] << 2) / 4);
  double low = (quarters[4] + (quarters[3] + quarters[2] * 0x1p-32) * 0x1p-32) * 0x1p-32;
  double rest = high + low, lost = low - (rest - high);
  constexpr double unit = 0x1.921fb54442d18p-30, unitLow = 0x1.1a62633145c07p-84;
  double angle = std::fma(rest, unit, std::fma(rest, unitLow, lost * unit));
  if (x > 0)
    return angle;
  turn = (4 - turn) % 4;
  return -angle;
}

} // namespace reprise::reference
