// reprise: random numbers for searches and tests; models draw from Philox
#ifndef REPRISE_SUPPORT_SPLITMIX_H
#define REPRISE_SUPPORT_SPLITMIX_H

#include <cstdint>

namespace reprise {

/// Sequence that depends only on the seed, the same on every machine (Steele et al., Fast
/// Splittable Pseudorandom Number Generators, OOPSLA 2014).
class SplitMix {
public:
  explicit SplitMix(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Returns a number from 0 to `count` - 1.
  int below(int count) {
    return static_cast<int>(static_cast<unsigned __int128>(next()) * count >> 64);
  }
  /// Returns a number of at least 0 and below 1.
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
  uint64_t state;
};

} // namespace reprise

#endif // REPRISE_SUPPORT_SPLITMIX_H
