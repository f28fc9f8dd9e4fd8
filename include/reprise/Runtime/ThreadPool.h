// reprise: workers that meet at a barrier in about a microsecond
#ifndef REPRISE_RUNTIME_THREADPOOL_H
#define REPRISE_RUNTIME_THREADPOOL_H

#include "reprise/Runtime/Error.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <pthread.h>
#include <vector>

namespace reprise::runtime {

/// Barrier at which `count` threads wait for the last thread. Threads spin first, since a launch is
/// shorter than a system call, then sleep in a futex.
class Barrier {
public:
  Barrier(unsigned count, unsigned spins) : count(count), spins(spins) {}
  /// Waits for all threads. `last` runs in the last thread, before any thread continues.
  template <typename Last> void wait(Last last) {
    uint32_t now = epoch.load(std::memory_order_acquire);
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 ==
        count.load(std::memory_order_relaxed)) {
      last();
      arrived.store(0, std::memory_order_relaxed);
      release(now + 1);
    } else {
      waitFor(now);
    }
  }
  /// Reduces the number of threads by `fewer`. The caller has not reached the barrier yet; other
  /// threads may wait at it.
  void shrink(unsigned fewer) { count.store(fewer, std::memory_order_release); }

private:
  void release(uint32_t next);
  void waitFor(uint32_t now);

  std::atomic<unsigned> count;
  const unsigned spins;
  alignas(64) std::atomic<uint32_t> arrived{0};
  alignas(64) std::atomic<uint32_t> epoch{0};
  alignas(64) std::atomic<uint32_t> sleepers{0};
};

/// Pool of `size` workers; the thread that calls run() is worker 0. In run() every worker rounds to
/// nearest, keeps denormals and masks floating-point exceptions. Workers other than 0 block all
/// signals.
class ThreadPool {
public:
  static Expected<std::unique_ptr<ThreadPool>> create(unsigned size);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  unsigned size() const { return workers; }
  /// Calls body(context, worker) in every worker and returns when all calls have returned.
  /// Allocates no memory. Only one thread may call it at a time.
  void run(void (*body)(void *context, unsigned worker), void *context);
  /// Returns the barrier for the workers within a body.
  Barrier &barrier() { return meeting; }

private:
  explicit ThreadPool(unsigned size);
  struct Start {
    ThreadPool *pool;
    unsigned worker;
  };
  static void *threadMain(void *start);
  void loop(unsigned worker);

  const unsigned workers;
  Barrier meeting;
  void (*body)(void *, unsigned) = nullptr;
  void *context = nullptr;
  bool stop = false;
  std::vector<Start> starts;
  std::vector<pthread_t> threads;
};

/// Returns the number of processors that this process may use.
unsigned availableProcessors();

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_THREADPOOL_H
