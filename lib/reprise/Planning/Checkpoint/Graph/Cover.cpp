// reprise: the cheapest items with so many bytes
#include "Cover.h"

#include <algorithm>
#include <limits>

namespace reprise::checkpoint {

namespace {

class Search {
public:
  Search(std::vector<CoverItem> given, int64_t bytes) : items(std::move(given)), needed(bytes) {
    std::sort(items.begin(), items.end(), [](const CoverItem &a, const CoverItem &b) {
      return a.cost * static_cast<double>(b.bytes) < b.cost * static_cast<double>(a.bytes);
    });
    costs.push_back(0);
    sums.push_back(0);
    for (const CoverItem &item : items) {
      costs.push_back(costs.back() + item.cost);
      sums.push_back(sums.back() + item.bytes);
    }
  }
  /// Returns the least cost of items from one on, if fractions are allowed; infinite if all of them
  /// have too few bytes.
  double costInParts(size_t from, int64_t bytes) const {
    if (bytes <= 0)
      return 0;
    auto at =
        std::lower_bound(sums.begin() + static_cast<long>(from), sums.end(), sums[from] + bytes);
    if (at == sums.end())
      return std::numeric_limits<double>::infinity();
    size_t last = static_cast<size_t>(at - sums.begin()) - 1; // taken in part
    double part = static_cast<double>(sums[from] + bytes - sums[last]) /
                  static_cast<double>(items[last].bytes);
    return costs[last] - costs[from] + part * items[last].cost;
  }
  double costInParts() const { return costInParts(0, needed); }
  /// Finds the cheapest cover that has the best items and one more.
  void fill();
  void run();
  double found() const { return incumbent; }
  size_t size() const { return items.size(); }
  Cover cover() const;

private:
  /// Result of decisions on the items so far.
  struct State {
    double cost;
    int64_t bytes; // still needed
    int taken;     // in `trail`; -1: nothing
  };
  struct Taken {
    int item, before;
  };

  void advance(size_t item);
  void offer(const State &state, size_t item);
  void shorten();

  std::vector<CoverItem> items; // the cheapest per byte first
  int64_t needed;
  std::vector<double> costs; // of all items before one
  std::vector<int64_t> sums;
  double incumbent = std::numeric_limits<double>::infinity();
  int last = -1; // of the incumbent, in `trail`
  bool isExact = true;
  std::vector<State> states, next; // by cost; the dearer one needs less
  std::vector<Taken> trail;
};

void Search::fill() {
  static constexpr size_t most = 64; // of the items that the parts take, left out
  size_t count = 0, one = 0;
  auto at = std::lower_bound(sums.begin(), sums.end(), needed);
  size_t end = static_cast<size_t>(at - sums.begin());
  for (size_t k = end > most ? end - most : 0; k < end; ++k)
    for (size_t i = k; i < items.size(); ++i)
      if (sums[k] + items[i].bytes >= needed && costs[k] + items[i].cost < incumbent) {
        incumbent = costs[k] + items[i].cost;
        count = k;
        one = i;
      }
  for (size_t i = 0; i < count; ++i)
    trail.push_back({static_cast<int>(i), static_cast<int>(i) - 1});
  trail.push_back({static_cast<int>(one), static_cast<int>(count) - 1});
  last = static_cast<int>(count);
}

/// Adds a state to `next` unless another one dominates it or its bound reaches the incumbent.
void Search::offer(const State &state, size_t item) {
  if (!next.empty() && next.back().bytes <= state.bytes)
    return;
  if (state.cost + costInParts(item, state.bytes) < incumbent)
    next.push_back(state);
}

void Search::advance(size_t item) {
  next.clear();
  size_t kept = 0;
  auto offerKept = [&](double cost) {
    for (; kept < states.size() && states[kept].cost <= cost; ++kept)
      offer(states[kept], item + 1);
  };
  for (const State &state : states) {
    State more{state.cost + items[item].cost, state.bytes - items[item].bytes, state.taken};
    offerKept(more.cost);
    if (more.cost >= incumbent)
      break;
    if (more.bytes > 0 && !next.empty() && next.back().bytes <= more.bytes)
      continue;
    trail.push_back({static_cast<int>(item), state.taken});
    more.taken = static_cast<int>(trail.size()) - 1;
    if (more.bytes <= 0) {
      incumbent = more.cost;
      last = more.taken;
    } else {
      offer(more, item + 1);
    }
  }
  offerKept(std::numeric_limits<double>::infinity());
  states.swap(next);
}

/// Merges neighbours into states with the cost of the cheaper one and the bytes of the dearer one.
void Search::shorten() {
  isExact = false;
  for (size_t i = 0; 2 * i < states.size(); ++i) {
    states[i] = states[2 * i];
    if (2 * i + 1 < states.size())
      states[i].bytes = states[2 * i + 1].bytes;
  }
  states.resize((states.size() + 1) / 2);
}

void Search::run() {
  states.assign(1, {0, needed, -1});
  for (size_t item = 0; item < items.size() && !states.empty(); ++item) {
    advance(item);
    if (states.size() > kCoverStates)
      shorten();
  }
}

Cover Search::cover() const {
  Cover cover{std::max(incumbent, costInParts()), {}};
  for (int at = last; isExact && at >= 0; at = trail[at].before)
    cover.items.push_back(items[trail[at].item].operation);
  return cover;
}

} // namespace

Cover coverLeast(std::vector<CoverItem> items, int64_t bytes, double known) {
  if (bytes <= 0)
    return {};
  Search search(std::move(items), bytes);
  if (search.size() > kCoverItems)
    return {search.costInParts(), {}};
  search.fill();
  if (search.found() <= known)
    return {search.costInParts(), {}};
  search.run();
  return search.cover();
}

} // namespace reprise::checkpoint
