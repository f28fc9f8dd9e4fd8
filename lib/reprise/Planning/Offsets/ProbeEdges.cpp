// reprise: what a probe concludes from two sections side by side
#include "Probe.h"

#include <algorithm>

using namespace reprise::offsets;

/// Sums of parts that are compared at an edge; where there are more, nothing is concluded.
static constexpr size_t kMostSums = 1024;

void Probe::touchEdges(int32_t section) {
  for (int32_t edge : {section, section + 1}) {
    if (edge > 0 && edge < static_cast<int32_t>(states.size()))
      touchedEdges.add(edge);
  }
}

/// Merges rising sums with those that are larger by so many bytes.
void Probe::addPart(int64_t bytes, std::vector<int64_t> &sums) {
  mergedSums.clear();
  size_t next = 0;
  for (int64_t sum : sums) {
    for (; sums[next] + bytes < sum; ++next)
      mergedSums.push_back(sums[next] + bytes);
    next += sums[next] + bytes == sum;
    mergedSums.push_back(sum);
  }
  for (; next < sums.size(); ++next)
    mergedSums.push_back(sums[next] + bytes);
  sums.swap(mergedSums);
}

/// The sums of all subsets of what is not placed, rising; none if there are too many. Found again
/// only where other parts are left than the last time.
const std::vector<int64_t> &Probe::findSums(const std::vector<Edge::Part> &parts, Sums &known) {
  std::vector<char> &open = isOpenPart;
  open.clear();
  for (auto [unit, bytes] : parts)
    open.push_back(offsets[unit] < 0);
  if (known.isOpen == open)
    return known.sums;
  known.isOpen = open;
  std::vector<int64_t> &sums = known.sums;
  sums.assign(1, 0);
  for (size_t part = 0; part < parts.size(); ++part) {
    if (!open[part])
      continue;
    if (2 * sums.size() > kMostSums) {
      sums.clear();
      break;
    }
    addPart(parts[part].second, sums);
  }
  visitsLeft -= static_cast<int64_t>(sums.size());
  return sums;
}

/// The lowest offset for what crosses an edge, kNone if there is none, 0 if nothing is known.
/// Below the lowest one that crosses lie only units that end there, on one side, and only units
/// that begin there, on the other. Both sides reach the same height, but for the bytes that each
/// has to spare.
int64_t Probe::findLevel(int32_t edge) {
  int64_t before = states[edge - 1].lowest, after = states[edge].lowest;
  int64_t spareBefore = room(edge - 1) - before, spareAfter = room(edge) - after;
  bool isLevel = after - before <= spareBefore && before - after <= spareAfter;
  if (isLevel || spareBefore < 0 || spareAfter < 0)
    return 0;
  const std::vector<int64_t> &sumsBefore = findSums(sections.edges[edge].ends, sumsOfEnds[edge]);
  const std::vector<int64_t> &sumsAfter = findSums(sections.edges[edge].begins, sumsOfBegins[edge]);
  if (sumsBefore.empty() || sumsAfter.empty())
    return 0;
  int64_t best = kNone;
  auto other = sumsAfter.begin();
  for (int64_t sum : sumsBefore) {
    int64_t top = before + sum;
    while (other != sumsAfter.end() && after + *other < top - spareAfter)
      ++other;
    if (top >= best || other == sumsAfter.end())
      break;
    if (after + *other <= top + spareBefore)
      best = std::min(best, std::max(top, after + *other));
  }
  return best;
}

/// Raises what crosses an edge; false if it cannot.
bool Probe::alignEdge(int32_t edge, Times &reach) {
  if (states[edge - 1].lowest == kNone || states[edge].lowest == kNone)
    return true;
  int64_t level = findLevel(edge);
  if (level == 0)
    return true;
  visitsLeft -= static_cast<int64_t>(sections.edges[edge].crossing.size());
  for (int32_t unit : sections.edges[edge].crossing) {
    if (support[unit] >= level) // also where it is placed
      continue;
    if (level == kNone)
      return refuse({edge - 1, edge});
    reach.add(sections.spans[unit]);
    if (!raise(unit, level))
      return false;
  }
  return true;
}
