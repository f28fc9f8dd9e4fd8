// reprise: measured limits of this machine: the two bounds of the roofline model
#include "reprise/Runtime/MachineRates.h"
#include "reprise/Runtime/HostFeatures.h"
#include "reprise/Runtime/Memory.h"
#include "reprise/Runtime/ThreadPool.h"
#include "reprise/Runtime/Trace.h"

#include <algorithm>
#include <cstring>
#include <immintrin.h>

using namespace reprise::runtime;

namespace {

// Twelve chains hide the latency of two units of four or five cycles.
constexpr unsigned chains = 12, rounds = 200000;
constexpr unsigned repeats = 5;
constexpr uint64_t copied = 64 << 20;

/// Operations per call. The volatile sink keeps the chains.
using Multiply = double (*)(volatile float *sink);

__attribute__((target("avx512f"))) double multiply512(volatile float *sink) {
  __m512 sums[chains], factor = _mm512_set1_ps(*sink);
  for (__m512 &sum : sums)
    sum = factor;
  for (unsigned i = 0; i < rounds; ++i)
#pragma GCC unroll 12
    for (__m512 &sum : sums)
      sum = _mm512_fmadd_ps(sum, factor, factor);
  for (__m512 &sum : sums)
    *sink = _mm512_cvtss_f32(sum);
  return 2.0 * 16 * chains * rounds;
}

__attribute__((target("avx2,fma"))) double multiply256(volatile float *sink) {
  __m256 sums[chains], factor = _mm256_set1_ps(*sink);
  for (__m256 &sum : sums)
    sum = factor;
  for (unsigned i = 0; i < rounds; ++i)
#pragma GCC unroll 12
    for (__m256 &sum : sums)
      sum = _mm256_fmadd_ps(sum, factor, factor);
  for (__m256 &sum : sums)
    *sink = _mm256_cvtss_f32(sum);
  return 2.0 * 8 * chains * rounds;
}

struct Work {
  unsigned workers;
  char *from, *to;
  Multiply multiply;
  double operations;
};

void copyPart(void *context, unsigned worker) {
  auto *work = static_cast<Work *>(context);
  uint64_t begin = copied / work->workers * worker;
  uint64_t end = worker + 1 == work->workers ? copied : copied / work->workers * (worker + 1);
  std::memcpy(work->to + begin, work->from + begin, end - begin);
}

void multiplyPart(void *context, unsigned worker) {
  auto *work = static_cast<Work *>(context);
  volatile float sink = 0;
  double operations = work->multiply(&sink);
  if (worker == 0)
    work->operations = operations * work->workers;
}

/// The shortest of several runs, in seconds.
double shortest(ThreadPool &pool, void (*body)(void *, unsigned), Work &work) {
  uint64_t best = UINT64_MAX;
  for (unsigned i = 0; i < repeats; ++i) {
    uint64_t start = nanoseconds();
    pool.run(body, &work);
    best = std::min(best, nanoseconds() - start);
  }
  return double(std::max<uint64_t>(best, 1)) * 1e-9;
}

} // namespace

double MachineRates::boundSeconds(double flops, double bytes) const {
  return std::max(flops / peakFlops, bytes / copyBytes);
}

Expected<MachineRates> reprise::runtime::measureMachineRates(unsigned threads) {
  Expected<std::unique_ptr<ThreadPool>> pool = ThreadPool::create(threads);
  if (!pool)
    return pool.error();
  Expected<Pages> memory = Pages::allocate(2 * copied, "the measurement of copies");
  if (!memory)
    return memory.error();
  std::memset(memory->data(), 1, 2 * copied);
  char *base = reinterpret_cast<char *>(memory->data());
  // Bundles need at least x86-64-v3, which has fma.
  Work work = {threads, base, base + copied, hostHasFeature("avx512f") ? multiply512 : multiply256,
               0};
  MachineRates rates;
  rates.copyBytes = 2.0 * copied / shortest(**pool, copyPart, work);
  double seconds = shortest(**pool, multiplyPart, work);
  rates.peakFlops = work.operations / seconds;
  return rates;
}
