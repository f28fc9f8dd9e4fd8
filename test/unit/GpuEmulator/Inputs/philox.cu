// reprise: the words of one stream per thread, from the header that all parts of Reprise share
#include "common/Philox.h"

extern "C" __global__ void draw(const unsigned long long *keys, unsigned *words, unsigned count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  for (unsigned k = 0; k < 8; ++k)
    words[8 * i + k] = reprise::philoxWord(keys[3 * i], keys[3 * i + 1], keys[3 * i + 2], k);
}
