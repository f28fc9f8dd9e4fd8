// reprise: sets of up to 128 numbers, for tests
#ifndef REPRISE_TEST_PLANNING_SMALLSETS_H
#define REPRISE_TEST_PLANNING_SMALLSETS_H

#include <cstdint>

namespace reprise::checkpoint::test {

/// Set of operations or values; bit i stands for number i.
using Set = unsigned __int128;

inline Set bit(int i) { return Set{1} << i; }
inline bool has(Set set, int i) { return (set >> i & 1) != 0; }

inline int countOf(Set set) {
  return __builtin_popcountll(static_cast<uint64_t>(set)) +
         __builtin_popcountll(static_cast<uint64_t>(set >> 64));
}

/// Visits the members of a set, ascending.
template <typename Visit> void forEach(Set set, Visit visit) {
  for (int first : {0, 64})
    for (auto part = static_cast<uint64_t>(set >> first); part != 0; part &= part - 1)
      visit(first + __builtin_ctzll(part));
}

} // namespace reprise::checkpoint::test

#endif // REPRISE_TEST_PLANNING_SMALLSETS_H
