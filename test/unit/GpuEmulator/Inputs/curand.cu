// reprise: the words of one stream per thread, as cuRAND's device functions draw them
#include <curand_kernel.h>

extern "C" __global__ void draw(const unsigned long long *keys, unsigned *words, unsigned count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  curandStatePhilox4_32_10_t state;
  curand_init(keys[3 * i], keys[3 * i + 1], keys[3 * i + 2], &state);
  for (unsigned k = 0; k < 8; ++k)
    words[8 * i + k] = curand(&state);
}

extern "C" __global__ void uniforms(const unsigned long long *keys, float *values, unsigned count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  curandStatePhilox4_32_10_t state;
  curand_init(keys[3 * i], keys[3 * i + 1], keys[3 * i + 2], &state);
  for (unsigned k = 0; k < 8; ++k)
    values[8 * i + k] = curand_uniform(&state);
}
