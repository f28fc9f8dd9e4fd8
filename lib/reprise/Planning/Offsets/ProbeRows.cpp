// reprise: conclusions of a probe from adjacent sections whose lowest places are level
#include "Supports.h"

#include <algorithm>

using namespace reprise::offsets;

/// Returns the sections around a section that have no byte to spare and the same lowest place;
/// first after last if that section has room.
static Supports::Span findRow(const Supports &now, int32_t section) {
  int64_t height = now.states[section].lowest;
  auto isLevel = [&](int32_t s) { return now.states[s].lowest == height && now.room(s) == height; };
  if (height == Supports::kNone || !isLevel(section))
    return {0, -1};
  int32_t first = section, last = section, count = static_cast<int32_t>(now.states.size());
  while (first > 0 && isLevel(first - 1))
    --first;
  while (last + 1 < count && isLevel(last + 1))
    ++last;
  return {first, last};
}

/// Finds units that can lie at the bottom of a row, by the section in which they begin.
static void findLinks(Supports &now, Supports::Span row) {
  now.links.clear();
  for (int32_t s = row.first; s <= row.second; ++s) {
    const std::vector<int32_t> &from =
        s == row.first ? now.sections.members[s] : now.sections.beginning[s];
    now.visitsLeft -= static_cast<int64_t>(from.size());
    for (int32_t unit : from)
      if (now.support[unit] == now.states[row.first].lowest)
        now.links.push_back(
            {unit, s - row.first,
             std::min(row.second, now.sections.spans[unit].second) + 1 - row.first});
  }
  now.visitsLeft -= 4 * static_cast<int64_t>(now.links.size());
}

static bool isInChain(const Supports &now, const Supports::Link &link) {
  return now.chainsBefore[link.begin] > 0 && now.chainsAfter[link.end] > 0;
}

/// Raises units that are in no chain onto units that are.
static bool raiseLoose(Supports &now, Supports::Span row, Times &reach) {
  int64_t height = now.states[row.first].lowest;
  now.lowestTops.assign(row.second - row.first + 1, Supports::kNone);
  for (const Supports::Link &link : now.links)
    if (isInChain(now, link))
      for (int32_t s = link.begin; s < link.end; ++s)
        now.lowestTops[s] =
            std::min(now.lowestTops[s], height + now.sections.units[link.unit].size);
  for (const Supports::Link &link : now.links) {
    if (isInChain(now, link))
      continue;
    int64_t top =
        *std::max_element(now.lowestTops.begin() + link.begin, now.lowestTops.begin() + link.end);
    reach.add(now.sections.spans[link.unit]);
    if (!now.raise(link.unit, roundUp(top, now.sections.alignment)))
      return false;
  }
  return true;
}

/// Aligns a row. Adjacent units fill its bottom, each from the end of the one before. A unit in no
/// such chain rests on a unit in a chain.
bool reprise::offsets::alignRow(Supports &now, int32_t section, Times &reach) {
  Supports::Span row = findRow(now, section);
  for (int32_t s = row.first; s <= row.second; ++s)
    now.touchedRows.drop(s);
  if (row.first > row.second)
    return true;
  findLinks(now, row);
  size_t size = row.second - row.first + 2;
  now.chainsBefore.assign(size, 0);
  now.chainsAfter.assign(size, 0);
  now.chainsBefore.front() = now.chainsAfter.back() = 1;
  for (const Supports::Link &link : now.links)
    now.chainsBefore[link.end] += now.chainsBefore[link.begin];
  for (auto link = now.links.rbegin(); link != now.links.rend(); ++link)
    now.chainsAfter[link->begin] += now.chainsAfter[link->end];
  if (now.chainsBefore.back() == 0)
    return now.refuse(row);
  bool areAll = std::all_of(now.links.begin(), now.links.end(),
                            [&](const Supports::Link &link) { return isInChain(now, link); });
  if (!areAll)
    return raiseLoose(now, row, reach);
  for (int32_t s = row.first; s <= row.second; ++s)
    if (now.states[s].choices > 1 && now.states[s].chains != now.chainsBefore.back()) {
      now.trail.push_back({false, s, now.states[s]});
      now.states[s].chains = now.chainsBefore.back();
    }
  return true;
}
