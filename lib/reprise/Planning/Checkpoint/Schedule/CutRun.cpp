// reprise: where a long run of operations is cut into units that can be replayed one by one
#include "reprise/Planning/Checkpoint/Schedule/CutRun.h"

#include <algorithm>
#include <cmath>

using namespace reprise::checkpoint;

/// Bytes that cross the frontier before each operation.
static std::vector<int64_t> widths(size_t length, const std::vector<RunValue> &values) {
  std::vector<int64_t> change(length + 2);
  for (const RunValue &value : values) {
    change[value.definition + 1] += value.bytes;
    change[std::min(value.lastUse, length) + 1] -= value.bytes;
  }
  for (size_t i = 1; i < change.size(); ++i)
    change[i] += change[i - 1];
  return change;
}

std::vector<size_t> reprise::checkpoint::cutRun(size_t length,
                                                const std::vector<RunValue> &values) {
  auto units = static_cast<size_t>(std::sqrt(static_cast<double>(length)));
  std::vector<int64_t> width = widths(length, values);
  std::vector<size_t> cuts;
  for (size_t unit = 1; unit < units; ++unit) {
    size_t centre = length * unit / units, reach = length / (2 * units);
    size_t first = std::max(centre - std::min(reach, centre), cuts.empty() ? 1 : cuts.back() + 1);
    size_t last = std::min(centre + reach, length - 1);
    if (first > last)
      continue;
    auto distance = [&](size_t at) { return at > centre ? at - centre : centre - at; };
    size_t best = first;
    for (size_t at = first + 1; at <= last; ++at)
      if (std::make_pair(width[at], distance(at)) < std::make_pair(width[best], distance(best)))
        best = at;
    cuts.push_back(best);
  }
  return cuts;
}
