// reprise: conclusions of a probe from two adjacent sections
#include "Supports.h"

#include <algorithm>

using namespace reprise::offsets;

/// Limit of the sums of parts that are compared at an edge; with more sums, there is no conclusion.
static constexpr size_t kMostSums = 1024;

/// Merges ascending sums with the same sums plus `bytes`.
static void addPart(int64_t bytes, std::vector<int64_t> &sums, std::vector<int64_t> &merged) {
  merged.clear();
  size_t next = 0;
  for (int64_t sum : sums) {
    for (; sums[next] + bytes < sum; ++next)
      merged.push_back(sums[next] + bytes);
    next += sums[next] + bytes == sum;
    merged.push_back(sum);
  }
  for (; next < sums.size(); ++next)
    merged.push_back(sums[next] + bytes);
  sums.swap(merged);
}

/// Returns the ascending sums of all subsets of unplaced parts; none if there are too many.
/// Recomputes them only if the unplaced parts have changed.
static const std::vector<int64_t> &findSums(Supports &now, const std::vector<Edge::Part> &parts,
                                            Supports::Sums &known) {
  std::vector<char> &open = now.isOpenPart;
  open.clear();
  for (auto [unit, bytes] : parts)
    open.push_back(now.offsets[unit] < 0);
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
    addPart(parts[part].second, sums, now.mergedSums);
  }
  now.visitsLeft -= static_cast<int64_t>(sums.size());
  return sums;
}

/// Returns the lowest possible offset of units that cross an edge; Supports::kNone if there is
/// none, 0 if it is unknown. Below the lowest crossing unit, one side has only units that end
/// there, and the other only units that begin there. Both sides reach the same height, up to the
/// bytes that each has to spare.
static int64_t findLevel(Supports &now, int32_t edge) {
  int64_t before = now.states[edge - 1].lowest, after = now.states[edge].lowest;
  int64_t spareBefore = now.room(edge - 1) - before, spareAfter = now.room(edge) - after;
  bool isLevel = after - before <= spareBefore && before - after <= spareAfter;
  if (isLevel || spareBefore < 0 || spareAfter < 0)
    return 0;
  const std::vector<int64_t> &sumsBefore =
      findSums(now, now.sections.edges[edge].ends, now.sumsOfEnds[edge]);
  const std::vector<int64_t> &sumsAfter =
      findSums(now, now.sections.edges[edge].begins, now.sumsOfBegins[edge]);
  if (sumsBefore.empty() || sumsAfter.empty())
    return 0;
  int64_t best = Supports::kNone;
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

/// Raises units that cross an edge; returns false at a dead end.
bool reprise::offsets::alignEdge(Supports &now, int32_t edge, Times &reach) {
  if (now.states[edge - 1].lowest == Supports::kNone || now.states[edge].lowest == Supports::kNone)
    return true;
  int64_t level = findLevel(now, edge);
  if (level == 0)
    return true;
  now.visitsLeft -= static_cast<int64_t>(now.sections.edges[edge].crossing.size());
  for (int32_t unit : now.sections.edges[edge].crossing) {
    if (now.support[unit] >= level) // placed buffers count, too
      continue;
    if (level == Supports::kNone)
      return now.refuse({edge - 1, edge});
    reach.add(now.sections.spans[unit]);
    if (!now.raise(unit, level))
      return false;
  }
  return true;
}
