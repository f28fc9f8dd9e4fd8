// reprise: the lowest possible offsets of units, their consequences, and their undo
#include "Supports.h"

#include <algorithm>
#include <numeric>

using namespace reprise::offsets;

/// Factor by which the weight of later dead ends grows: the last ones count most.
static constexpr double kGrowth = 1.01;

/// Finds twins: units of the same sections conflict with the same others. Excluded are units of a
/// group, which have several sizes, and units whose size is rounded up, since the topmost may end
/// unaligned.
Twins::Twins(const Sections &sections)
    : alike(sections.units.size()), others(sections.units.size()) {
  std::vector<int32_t> order(sections.units.size());
  std::iota(order.begin(), order.end(), 0);
  auto isEven = [&](int32_t i) {
    return sections.units[i].members.size() == 1 &&
           sections.units[i].size % sections.alignment == 0;
  };
  order.erase(
      std::remove_if(order.begin(), order.end(), [&](int32_t unit) { return !isEven(unit); }),
      order.end());
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return std::make_pair(sections.spans[a], a) < std::make_pair(sections.spans[b], b);
  });
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t j = i; j-- > 0 && sections.spans[order[j]] == sections.spans[order[i]];) {
      bool isAlike = sections.units[order[i]].size == sections.units[order[j]].size;
      (isAlike ? alike : others)[order[i]].push_back(order[j]);
      (isAlike ? alike : others)[order[j]].push_back(order[i]);
    }
}

Supports::Supports(const Sections &sections, int64_t limit, std::vector<double> &weights,
                   int64_t visits)
    : sections(sections), limit(limit), visitsLeft(visits), support(sections.units.size()),
      offsets(sections.units.size(), -1), states(sections.members.size(), {kNone, 0}),
      weights(weights), twins(sections), touched(sections.members.size()),
      touchedEdges(sections.members.size()), touchedRows(sections.members.size()),
      sumsOfEnds(sections.members.size()), sumsOfBegins(sections.members.size()) {
  for (const std::vector<int64_t> &loads : sections.loads)
    left.push_back(std::accumulate(loads.begin(), loads.end(), int64_t{0}));
  Times reach(states.size());
  for (size_t s = 0; s < states.size(); ++s)
    touched.add(static_cast<int32_t>(s));
  propagate(reach);
  trail.clear();
}

bool Supports::refuse(Span span) {
  dead = span;
  for (int32_t s = span.first; s <= span.second; ++s)
    weights[s] += increment / (span.second - span.first + 1);
  increment *= kGrowth;
  if (increment > 1e50) {
    for (double &weight : weights)
      weight = std::max(weight * 1e-50, 1e-9);
    increment = 1;
  }
  return false;
}

/// Returns whether two adjacent units of the same sections are in the wrong order: they can be
/// swapped, so the larger lies below.
static bool isStackedWrong(const Supports &now, int32_t unit) {
  int64_t size = now.sections.units[unit].size;
  for (int32_t other : now.twins.others[unit]) {
    int64_t below = now.sections.units[other].size;
    if (below < size && now.offsets[other] >= 0 && now.offsets[other] + below == now.offsets[unit])
      return true;
  }
  return false;
}

bool Supports::place(int32_t unit, Times &reach) {
  Span span = sections.spans[unit];
  reach.add(span);
  offsets[unit] = support[unit];
  setSupport(unit, kNone);
  take(unit, -1);
  if (isStackedWrong(*this, unit))
    return refuse(span);
  for (int32_t s = span.first; s <= span.second; ++s)
    touched.add(s);
  const Conflict *end = sections.conflicts.end(unit);
  visitsLeft -= end - sections.conflicts.begin(unit);
  bool fits = true;
  for (const Conflict *entry = sections.conflicts.begin(unit); entry != end && fits; ++entry) {
    int64_t top = roundUp(offsets[unit] + entry->mine, sections.alignment);
    if (support[entry->other] >= top)
      continue;
    reach.add(sections.spans[entry->other]);
    fits = raise(entry->other, top);
  }
  return propagate(reach) && fits;
}

bool Supports::raise(int32_t unit, int64_t bytes) {
  Span span = sections.spans[unit];
  visitsLeft -= span.second - span.first + 1;
  for (int32_t s = span.first; s <= span.second; ++s)
    if (support[unit] <= room(s))
      touched.add(s);
  setSupport(unit, bytes);
  return bytes + sections.units[unit].size <= limit || refuse(span);
}

bool Supports::lift(int32_t unit) {
  int64_t lowest = kNone;
  const Conflict *end = sections.conflicts.end(unit);
  for (const Conflict *entry = sections.conflicts.begin(unit); entry != end; ++entry)
    if (offsets[entry->other] < 0)
      lowest = std::min(lowest, roundUp(support[entry->other] + entry->theirs, sections.alignment));
  if (lowest == kNone || lowest + sections.units[unit].size > limit)
    return refuse(sections.spans[unit]);
  raise(unit, lowest);
  for (int32_t twin : twins.alike[unit])
    if (support[twin] < lowest)
      raise(twin, lowest);
  Times reach(states.size());
  return propagate(reach);
}

/// Touches the edges before and after a section.
static void touchEdges(Supports &now, int32_t section) {
  for (int32_t edge : {section, section + 1}) {
    if (edge > 0 && edge < static_cast<int32_t>(now.states.size()))
      now.touchedEdges.add(edge);
  }
}

/// Raises units that cannot be the lowest of a section: they rest on one that can, at `top` or
/// above.
static bool raiseOthers(Supports &now, int32_t section, int64_t top, Times &reach) {
  const std::vector<int32_t> &members = now.sections.members[section];
  int64_t highest = now.room(section);
  now.visitsLeft -= static_cast<int64_t>(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    int64_t low = now.support[members[i]];
    if (low <= highest || low >= top || now.sections.loads[section][i] == 0)
      continue;
    reach.add(now.sections.spans[members[i]]);
    if (!now.raise(members[i], top))
      return false;
  }
  return true;
}

/// Recomputes a section; returns whether its unplaced units fit above its lowest place.
static bool refresh(Supports &now, int32_t section, Times &reach) {
  const std::vector<int32_t> &members = now.sections.members[section];
  const std::vector<int64_t> &loads = now.sections.loads[section];
  now.visitsLeft -= static_cast<int64_t>(members.size());
  SectionState state{Supports::kNone, 0};
  int64_t highest = now.room(section), top = Supports::kNone;
  bool others = false;
  for (size_t i = 0; i < members.size(); ++i) {
    int64_t low = now.support[members[i]];
    if (low == Supports::kNone || loads[i] == 0)
      continue;
    state.lowest = std::min(state.lowest, low);
    if (low <= highest) {
      ++state.choices;
      top = std::min(top, low + loads[i]);
    } else {
      others = true;
    }
  }
  SectionState &known = now.states[section];
  if (state.lowest != known.lowest || state.choices != known.choices) {
    now.trail.push_back({false, section, known});
    state.chains = state.choices;
    known = state;
    touchEdges(now, section);
    if (now.sections.isEven)
      now.touchedRows.add(section);
  }
  if (state.lowest != Supports::kNone && state.lowest > highest)
    return now.refuse({section, section});
  return !others || raiseOthers(now, section, top, reach);
}

/// Updates everything that was touched; returns false, with the rest unchanged, at the first
/// section without room. Sections come first, since all other steps read their states.
bool Supports::propagate(Times &reach) {
  bool fits = true;
  auto isDone = [&] { return touched.empty() && touchedEdges.empty() && touchedRows.empty(); };
  while (fits && !isDone()) {
    while (fits && !touched.empty())
      fits = refresh(*this, touched.take(), reach);
    while (fits && !touchedEdges.empty())
      fits = alignEdge(*this, touchedEdges.take(), reach);
    while (fits && touched.empty() && !touchedRows.empty())
      fits = alignRow(*this, touchedRows.take(), reach);
  }
  for (Worklist *list : {&touched, &touchedEdges, &touchedRows})
    list->clear();
  return fits;
}

void Supports::setSupport(int32_t unit, int64_t bytes) {
  trail.push_back({true, unit, {support[unit]}});
  auto mix = [unit](int64_t low) {
    uint64_t x = static_cast<uint64_t>(low) * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(unit);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  };
  hash ^= mix(support[unit]) ^ mix(bytes);
  support[unit] = bytes;
}

void Supports::take(int32_t unit, int64_t sign) {
  auto [first, last] = sections.spans[unit];
  for (int32_t s = first; s <= last; ++s) {
    const std::vector<int32_t> &members = sections.members[s];
    auto at = std::lower_bound(members.begin(), members.end(), unit);
    left[s] += sign * sections.loads[s][at - members.begin()];
  }
}

void Supports::undo(size_t size) {
  while (trail.size() > size) {
    Change change = trail.back();
    if (!change.ofUnit) {
      states[change.index] = change.before;
    } else {
      if (support[change.index] == kNone) {
        offsets[change.index] = -1;
        take(change.index, +1);
      }
      setSupport(change.index, change.before.lowest);
      trail.pop_back();
    }
    trail.pop_back();
  }
}
