// reprise: bytes at many places, of which only the most in a range is asked
#ifndef REPRISE_LIB_PLANNING_REMATERIALIZATION_CEILING_H
#define REPRISE_LIB_PLANNING_REMATERIALIZATION_CEILING_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reprise::remat {

/// A tree of sums over ranges: both operations take O(log places).
class Ceiling {
public:
  explicit Ceiling(const std::vector<int64_t> &bytes) : count(bytes.size()) {
    while (leaves < count)
      leaves *= 2;
    most.assign(2 * leaves, 0);
    added.assign(leaves, 0);
    std::copy(bytes.begin(), bytes.end(), most.begin() + static_cast<long>(leaves));
    for (size_t node = leaves - 1; node > 0; --node)
      most[node] = std::max(most[2 * node], most[2 * node + 1]);
  }
  void add(size_t begin, size_t end, int64_t bytes) {
    if (begin >= end)
      return;
    size_t low = begin + leaves, high = end + leaves;
    for (size_t l = low, h = high; l < h; l /= 2, h /= 2) {
      if (l % 2)
        apply(l++, bytes);
      if (h % 2)
        apply(--h, bytes);
    }
    pull(low);
    pull(high - 1);
  }
  int64_t mostIn(size_t begin, size_t end) const {
    int64_t found = INT64_MIN;
    // Nodes on the way up carry what was added to all below them.
    for (size_t place = begin + leaves, last = end + leaves; place < last;) {
      size_t node = place, width = 1;
      while (node % 2 == 0 && place + 2 * width <= last) {
        node /= 2;
        width *= 2;
      }
      int64_t bytes = most[node];
      for (size_t above = node / 2; above > 0; above /= 2)
        bytes += added[above];
      found = std::max(found, bytes);
      place += width;
    }
    return found;
  }

private:
  void apply(size_t node, int64_t bytes) {
    most[node] += bytes;
    if (node < leaves)
      added[node] += bytes;
  }
  void pull(size_t node) {
    for (node /= 2; node > 0; node /= 2)
      most[node] = std::max(most[2 * node], most[2 * node + 1]) + added[node];
  }

  size_t count, leaves = 1;
  std::vector<int64_t> most, added;
};

} // namespace reprise::remat

#endif // REPRISE_LIB_PLANNING_REMATERIALIZATION_CEILING_H
