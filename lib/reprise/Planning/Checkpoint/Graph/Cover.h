// reprise: the cheapest items with so many bytes
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_GRAPH_COVER_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_GRAPH_COVER_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace reprise::checkpoint {

/// Results of an operation, whose bytes are free if the operation runs again later.
struct CoverItem {
  int operation = 0;
  double cost = 0;
  int64_t bytes = 1;
};

struct Cover {
  double cost = 0;        ///< lower bound of the cost of items with that many bytes
  std::vector<int> items; ///< operations of a cover that mostly costs as much; may be empty
};

/// Solves the 0/1 knapsack by lists of states without dominated ones (Nemhauser and Ullmann, 1969),
/// pruned by the fractional knapsack of the other items. A list of more than `kCoverStates` states
/// is made shorter by states that are as good as two, so that the cost stays a lower bound. More
/// than `kCoverItems` items are taken in fractions, which weakens the bound by less than one item.
/// A search that cannot reach `known` is not begun. All items together must have enough bytes.
Cover coverLeast(std::vector<CoverItem> items, int64_t bytes, double known);
inline constexpr size_t kCoverStates = 2000, kCoverItems = 2000;

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_GRAPH_COVER_H
