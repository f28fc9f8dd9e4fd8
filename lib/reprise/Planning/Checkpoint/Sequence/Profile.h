// reprise: bytes at the steps of a sequence, against a budget
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_PROFILE_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_PROFILE_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace reprise::checkpoint {

/// Bytes more or less from places on, by place. There are few.
struct Changes {
  void add(int place, int64_t bytes) {
    list.push_back({place, bytes});
    for (size_t i = list.size() - 1; i > 0 && list[i - 1].first > list[i].first; --i)
      std::swap(list[i - 1], list[i]);
  }
  /// Calls `visit(begin, end, bytes)` for each part of a range that changes alike.
  template <typename Visit> void forEach(int begin, int end, Visit visit) const {
    int64_t bytes = 0;
    for (auto [place, more] : list) {
      int to = std::clamp(place, begin, end);
      if (to > begin && bytes != 0)
        visit(begin, to, bytes);
      begin = to;
      bytes += more;
    }
    if (begin < end && bytes != 0)
      visit(begin, end, bytes);
  }

  std::vector<std::pair<int, int64_t>> list;
};

/// Bytes beyond a budget per place, negative below it, and their sum over all places above it.
struct Profile {
  static int64_t excessOf(int64_t bytes) { return std::max<int64_t>(0, bytes); }

  /// Returns by how much `excess` grows if all places of a range get more bytes.
  int64_t findGrowth(int begin, int end, int64_t bytes) const {
    int64_t growth = 0;
    for (const int64_t *at = above.data() + begin, *last = above.data() + end; at < last; ++at)
      growth += excessOf(*at + bytes) - excessOf(*at);
    return growth;
  }
  int64_t findGrowth(int begin, int end, const Changes &changes) const {
    int64_t growth = 0;
    changes.forEach(begin, end, [&](int from, int to, int64_t bytes) {
      growth += findGrowth(from, to, bytes);
    });
    return growth;
  }
  void add(int begin, int end, int64_t bytes) {
    int64_t growth = 0;
    for (int64_t *at = above.data() + begin, *last = above.data() + end; at < last; ++at) {
      growth -= excessOf(*at);
      *at += bytes;
      growth += excessOf(*at);
    }
    excess += growth;
  }
  void insert(int place, int64_t bytes) {
    above.insert(above.begin() + place, bytes);
    excess += excessOf(bytes);
  }
  void erase(int place) {
    excess -= excessOf(above[place]);
    above.erase(above.begin() + place);
  }
  /// Takes a place out and puts it in elsewhere, with other bytes.
  void move(int from, int to, int64_t bytes) {
    excess += excessOf(bytes) - excessOf(above[from]);
    rotate(above, from, to);
    above[to] = bytes;
  }
  void setBudget(int64_t bytes) {
    add(0, static_cast<int>(above.size()), budget - bytes);
    budget = bytes;
  }

  /// Moves one entry of a list.
  template <typename T> static void rotate(std::vector<T> &list, int from, int to) {
    auto first = list.begin();
    if (from < to)
      std::rotate(first + from, first + from + 1, first + to + 1);
    else
      std::rotate(first + to, first + from, first + from + 1);
  }

  int64_t budget = 0;
  std::vector<int64_t> above;
  int64_t excess = 0;
};

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_PROFILE_H
