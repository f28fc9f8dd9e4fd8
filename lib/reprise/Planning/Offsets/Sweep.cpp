// reprise: offsets by a sweep over time with a free list
#include "Packing.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

using namespace reprise::offsets;

namespace {
/// The free blocks of an arena that grows upward without end. Sizes are multiples of the alignment.
class FreeList {
public:
  /// The tightest block that fits, the lowest of those; else the arena grows.
  int64_t allocate(int64_t size) {
    auto found = bySize.lower_bound({size, 0});
    if (found == bySize.end())
      return grow(size);
    auto [blockSize, offset] = *found;
    take(offset, blockSize);
    if (blockSize > size)
      give(offset + size, blockSize - size);
    return offset;
  }

  void release(int64_t offset, int64_t size) {
    auto next = byOffset.lower_bound(offset);
    if (next != byOffset.end() && offset + size == next->first) {
      size += next->second;
      take(next->first, next->second);
    }
    next = byOffset.lower_bound(offset);
    if (next != byOffset.begin()) {
      auto [start, length] = *std::prev(next);
      if (start + length == offset) {
        take(start, length);
        offset = start;
        size += length;
      }
    }
    give(offset, size);
  }

private:
  /// A free block at the top is extended.
  int64_t grow(int64_t size) {
    int64_t offset = top;
    if (!byOffset.empty()) {
      auto [start, length] = *byOffset.rbegin();
      if (start + length == top) {
        take(start, length);
        offset = start;
      }
    }
    top = offset + size;
    return offset;
  }
  void take(int64_t offset, int64_t size) {
    byOffset.erase(offset);
    bySize.erase({size, offset});
  }
  void give(int64_t offset, int64_t size) {
    byOffset[offset] = size;
    bySize.insert({size, offset});
  }

  std::map<int64_t, int64_t> byOffset;
  std::set<std::pair<int64_t, int64_t>> bySize; // (size, offset)
  int64_t top = 0;
};
} // namespace

std::vector<int64_t> reprise::offsets::sweep(const std::vector<Unit> &units, int64_t alignment,
                                             SweepOrder order, bool backward) {
  auto birth = [&](size_t i) { return backward ? -units[i].last : units[i].first; };
  auto death = [&](size_t i) { return backward ? -units[i].first : units[i].last; };
  auto rank = [&](size_t i) {
    return order == SweepOrder::Size ? units[i].size : units[i].last - units[i].first;
  };
  auto rounded = [&](size_t i) { return (units[i].size + alignment - 1) / alignment * alignment; };
  std::vector<size_t> births(units.size()), deaths;
  std::iota(births.begin(), births.end(), 0);
  deaths = births;
  std::sort(births.begin(), births.end(), [&](size_t a, size_t b) {
    return std::make_tuple(birth(a), -rank(a), -units[a].size, a) <
           std::make_tuple(birth(b), -rank(b), -units[b].size, b);
  });
  std::sort(deaths.begin(), deaths.end(), [&](size_t a, size_t b) {
    return std::make_pair(death(a), a) < std::make_pair(death(b), b);
  });
  std::vector<int64_t> offsets(units.size());
  FreeList list;
  size_t dead = 0;
  for (size_t unit : births) {
    for (; death(deaths[dead]) < birth(unit); ++dead)
      list.release(offsets[deaths[dead]], rounded(deaths[dead]));
    offsets[unit] = list.allocate(rounded(unit));
  }
  return offsets;
}
