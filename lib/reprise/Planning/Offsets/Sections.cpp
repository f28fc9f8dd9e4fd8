// reprise: time cut into sections, and the changes from section to section
#include "Sections.h"

#include <algorithm>
#include <numeric>

using namespace reprise::offsets;

/// Returns the first moments of the sections: births that a death follows before the next birth.
/// The largest loads of the problem are those of its sections.
static std::vector<int64_t> findStarts(const Problem &problem, const std::vector<Unit> &units) {
  std::vector<int64_t> births, deaths, starts;
  for (const Unit &unit : units)
    for (size_t member : unit.members) {
      births.push_back(problem.buffers[member].first);
      deaths.push_back(problem.buffers[member].last);
    }
  std::sort(births.begin(), births.end());
  std::sort(deaths.begin(), deaths.end());
  for (size_t i = 0; i < births.size(); ++i) {
    auto death = std::lower_bound(deaths.begin(), deaths.end(), births[i]);
    if (i + 1 == births.size() || *death < births[i + 1])
      starts.push_back(births[i]);
  }
  return starts;
}

Sections::Sections(const Problem &problem, const std::vector<Unit> &all, const Conflicts &conflicts)
    : units(all), conflicts(conflicts), alignment(problem.alignment),
      starts(findStarts(problem, all)) {
  members.resize(starts.size());
  loads.resize(starts.size());
  slack.resize(starts.size());
  auto countBefore = [&](int64_t time) {
    return std::lower_bound(starts.begin(), starts.end(), time) - starts.begin();
  };
  auto countUntil = [&](int64_t time) {
    return std::upper_bound(starts.begin(), starts.end(), time) - starts.begin();
  };
  for (size_t i = 0; i < units.size(); ++i) {
    spans.push_back({countBefore(units[i].first), countUntil(units[i].last) - 1});
    for (int32_t s = spans[i].first; s <= spans[i].second; ++s) {
      int64_t size = 0;
      for (size_t member : units[i].members) {
        const Buffer &buffer = problem.buffers[member];
        bool isLive = buffer.first <= starts[s] && starts[s] <= buffer.last;
        size = isLive ? std::max(size, buffer.size) : size;
      }
      members[s].push_back(static_cast<int32_t>(i));
      loads[s].push_back(roundUp(size, alignment));
      slack[s] = std::max(slack[s], roundUp(size, alignment) - size);
    }
  }
  byBirth.resize(units.size());
  std::iota(byBirth.begin(), byBirth.end(), 0);
  std::sort(byBirth.begin(), byBirth.end(), [&](int32_t a, int32_t b) {
    return std::make_pair(units[a].first, a) < std::make_pair(units[b].first, b);
  });
  findEdges();
  findBeginnings();
}

int64_t Sections::countMembers() const {
  int64_t count = 0;
  for (const std::vector<int32_t> &units : members)
    count += static_cast<int64_t>(units.size());
  return count;
}

/// Returns the bytes of a unit in a section, 0 if it is not live there.
int64_t Sections::loadOf(int32_t unit, int32_t section) const {
  if (section < spans[unit].first || spans[unit].second < section)
    return 0;
  auto at = std::lower_bound(members[section].begin(), members[section].end(), unit);
  return loads[section][at - members[section].begin()];
}

/// Finds the edges. A group whose bytes change both ends and begins, although it crosses the edge.
void Sections::findEdges() {
  int32_t count = static_cast<int32_t>(members.size());
  edges.resize(count);
  for (int32_t unit = 0; unit < static_cast<int32_t>(units.size()); ++unit) {
    auto [first, last] = spans[unit];
    for (int32_t s = std::max(1, first); s <= std::min(count - 1, last + 1); ++s) {
      int64_t before = loadOf(unit, s - 1), after = loadOf(unit, s);
      if (before > 0 && after > 0)
        edges[s].crossing.push_back(unit);
      if (before > 0 && before != after)
        edges[s].ends.push_back({unit, before});
      if (after > 0 && before != after)
        edges[s].begins.push_back({unit, after});
    }
  }
}

void Sections::findBeginnings() {
  beginning.resize(members.size());
  for (int32_t unit = 0; unit < static_cast<int32_t>(units.size()); ++unit) {
    auto [first, last] = spans[unit];
    beginning[first].push_back(unit);
    for (int32_t s = first; s <= last; ++s)
      isEven = isEven && loadOf(unit, s) == roundUp(units[unit].size, alignment);
  }
}
