// reprise: offsets by repeated packing without a table of conflicts
#include "Packing.h"

#include <algorithm>
#include <numeric>

using namespace reprise::offsets;

/// Placed units scanned per visit: they are contiguous, unlike those of a table.
static constexpr int64_t kScannedPerVisit = 8;

/// Exponent by which a unit that reaches above the bound comes earlier next time. Of values from
/// 1.05 to 16, 1.5 to 4 were best.
static constexpr double kPush = 1.5;

/// Rounds without a lower height after which a start is abandoned.
static constexpr int kPatience = 12;

namespace {
/// Scanner that places units one by one, each as low as possible, among placed units in the order
/// of their offsets. A group fills its hull.
class Scanner {
public:
  Scanner(const std::vector<Unit> &units, int64_t alignment)
      : units(units), alignment(alignment), offsets(units.size()) {
    placed.reserve(units.size());
  }

  const std::vector<int64_t> &pack(const std::vector<int32_t> &order) {
    placed.clear();
    for (int32_t unit : order)
      offsets[unit] = place(units[unit]);
    return offsets;
  }

  int64_t scanned = 0;

private:
  struct Place {
    int64_t first, last, offset, top;
  };

  int64_t place(const Unit &unit) {
    int64_t offset = 0;
    for (const Place &other : placed) {
      ++scanned;
      if (other.last < unit.first || unit.last < other.first)
        continue;
      if (other.offset - offset >= unit.size)
        break;
      offset = std::max(offset, other.top);
    }
    auto above =
        std::upper_bound(placed.begin(), placed.end(), offset,
                         [](int64_t bytes, const Place &other) { return bytes < other.offset; });
    int64_t top = (offset + unit.size + alignment - 1) / alignment * alignment;
    placed.insert(above, {unit.first, unit.last, offset, top});
    return offset;
  }

  const std::vector<Unit> &units;
  int64_t alignment;
  std::vector<int64_t> offsets;
  std::vector<Place> placed;
};
} // namespace

static std::vector<int32_t> lowestFirst(const std::vector<double> &keys) {
  std::vector<int32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return std::make_pair(keys[a], a) < std::make_pair(keys[b], b);
  });
  return order;
}

std::vector<int64_t> reprise::offsets::packLargestFirst(const std::vector<Unit> &units,
                                                        int64_t alignment, int64_t visits) {
  int64_t count = static_cast<int64_t>(units.size());
  if (count * count / 2 > kScannedPerVisit * visits)
    return {};
  std::vector<double> keys;
  for (const Unit &unit : units)
    keys.push_back(-static_cast<double>(unit.size));
  return Scanner(units, alignment).pack(lowestFirst(keys));
}

bool reprise::offsets::improveByScans(const std::vector<Unit> &units, int64_t alignment,
                                      int64_t bound, const SolveOptions &options,
                                      std::vector<int64_t> &offsets) {
  // Each unit may scan all placed units.
  int64_t count = static_cast<int64_t>(units.size()), before = heightOf(units, offsets);
  int64_t height = before, most = kScannedPerVisit * options.visits - count * count / 2;
  Scanner scanner(units, alignment);
  std::vector<int64_t> last = offsets;
  std::vector<double> keys(offsets.begin(), offsets.end());
  for (int idle = 0; idle < kPatience && height > bound && scanner.scanned < most; ++idle) {
    for (size_t i = 0; i < units.size(); ++i)
      if (last[i] + units[i].size > bound)
        keys[i] /= kPush;
    last = scanner.pack(lowestFirst(keys));
    int64_t packed = heightOf(units, last);
    if (packed >= height)
      continue;
    idle = 0;
    height = packed;
    offsets = last;
  }
  return height < before;
}
