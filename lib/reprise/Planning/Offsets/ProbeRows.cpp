// reprise: what a probe concludes from sections side by side whose lowest places are level
#include "Probe.h"

#include <algorithm>

using namespace reprise::offsets;

/// The sections around one that have no byte to spare and their lowest place at one height; first
/// after last if that section is none.
Probe::Span Probe::findRow(int32_t section) const {
  int64_t height = states[section].lowest;
  auto isLevel = [&](int32_t s) { return states[s].lowest == height && room(s) == height; };
  if (height == kNone || !isLevel(section))
    return {0, -1};
  int32_t first = section, last = section, count = static_cast<int32_t>(states.size());
  while (first > 0 && isLevel(first - 1))
    --first;
  while (last + 1 < count && isLevel(last + 1))
    ++last;
  return {first, last};
}

/// What can lie at the bottom of a row, by the section where it begins.
void Probe::findLinks(Span row) {
  links.clear();
  for (int32_t s = row.first; s <= row.second; ++s) {
    const std::vector<int32_t> &from = s == row.first ? sections.members[s] : sections.beginning[s];
    visitsLeft -= static_cast<int64_t>(from.size());
    for (int32_t unit : from)
      if (support[unit] == states[row.first].lowest)
        links.push_back({unit, s - row.first,
                         std::min(row.second, sections.spans[unit].second) + 1 - row.first});
  }
  visitsLeft -= 4 * static_cast<int64_t>(links.size());
}

/// Units side by side fill the bottom of a row, each from where the one before ends. What is in no
/// such chain rests on one that is.
bool Probe::alignRow(int32_t section, Times &reach) {
  Span row = findRow(section);
  for (int32_t s = row.first; s <= row.second; ++s)
    touchedRows.drop(s);
  if (row.first > row.second)
    return true;
  findLinks(row);
  size_t size = row.second - row.first + 2;
  chainsBefore.assign(size, 0);
  chainsAfter.assign(size, 0);
  chainsBefore.front() = chainsAfter.back() = 1;
  for (const Link &link : links)
    chainsBefore[link.end] += chainsBefore[link.begin];
  for (auto link = links.rbegin(); link != links.rend(); ++link)
    chainsAfter[link->begin] += chainsAfter[link->end];
  if (chainsBefore.back() == 0)
    return refuse(row);
  bool areAll =
      std::all_of(links.begin(), links.end(), [&](const Link &link) { return isInChain(link); });
  if (!areAll)
    return raiseLoose(row, reach);
  for (int32_t s = row.first; s <= row.second; ++s)
    if (states[s].choices > 1 && states[s].chains != chainsBefore.back()) {
      trail.push_back({false, s, states[s]});
      states[s].chains = chainsBefore.back();
    }
  return true;
}

bool Probe::raiseLoose(Span row, Times &reach) {
  int64_t height = states[row.first].lowest;
  lowestTops.assign(row.second - row.first + 1, kNone);
  for (const Link &link : links)
    if (isInChain(link))
      for (int32_t s = link.begin; s < link.end; ++s)
        lowestTops[s] = std::min(lowestTops[s], height + sections.units[link.unit].size);
  for (const Link &link : links) {
    if (isInChain(link))
      continue;
    int64_t top = *std::max_element(lowestTops.begin() + link.begin, lowestTops.begin() + link.end);
    reach.add(sections.spans[link.unit]);
    if (!raise(link.unit, roundUp(top, sections.alignment)))
      return false;
  }
  return true;
}
