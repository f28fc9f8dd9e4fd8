// reprise: how a thread waits for another one that will not take long
#ifndef REPRISE_RUNTIME_BACKOFF_H
#define REPRISE_RUNTIME_BACKOFF_H

#include <chrono>
#include <immintrin.h>
#include <sched.h>

namespace reprise::runtime {

/// First it spins, for two microseconds: longer than the uneven end of most commands, and
/// shorter than a system call. Then it offers the processor to others, which costs little if nobody
/// wants it, and frees one that waits for this very processor. If somebody does want it, that lasts
/// for a slice of the scheduler's, so it is not done for long. Then it is time to sleep: a thread
/// that wakes up goes first.
class Backoff {
public:
  static constexpr unsigned someSpins = 80;

  explicit Backoff(unsigned spins = someSpins) : spins(spins) {}
  /// Waits a little, or returns false when it is time to sleep.
  bool pause() {
    if (spins != 0) {
      --spins;
      _mm_pause();
      return true;
    }
    Clock::time_point now = Clock::now();
    if (!isYielding) {
      isYielding = true;
      end = now + std::chrono::microseconds(100);
    }
    if (now >= end)
      return false;
    sched_yield();
    return true;
  }

private:
  using Clock = std::chrono::steady_clock;
  unsigned spins;
  bool isYielding = false;
  Clock::time_point end;
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_BACKOFF_H
