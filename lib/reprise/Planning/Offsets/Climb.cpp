// reprise: hill climbing over the order in which units are placed
#include "Packing.h"
#include "reprise/Support/SplitMix.h"

#include <algorithm>
#include <numeric>

using namespace reprise::offsets;

namespace {
class Random : public reprise::SplitMix {
public:
  Random() : SplitMix(1) {}
  uint64_t below(uint64_t bound) { return next() % bound; }
};
} // namespace

/// Orders units by their offsets. Placing them again in this order never raises a unit.
static std::vector<int32_t> orderByOffset(const std::vector<int64_t> &offsets) {
  std::vector<int32_t> order(offsets.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return std::make_pair(offsets[a], a) < std::make_pair(offsets[b], b);
  });
  return order;
}

/// Picks the start of a move: a unit that reaches the height, or one that conflicts with it. No
/// other unit can lower the height.
static size_t pickStart(const std::vector<Unit> &units, const Conflicts &conflicts,
                        const std::vector<int64_t> &offsets, const std::vector<int32_t> &order,
                        int64_t height, Random &random) {
  std::vector<size_t> tops;
  for (size_t position = 0; position < order.size(); ++position)
    if (offsets[order[position]] + units[order[position]].size == height)
      tops.push_back(position);
  size_t top = tops[random.below(tops.size())];
  size_t neighbours = conflicts.end(order[top]) - conflicts.begin(order[top]);
  if (random.below(2) || neighbours == 0)
    return top;
  int32_t other = (conflicts.begin(order[top]) + random.below(neighbours))->other;
  return std::find(order.begin(), order.end(), other) - order.begin();
}

/// Swaps two units of the order, or moves one to the place of the other.
static void change(std::vector<int32_t> &order, size_t from, size_t to, bool swap) {
  auto at = [&](size_t position) { return order.begin() + position; };
  if (swap)
    std::swap(order[from], order[to]);
  else if (from > to)
    std::rotate(at(to), at(from), at(from + 1));
  else
    std::rotate(at(from), at(from + 1), at(to + 1));
}

void reprise::offsets::climb(const std::vector<Unit> &units, const Conflicts &conflicts,
                             Packer &packer, int64_t bound, const SolveOptions &options,
                             std::vector<int64_t> &offsets) {
  Random random;
  std::vector<int32_t> order = orderByOffset(offsets);
  int64_t height = heightOf(units, offsets);
  for (int64_t move = 0; move < options.moves && packer.visits < options.visits; ++move) {
    if (height <= bound)
      return;
    std::vector<int32_t> next = order;
    size_t from = pickStart(units, conflicts, offsets, order, height, random);
    change(next, from, random.below(next.size()), random.below(2));
    // We accept equal heights as well, because the path down often crosses a plateau.
    std::vector<int64_t> packed = packer.pack(next, Packer::Fit::Lowest, height);
    if (packed.empty())
      continue;
    offsets = std::move(packed);
    order = orderByOffset(offsets);
    height = heightOf(units, offsets);
  }
}
