// reprise: threads, memory and asynchronous copies of a GPU
#ifndef REPRISE_KERNELS_CUDA_DEVICE_H
#define REPRISE_KERNELS_CUDA_DEVICE_H

#include <stdint.h>

#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((address_space(3)))

namespace reprise::cuda {

/// Indices have 64 bits, also within a tile: LLVM then finds the constants in sums that address
/// memory, and the assembler narrows what fits 32 bits. Narrow indices took up to 34 registers
/// more.
using Index = int64_t;

constexpr int warpSize = 32;

/// Return quotient and remainder of a number that is not negative, which are shifts and masks if
/// `by` is a power of two.
constexpr Index div(Index number, Index by) { return uint64_t(number) / uint64_t(by); }
constexpr Index rem(Index number, Index by) { return uint64_t(number) % uint64_t(by); }

inline Index threadInBlock() { return __nvvm_read_ptx_sreg_tid_x(); }
inline Index blockInGrid() { return __nvvm_read_ptx_sreg_ctaid_x(); }
inline Index laneInWarp() { return rem(threadInBlock(), warpSize); }
inline Index warpInBlock() { return div(threadInBlock(), warpSize); }

template <typename T> T least(T a, T b) { return __builtin_elementwise_min(a, b); }

/// Returns the value of the lane whose number is this lane's number xor `distance`.
inline float exchange(float value, int distance) {
  return __nvvm_shfl_sync_bfly_f32(-1, value, distance, warpSize - 1);
}

inline unsigned exchange(unsigned value, int distance) {
  return __nvvm_shfl_sync_bfly_i32(-1, value, distance, warpSize - 1);
}
/// Returns whether the condition holds in any lane of the warp.
inline bool anyOfWarp(bool condition) { return __nvvm_vote_any_sync(-1, condition); }

/// Copies 4, 8 or 16 bytes from global to shared memory while the thread continues.
inline void copyAsync(SHARED void *to, const GLOBAL void *from, int bytes) {
  // The first-level cache caches only parts of lines.
  if (bytes == 16)
    __nvvm_cp_async_cg_shared_global_16(to, from);
  else if (bytes == 8)
    __nvvm_cp_async_ca_shared_global_8(to, from);
  else
    __nvvm_cp_async_ca_shared_global_4(to, from);
}
/// Copies as copyAsync() does, or writes zeros without reading if `isThere` does not hold.
inline void copyAsyncIf(bool isThere, SHARED void *to, const GLOBAL void *from, int bytes) {
  int read = isThere ? bytes : 0;
  if (bytes == 16)
    __nvvm_cp_async_cg_shared_global_16(to, from, read);
  else if (bytes == 8)
    __nvvm_cp_async_ca_shared_global_8(to, from, read);
  else
    __nvvm_cp_async_ca_shared_global_4(to, from, read);
}
/// Ends a group of copies.
inline void commitCopies() { __nvvm_cp_async_commit_group(); }
/// Waits until at most `pending` groups of this thread, the last ones, are in flight.
template <int pending> void awaitCopies() { __nvvm_cp_async_wait_group(pending); }

} // namespace reprise::cuda

#endif // REPRISE_KERNELS_CUDA_DEVICE_H
