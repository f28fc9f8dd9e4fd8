// reprise: the interface of cuRAND, as far as utils/gpu-check/curand.py calls it: words of Philox
//
// NVIDIA documents the order: each of 65,536 threads has a subsequence, and draws a block of four
// words in turn. test/Integration/curand compares it with the library itself, if that is found.
#include "../Libraries.h"

namespace {

enum Status : int { Success = 0, NotInitialized = 101, TypeError = 103, LaunchFailure = 201 };

struct Generator {
  bool isOnHost;
  unsigned long long seed = 0, offset = 0;
};

/// Word `number` of all that the generator draws.
uint32_t wordAt(uint64_t seed, uint64_t number) {
  constexpr uint64_t threads = 65536;
  uint64_t block = number / 4 / threads, thread = number / 4 % threads;
  uint32_t c[4] = {uint32_t(block), uint32_t(block >> 32), uint32_t(thread), 0};
  uint32_t k[2] = {uint32_t(seed), uint32_t(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t left = uint64_t(0xD2511F53) * c[0], right = uint64_t(0xCD9E8D57) * c[2];
    uint32_t next[4] = {uint32_t(right >> 32) ^ c[1] ^ k[0], uint32_t(right),
                        uint32_t(left >> 32) ^ c[3] ^ k[1], uint32_t(left)};
    for (int i = 0; i < 4; ++i)
      c[i] = next[i];
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return c[number % 4];
}

struct Draw {
  Generator generator;
  uint32_t *into;
  size_t count;

  void run() const {
    for (size_t i = 0; i < count; ++i)
      into[i] = wordAt(generator.seed, generator.offset + i);
  }
};

Status make(Generator **made, int type, bool isOnHost) {
  if (type != 161) // CURAND_RNG_PSEUDO_PHILOX4_32_10
    return TypeError;
  if (!isOnHost && !repriseEmulatorIsReady())
    return NotInitialized;
  *made = new Generator{isOnHost};
  return Success;
}

} // namespace

REPRISE_CUDA Status curandCreateGenerator(Generator **made, int type) {
  return make(made, type, false);
}
REPRISE_CUDA Status curandCreateGeneratorHost(Generator **made, int type) {
  return make(made, type, true);
}
REPRISE_CUDA Status curandDestroyGenerator(Generator *generator) {
  delete generator;
  return Success;
}
REPRISE_CUDA Status curandSetPseudoRandomGeneratorSeed(Generator *generator,
                                                       unsigned long long seed) {
  generator->seed = seed;
  return Success;
}
REPRISE_CUDA Status curandSetGeneratorOffset(Generator *generator, unsigned long long offset) {
  generator->offset = offset;
  return Success;
}
REPRISE_CUDA Status curandGenerate(Generator *generator, uint32_t *into, size_t count) {
  auto *draw = new Draw{*generator, into, count};
  generator->offset += count;
  if (generator->isOnHost) {
    draw->run();
    delete draw;
    return Success;
  }
  RepriseEmulatedRange range = {uint64_t(into), 4 * count, true};
  CUresult result = repriseEmulatorCompute(
      nullptr, "curandGenerate", &range, 1, [](void *data) { static_cast<Draw *>(data)->run(); },
      draw, [](void *data) { delete static_cast<Draw *>(data); });
  return result == CUDA_SUCCESS ? Success : LaunchFailure;
}
