// reprise: plain kernels for the test of nvcc's code
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

extern "C" __global__ void sums(const float *x, float *out, int columns) {
  __shared__ float parts[32];
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    sum += x[blockIdx.x * columns + i];
  for (int distance = 16; distance; distance /= 2)
    sum += __shfl_xor_sync(~0u, sum, distance);
  if (threadIdx.x % 32 == 0)
    parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x)
    return;
  for (int i = 1; i < blockDim.x / 32; ++i)
    sum += parts[i];
  out[blockIdx.x] = sum;
}

/// Multiplies by tiles. If `barriers` is 1, the second barrier is missing, and tiles are
/// overwritten while other threads read them.
template <int barriers>
__device__ void multiply(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float left[16][17], right[16][17];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int at = 0; at < k; at += 16) {
    left[y][x] = row < m && at + x < k ? a[row * k + at + x] : 0;
    right[y][x] = column < n && at + y < k ? b[(at + y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum = fmaf(left[y][i], right[i][x], sum);
    if (barriers == 2)
      __syncthreads();
  }
  if (row < m && column < n)
    c[row * n + column] = sum;
}
extern "C" __global__ void product(const float *a, const float *b, float *c, int m, int n, int k) {
  multiply<2>(a, b, c, m, n, k);
}
extern "C" __global__ void racing(const float *a, const float *b, float *c, int m, int n, int k) {
  multiply<1>(a, b, c, m, n, k);
}

extern "C" __global__ void narrow(const __half2 *h, const __nv_bfloat162 *b, __half2 *hs,
                                  __nv_bfloat162 *bs) {
  int i = threadIdx.x;
  hs[i] = __hfma2(h[i], h[i], __hmul2(h[i], __float2half2_rn(0.5f)));
  bs[i] = __hmax2(__hfma2(b[i], b[i], b[i]), __hadd2(b[i], b[i]));
}

extern "C" __global__ void reversed(const float4 *x, float4 *y) {
  __shared__ float4 tile[128];
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  y[threadIdx.x] = tile[127 - threadIdx.x];
}

/// Function that is not inlined, with a loop whose trip count differs from lane to lane.
__device__ __noinline__ int stepsToOne(long long n) {
  int steps = 0;
  for (; n != 1; ++steps)
    n = n % 2 ? 3 * n + 1 : n / 2;
  return steps;
}

extern "C" __global__ void mixed(int *out, double *reals, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  int steps = stepsToOne(i + 1);
  switch (i % 5) {
  case 0:
    steps += 5;
    break;
  case 1:
    steps = __popc(steps) + __clz(steps);
    break;
  case 2:
    steps = __brev(steps) ^ __umulhi(steps, 0xdeadbeef);
    break;
  case 3:
    steps = steps / (i % 11 + 1) + steps % 13;
    break;
  }
  out[i] = steps;
  double real = reals[i];
  reals[i] = sqrt(real) / (real + 1) + floor(real);
}
