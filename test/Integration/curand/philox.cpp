// reprise: compares Philox.h with cuRAND, word for word. Argument: the folder of libcurand.
//
// The device functions run on the host here (QUALIFIERS takes away what needs nvcc); the host
// generator needs neither driver nor GPU.
#define QUALIFIERS static inline
#include <cuda_runtime.h>
#include <curand.h>
#include <curand_kernel.h>

#include "common/Philox.h"
#include <cstdio>
#include <dlfcn.h>
#include <random>
#include <string>
#include <vector>

using namespace reprise;

namespace {

long compareDevice() {
  std::mt19937_64 random(1);
  long compared = 0, different = 0;
  for (int state = 0; state < 20000; ++state) {
    // Every magnitude of seed, subsequence and offset, so that each carry is met.
    uint64_t seed = random() >> (random() % 64), stream = random() >> (random() % 64);
    uint64_t offset = random() >> (2 + random() % 62);
    curandStatePhilox4_32_10_t generator;
    curand_init(seed, stream, offset, &generator);
    for (uint64_t i = 0; i < 64; ++i, ++compared)
      different += curand(&generator) != philoxWord(seed, stream, offset, i);
  }
  std::printf("device words: %ld compared, %ld differ\n", compared, different);
  return different;
}

template <typename Function> Function find(void *library, const char *name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

long compareHost(const std::string &folder) {
  void *library = dlopen((folder + "/libcurand.so.10").c_str(), RTLD_NOW);
  if (!library)
    library = dlopen((folder + "/libcurand.so").c_str(), RTLD_NOW);
  if (!library) {
    std::printf("cannot load libcurand: %s\n", dlerror());
    return 1;
  }
  auto create = find<decltype(&curandCreateGeneratorHost)>(library, "curandCreateGeneratorHost");
  auto setSeed = find<decltype(&curandSetPseudoRandomGeneratorSeed)>(
      library, "curandSetPseudoRandomGeneratorSeed");
  auto setOffset = find<decltype(&curandSetGeneratorOffset)>(library, "curandSetGeneratorOffset");
  auto generate = find<decltype(&curandGenerate)>(library, "curandGenerate");
  auto destroy = find<decltype(&curandDestroyGenerator)>(library, "curandDestroyGenerator");
  long compared = 0, different = 0, failures = 0;
  for (uint64_t seed : {uint64_t(0), uint64_t(1234), uint64_t(0xdeadbeefcafef00d)})
    for (uint64_t offset : {uint64_t(0), uint64_t(3), uint64_t(262140), uint64_t(10000000001)}) {
      curandGenerator_t generator;
      std::vector<unsigned> drawn(300000);
      failures += create(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10) != CURAND_STATUS_SUCCESS;
      failures += setSeed(generator, seed) != CURAND_STATUS_SUCCESS;
      failures += setOffset(generator, offset) != CURAND_STATUS_SUCCESS;
      failures += generate(generator, drawn.data(), drawn.size()) != CURAND_STATUS_SUCCESS;
      failures += destroy(generator) != CURAND_STATUS_SUCCESS;
      // Blocks are dealt to 65,536 subsequences in turn.
      for (uint64_t i = 0; i < drawn.size(); ++i, ++compared) {
        uint64_t element = offset + i, subsequence = (element / 4) % 65536;
        uint64_t block = (element / 4) / 65536;
        different += drawn[i] != philoxWord(seed, subsequence, 4 * block, element % 4);
      }
    }
  std::printf("host generator words: %ld compared, %ld differ\n", compared, different + failures);
  return different + failures;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER_OF_LIBCURAND\n", argv[0]);
    return 2;
  }
  return compareDevice() + compareHost(argv[1]) != 0;
}
