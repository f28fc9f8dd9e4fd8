// reprise: workers that meet at a barrier in about a microsecond
#include "reprise/Runtime/ThreadPool.h"
#include "reprise/Runtime/Backoff.h"

#include <climits>
#include <csignal>
#include <cstring>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

using namespace reprise::runtime;

namespace {

// Round to nearest, all exceptions masked, neither flush-to-zero nor denormals-are-zero.
constexpr unsigned plainFloatingPoint = 0x1f80;

void futex(std::atomic<uint32_t> &word, int operation, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), operation | FUTEX_PRIVATE_FLAG, value,
          nullptr, nullptr, 0);
}

} // namespace

void Barrier::release(uint32_t next) {
  epoch.store(next, std::memory_order_seq_cst);
  // Either this sees the sleeper's count, or the sleeper's futex call sees the new epoch.
  if (sleepers.load(std::memory_order_seq_cst) != 0)
    futex(epoch, FUTEX_WAKE, INT_MAX);
}

void Barrier::waitFor(uint32_t now) {
  Backoff backoff(spins);
  do
    if (epoch.load(std::memory_order_acquire) != now)
      return;
  while (backoff.pause());
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  while (epoch.load(std::memory_order_seq_cst) == now)
    futex(epoch, FUTEX_WAIT, now);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

unsigned reprise::runtime::availableProcessors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return CPU_COUNT(&set);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? unsigned(online) : 1;
}

ThreadPool::ThreadPool(unsigned size)
    : workers(size), meeting(size, size <= availableProcessors() ? Backoff::someSpins : 0) {}

Expected<std::unique_ptr<ThreadPool>> ThreadPool::create(unsigned size) {
  std::unique_ptr<ThreadPool> pool(new ThreadPool(size));
  pool->starts.resize(size);
  pool->threads.reserve(size);
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int code = 0;
  for (unsigned worker = 1; worker < size && code == 0; ++worker) {
    pool->starts[worker] = {pool.get(), worker};
    pthread_t thread;
    code = pthread_create(&thread, nullptr, threadMain, &pool->starts[worker]);
    if (code == 0)
      pool->threads.push_back(thread);
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (code == 0)
    return pool;
  // The destructor ends the threads that did start.
  pool->meeting.shrink(unsigned(pool->threads.size()) + 1);
  return Error::make("cannot start " + std::to_string(size) + " threads: " + std::strerror(code));
}

ThreadPool::~ThreadPool() {
  if (threads.empty())
    return;
  stop = true;
  meeting.wait([] {});
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
}

void *ThreadPool::threadMain(void *start) {
  auto *mine = static_cast<Start *>(start);
  _mm_setcsr(plainFloatingPoint);
  mine->pool->loop(mine->worker);
  return nullptr;
}

void ThreadPool::loop(unsigned worker) {
  for (;;) {
    meeting.wait([] {});
    if (stop)
      return;
    body(context, worker);
    meeting.wait([] {});
  }
}

void ThreadPool::run(void (*newBody)(void *, unsigned), void *newContext) {
  body = newBody;
  context = newContext;
  unsigned callers = _mm_getcsr();
  _mm_setcsr(plainFloatingPoint);
  meeting.wait([] {});
  body(context, 0);
  meeting.wait([] {});
  _mm_setcsr(callers);
}
