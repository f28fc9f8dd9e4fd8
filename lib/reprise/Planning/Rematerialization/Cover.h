// reprise: the cheapest items with so many bytes
#ifndef REPRISE_LIB_PLANNING_REMATERIALIZATION_COVER_H
#define REPRISE_LIB_PLANNING_REMATERIALIZATION_COVER_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace reprise::remat {

/// What an operation's results free if it runs again.
struct Item {
  int operation;
  double cost;
  int64_t bytes; ///< at least 1
};

struct Cover {
  double cost = 0;        ///< no items with that many bytes are cheaper
  std::vector<int> items; ///< operations of a cover, if it was found; it costs as much, mostly
};

/// The 0/1 knapsack by lists of states without dominated ones (Nemhauser and Ullmann, 1969), pruned
/// by the fractional knapsack of what is left. Lists that grow beyond `kCoverStates` are made
/// shorter by states that are as good as two, which keeps the result a lower bound; more than
/// `kCoverItems` items are taken in parts, which weakens it by less than one item. A search that
/// cannot reach `known` is not begun. All items together have enough bytes.
Cover coverLeast(std::vector<Item> items, int64_t bytes, double known);
inline constexpr size_t kCoverStates = 2000, kCoverItems = 2000;

} // namespace reprise::remat

#endif // REPRISE_LIB_PLANNING_REMATERIALIZATION_COVER_H
