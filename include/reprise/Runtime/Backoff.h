// reprise: waits of a thread for another thread that will not take long
#ifndef REPRISE_RUNTIME_BACKOFF_H
#define REPRISE_RUNTIME_BACKOFF_H

#include <chrono>
#include <immintrin.h>
#include <sched.h>

namespace reprise::runtime {

/// Waits in three steps: spins, yields the processor, tells the caller to sleep. Spinning lasts two
/// microseconds: longer than the uneven end of most commands, and shorter than a system call.
/// Yielding costs little if no thread wants the processor, and frees a thread that waits for this
/// very processor. If another thread does want the processor, a yield lasts for a slice of the
/// scheduler, so yielding ends after 100 microseconds. Sleeping comes last, because a thread that
/// wakes up is scheduled first.
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
