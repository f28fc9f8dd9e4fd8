// reprise: Philox4x32-10, the only random generator of compiler, interpreter, runtime tests and
// CUDA kernels.
//
// Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11. A
// block of four 32-bit words is a keyed bijection of a 128-bit counter, so any word of any stream
// can be drawn separately, in any order. The code uses only integer arithmetic: the words are equal
// on every host and device.

#ifndef REPRISE_KERNELS_COMMON_PHILOX_H
#define REPRISE_KERNELS_COMMON_PHILOX_H

#include <cstdint>

#if defined(__CUDACC__)
#define REPRISE_HOST_DEVICE __host__ __device__
#else
#define REPRISE_HOST_DEVICE
#endif

namespace reprise {

/// Block of four 32-bit words: a counter, or the words drawn for it.
struct PhiloxBlock {
  uint32_t words[4];
};

/// Constants of the algorithm, which generated code uses too.
constexpr uint32_t philoxMultiplier0 = 0xD2511F53u;
constexpr uint32_t philoxMultiplier1 = 0xCD9E8D57u;
constexpr uint32_t philoxWeyl0 = 0x9E3779B9u;
constexpr uint32_t philoxWeyl1 = 0xBB67AE85u;
constexpr int philoxRounds = 10;

/// The four words drawn for `counter` under `key` (low word first).
REPRISE_HOST_DEVICE constexpr PhiloxBlock philoxBlock(PhiloxBlock counter, uint64_t key) {
  uint32_t key0 = static_cast<uint32_t>(key);
  uint32_t key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < philoxRounds; ++round) {
    uint64_t product0 = static_cast<uint64_t>(philoxMultiplier0) * counter.words[0];
    uint64_t product1 = static_cast<uint64_t>(philoxMultiplier1) * counter.words[2];
    counter = PhiloxBlock{{static_cast<uint32_t>(product1 >> 32) ^ counter.words[1] ^ key0,
                           static_cast<uint32_t>(product1),
                           static_cast<uint32_t>(product0 >> 32) ^ counter.words[3] ^ key1,
                           static_cast<uint32_t>(product0)}};
    key0 += philoxWeyl0;
    key1 += philoxWeyl1;
  }
  return counter;
}

/// The block that holds words 4·block … 4·block+3 of `stream`.
REPRISE_HOST_DEVICE constexpr PhiloxBlock philoxStreamBlock(uint64_t seed, uint64_t stream,
                                                            uint64_t block) {
  return philoxBlock(
      PhiloxBlock{{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                   static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)}},
      seed);
}

/// Returns the word of element `index` (row-major in the global tensor) of the random op `stream`
/// of a call that started at `offset`: the `index`-th output of a sequential curand_init(seed,
/// stream, offset). The position offset + index wraps at 2^64.
REPRISE_HOST_DEVICE constexpr uint32_t philoxWord(uint64_t seed, uint64_t stream, uint64_t offset,
                                                  uint64_t index) {
  uint64_t position = offset + index;
  return philoxStreamBlock(seed, stream, position / 4).words[position % 4];
}

} // namespace reprise

#endif // REPRISE_KERNELS_COMMON_PHILOX_H
