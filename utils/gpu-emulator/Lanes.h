// reprise: loops over the lanes of a warp, which the compiler vectorizes
#ifndef REPRISE_GPU_EMULATOR_LANES_H
#define REPRISE_GPU_EMULATOR_LANES_H

#include "Machine.h"

namespace reprise::emulator {

// `Op::of` gets a value of each operand. All lanes are computed, and executing lanes are stored. A
// register of packed values has `width` values per lane.
template <typename T, typename Op, unsigned width = 1, typename D = T>
void unary(Warp &warp, const Inst &inst) {
  const T *a = warp.at<T>(inst.a);
  D result[lanes * width];
  for (unsigned i = 0; i < lanes * width; ++i)
    result[i] = Op::of(a[i]);
  warp.store<D, width>(inst.d, result);
}

template <typename T, typename Op, unsigned width = 1, typename D = T>
void binary(Warp &warp, const Inst &inst) {
  const T *a = warp.at<T>(inst.a), *b = warp.at<T>(inst.b);
  D result[lanes * width];
  for (unsigned i = 0; i < lanes * width; ++i)
    result[i] = Op::of(a[i], b[i]);
  warp.store<D, width>(inst.d, result);
}

/// The second operand is a count of bits.
template <typename T, typename Op> void shift(Warp &warp, const Inst &inst) {
  const T *a = warp.at<T>(inst.a);
  const uint32_t *b = warp.at<uint32_t>(inst.b);
  T result[lanes];
  for (unsigned i = 0; i < lanes; ++i)
    result[i] = Op::of(a[i], b[i]);
  warp.store<T>(inst.d, result);
}

/// The third operand, of type C, may be wider than the others: mad.wide.
template <typename T, typename Op, unsigned width = 1, typename C = T>
void ternary(Warp &warp, const Inst &inst) {
  const T *a = warp.at<T>(inst.a), *b = warp.at<T>(inst.b);
  const C *c = warp.at<C>(inst.c);
  C result[lanes * width];
  for (unsigned i = 0; i < lanes * width; ++i)
    result[i] = Op::of(a[i], b[i], c[i]);
  warp.store<C, width>(inst.d, result);
}

/// Calls `each(lane)` for every lane that executes.
template <typename Each> inline void forLanes(const Warp &warp, const Each &each) {
  for (uint32_t left = warp.mask; left; left &= left - 1)
    each(unsigned(__builtin_ctz(left)));
}

} // namespace reprise::emulator

#endif
