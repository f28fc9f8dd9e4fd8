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

/// All of `count` threads wait until the last one has come. They spin for a while, since a launch
/// is shorter than a system call, then sleep in a futex.
class Barrier {
public:
  Barrier(unsigned count, unsigned spins) : count(count), spins(spins) {}
  /// `last` runs in the thread that came last, before any thread goes on.
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
  /// From now on `fewer` threads meet. For a caller that has not come yet while others wait.
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

/// `size` workers, of which the thread that calls run() is number 0. Within run() every worker
/// rounds to nearest, keeps denormals and masks floating-point exceptions. The others block all
/// signals.
class ThreadPool {
public:
  static Expected<std::unique_ptr<ThreadPool>> create(unsigned size);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  unsigned size() const { return workers; }
  /// Calls body(context, worker) in every worker and returns when all have returned. Allocates
  /// nothing. One caller at a time.
  void run(void (*body)(void *context, unsigned worker), void *context);
  /// Called by every worker within a body.
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

/// Processors that this process may use.
unsigned availableProcessors();

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_THREADPOOL_H
