// reprise: common parts of the kernel benchmarks: clocks, and workers like the runtime's
#ifndef REPRISE_UTILS_BENCH_MEASURE_H
#define REPRISE_UTILS_BENCH_MEASURE_H

#include "reprise/Target/Target.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace reprise::bench {

/// The flags that all benchmarks of kernels know. LLVM's libraries have registered some of these
/// names, so that its parser cannot serve.
struct Options {
  std::string target = "native", filter, json;
  int threads = 2, repetitions;

  /// `switches` are the flags without a value that this benchmark has of its own.
  Options(int repetitions, std::initializer_list<const char *> switches)
      : repetitions(repetitions) {
    for (const char *name : switches)
      own[name] = false;
  }
  /// Parses the flags. Prints an error and returns false for an unknown flag.
  bool parse(int argc, char **argv);
  bool has(llvm::StringRef name) const { return own.at(name); }

private:
  llvm::StringMap<bool> own;
};

/// Prints the geometric means of own over onednn of the rows with both, and writes the rows to the
/// file of `options`, if any; returns the exit code.
int finish(llvm::json::Array rows, const Options &options);

/// Sets the threads of oneDNN's OpenMP runtime, which need not be this compiler's.
inline void setLibraryThreads(int threads) {
  if (void *symbol = dlsym(RTLD_DEFAULT, "omp_set_num_threads"))
    reinterpret_cast<void (*)(int)>(symbol)(threads);
}

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Returns the seconds of this thread only: with one thread, other programs then disturb the
/// figures less.
inline double threadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

using KernelFn = void (*)(void *const *, int64_t, int64_t, void *);

/// Threads that spin between commands, as the runtime's workers do; items go to whoever asks first.
class Workers {
public:
  explicit Workers(int count, int64_t workspaceBytes) : count(count) {
    for (int i = 0; i < count; ++i)
      workspaces.push_back(aligned_alloc(64, llvm::alignTo(workspaceBytes + 64, 64)));
    for (int i = 1; i < count; ++i)
      threads.emplace_back([this, i] { serve(i); });
  }
  /// Ends the threads, which would otherwise spin during the turns of a library.
  void stop() {
    kernel = nullptr;
    round.fetch_add(1);
    for (std::thread &thread : threads)
      thread.join();
    threads.clear();
  }
  ~Workers() {
    stop();
    for (void *workspace : workspaces)
      free(workspace);
  }
  void run(KernelFn fn, int64_t total, void *const *pointers) {
    kernel = fn, items = total, buffers = pointers;
    next = 0;
    busy = count - 1;
    round.fetch_add(1);
    work(0);
    while (busy.load())
      __builtin_ia32_pause();
  }

private:
  void serve(int worker) {
    for (int64_t seen = 0;;) {
      while (round.load() == seen)
        __builtin_ia32_pause();
      seen = round.load();
      if (!kernel)
        return;
      work(worker);
      busy.fetch_sub(1);
    }
  }
  void work(int worker) {
    for (int64_t item; (item = next.fetch_add(1)) < items;)
      kernel(buffers, item, item + 1, workspaces[worker]);
  }
  int count;
  std::vector<std::thread> threads;
  std::vector<void *> workspaces;
  KernelFn kernel = nullptr;
  int64_t items = 0;
  void *const *buffers = nullptr;
  std::atomic<int64_t> next{0}, round{0};
  std::atomic<int> busy{0};
};

/// Maps memory with an image's kernels, which is never unmapped.
inline char *mapImage(const Image &image) {
  char *base = static_cast<char *>(mmap(nullptr, image.bytes.size(), PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memcpy(base, image.bytes.data(), image.bytes.size());
  mprotect(base, image.bytes.size(), PROT_READ | PROT_EXEC);
  return base;
}

/// Seconds of one call, the best of several measurements of about a millisecond or more.
struct Stopwatch {
  double (*clock)();
  double best = 1e30;
  void measure(double flops, llvm::function_ref<void()> call) {
    int calls = std::max(1, int(1e8 / flops));
    double start = clock();
    for (int i = 0; i < calls; ++i)
      call();
    best = std::min(best, (clock() - start) / calls);
  }
};

inline float *allocate(int64_t elements) {
  auto *data = static_cast<float *>(aligned_alloc(64, llvm::alignTo(elements * 4 + 64, 64)));
  for (int64_t i = 0; i < elements; ++i)
    data[i] = float(i * 37 % 101) / 101;
  return data;
}

} // namespace reprise::bench

#endif // REPRISE_UTILS_BENCH_MEASURE_H
