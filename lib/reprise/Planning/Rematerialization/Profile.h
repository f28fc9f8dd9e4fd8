// reprise: the bytes at each place of a schedule, against a budget
#ifndef REPRISE_LIB_PLANNING_REMATERIALIZATION_PROFILE_H
#define REPRISE_LIB_PLANNING_REMATERIALIZATION_PROFILE_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reprise::remat {

/// Bytes more or less from a place to the end of the range that a change touches.
struct Step {
  int from;
  int64_t bytes;
};

/// Ordered by place; there are few.
class Steps {
public:
  void clear() { steps.clear(); }
  void add(int from, int64_t bytes) {
    steps.push_back({from, bytes});
    for (size_t i = steps.size() - 1; i > 0 && steps[i - 1].from > steps[i].from; --i)
      std::swap(steps[i - 1], steps[i]);
  }
  /// Calls `visit(begin, end, bytes)` for each part of the range that gets the same bytes.
  template <typename Visit> void forEach(int begin, int end, Visit visit) const {
    int64_t bytes = 0;
    for (const Step &step : steps) {
      int from = std::max(begin, step.from);
      if (from >= end)
        break;
      if (from > begin && bytes != 0)
        visit(begin, from, bytes);
      begin = from;
      bytes += step.bytes;
    }
    if (begin < end && bytes != 0)
      visit(begin, end, bytes);
  }
  bool empty() const { return steps.empty(); }
  int first() const { return steps.front().from; }

private:
  std::vector<Step> steps;
};

/// Bytes above the budget at each place; below it they are negative.
class Profile {
public:
  int64_t operator[](size_t place) const { return above[place]; }
  int64_t excess() const { return total; }
  int64_t most() const { return *std::max_element(above.begin(), above.end()); }

  /// What `excess` would grow by.
  int64_t growth(int begin, int end, const Steps &steps) const {
    int64_t sum = 0;
    steps.forEach(begin, end, [&](int from, int to, int64_t bytes) {
      for (const int64_t *at = &above[from], *last = &above[0] + to; at != last; ++at)
        sum += excessOf(*at + bytes) - excessOf(*at);
    });
    return sum;
  }
  void add(int begin, int end, const Steps &steps) {
    total += growth(begin, end, steps);
    steps.forEach(begin, end, [&](int from, int to, int64_t bytes) {
      for (int64_t *at = &above[from], *last = &above[0] + to; at != last; ++at)
        *at += bytes;
    });
  }
  void insert(int place, int64_t bytes) {
    above.insert(above.begin() + place, bytes);
    total += excessOf(bytes);
  }
  void erase(int place) {
    total -= excessOf(above[place]);
    above.erase(above.begin() + place);
  }
  /// Takes one place out and puts it in elsewhere, with other bytes.
  void move(int from, int to, int64_t bytes) {
    total += excessOf(bytes) - excessOf(above[from]);
    if (from < to)
      std::copy(above.begin() + from + 1, above.begin() + to + 1, above.begin() + from);
    else
      std::copy_backward(above.begin() + to, above.begin() + from, above.begin() + from + 1);
    above[to] = bytes;
  }

  static int64_t excessOf(int64_t bytes) { return bytes & ~(bytes >> 63); }

private:
  std::vector<int64_t> above;
  int64_t total = 0;
};

} // namespace reprise::remat

#endif // REPRISE_LIB_PLANNING_REMATERIALIZATION_PROFILE_H
