// reprise: offsets by a sweep over time with a free list
#include "Sweep.h"

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
  /// Makes a list in which all bytes below `top` are in use.
  explicit FreeList(int64_t top = 0) : top(top) {}

  /// Allocates the tightest block that fits, the lowest of equal ones; otherwise the arena grows.
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
  int64_t top;
};

/// Places `births` in their order; `deaths` are these units and those that already have a place in
/// `list`.
void allocate(const Direction &direction, const std::vector<size_t> &births,
              const std::vector<size_t> &deaths, FreeList &list, std::vector<int64_t> &offsets) {
  size_t dead = 0;
  for (size_t unit : births) {
    for (; direction.death(deaths[dead]) < direction.birth(unit); ++dead)
      list.release(offsets[deaths[dead]], direction.rounded(deaths[dead]));
    offsets[unit] = list.allocate(direction.rounded(unit));
  }
}
} // namespace

void Direction::sortByBirth(std::vector<size_t> &list, SweepOrder order) const {
  auto rank = [&](size_t i) {
    return order == SweepOrder::Size ? units[i].size : units[i].last - units[i].first;
  };
  std::sort(list.begin(), list.end(), [&](size_t a, size_t b) {
    return std::make_tuple(birth(a), -rank(a), -units[a].size, a) <
           std::make_tuple(birth(b), -rank(b), -units[b].size, b);
  });
}

void Direction::sortByDeath(std::vector<size_t> &list) const {
  std::sort(list.begin(), list.end(), [&](size_t a, size_t b) {
    return std::make_pair(death(a), a) < std::make_pair(death(b), b);
  });
}

int64_t reprise::offsets::findPeak(const std::vector<Unit> &units) {
  std::vector<std::pair<int64_t, int64_t>> changes;
  for (const Unit &unit : units) {
    changes.push_back({unit.first, unit.size});
    changes.push_back({unit.last + 1, -unit.size});
  }
  std::sort(changes.begin(), changes.end());
  int64_t load = 0, most = 0, peak = 0;
  for (auto [time, change] : changes) {
    load += change;
    if (load > most) {
      most = load;
      peak = time;
    }
  }
  return peak;
}

std::vector<size_t> reprise::offsets::stackPeak(const std::vector<Unit> &units, int64_t peak,
                                                StackOrder order) {
  std::vector<size_t> stack;
  for (size_t i = 0; i < units.size(); ++i)
    if (units[i].first <= peak && peak <= units[i].last)
      stack.push_back(i);
  auto key = [&](size_t i) {
    return order == StackOrder::Birth   ? units[i].first
           : order == StackOrder::Death ? -units[i].last
                                        : units[i].first - units[i].last;
  };
  std::sort(stack.begin(), stack.end(), [&](size_t a, size_t b) {
    return std::make_pair(key(a), a) < std::make_pair(key(b), b);
  });
  return stack;
}

int64_t reprise::offsets::layStack(const std::vector<Unit> &units, int64_t alignment,
                                   const std::vector<size_t> &stack,
                                   std::vector<int64_t> &offsets) {
  int64_t top = 0;
  for (size_t unit : stack) {
    offsets[unit] = top;
    top += (units[unit].size + alignment - 1) / alignment * alignment;
  }
  return top;
}

std::vector<size_t> reprise::offsets::bornAfter(const Direction &direction, int64_t peak) {
  std::vector<size_t> births;
  int64_t now = direction.backward ? -peak : peak;
  for (size_t i = 0; i < direction.units.size(); ++i)
    if (direction.birth(i) > now)
      births.push_back(i);
  direction.sortByBirth(births, SweepOrder::Size);
  return births;
}

std::vector<int64_t> reprise::offsets::sweep(const std::vector<Unit> &units, int64_t alignment,
                                             SweepOrder order, bool backward) {
  Direction direction{units, alignment, backward};
  std::vector<size_t> births(units.size());
  std::iota(births.begin(), births.end(), 0);
  std::vector<size_t> deaths = births;
  direction.sortByBirth(births, order);
  direction.sortByDeath(deaths);
  std::vector<int64_t> offsets(units.size());
  FreeList list;
  allocate(direction, births, deaths, list, offsets);
  return offsets;
}

std::vector<int64_t> reprise::offsets::sweepFromPeak(const std::vector<Unit> &units,
                                                     int64_t alignment, StackOrder order) {
  int64_t peak = findPeak(units);
  std::vector<int64_t> offsets(units.size());
  std::vector<size_t> stack = stackPeak(units, peak, order);
  int64_t top = layStack(units, alignment, stack, offsets);
  for (bool backward : {false, true}) {
    Direction direction{units, alignment, backward};
    std::vector<size_t> births = bornAfter(direction, peak), deaths = stack;
    deaths.insert(deaths.end(), births.begin(), births.end());
    direction.sortByDeath(deaths);
    FreeList list(top);
    allocate(direction, births, deaths, list, offsets);
  }
  return offsets;
}
