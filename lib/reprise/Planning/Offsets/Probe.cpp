// reprise: the state of a probe: supports, what follows from them, and how it is taken back
#include "Probe.h"

#include <algorithm>
#include <numeric>

using namespace reprise::offsets;

/// What a dead end adds to the weights of its sections grows by this factor: the last ones count
/// most.
static constexpr double kGrowth = 1.01;

Probe::Probe(const Sections &sections, int64_t limit, const std::vector<Block> &blocks,
             const ProbeTurn &turn, std::vector<double> &weights, int64_t visits)
    : visitsLeft(visits), sections(sections), limit(limit), turn(turn), nodesLeft(turn.nodes),
      support(sections.units.size()), offsets(sections.units.size(), -1),
      rank(sections.units.size()), states(sections.members.size(), {kNone, 0}), weights(weights),
      twins(sections.units.size()), stacks(sections.units.size()), blocks(blocks),
      blocksOf(sections.units.size()), touched(sections.members.size()),
      touchedEdges(sections.members.size()), touchedRows(sections.members.size()),
      touchedBlocks(blocks.size()), sumsOfEnds(sections.members.size()),
      sumsOfBegins(sections.members.size()) {
  for (const std::vector<int64_t> &loads : sections.loads)
    left.push_back(std::accumulate(loads.begin(), loads.end(), int64_t{0}));
  rankUnits();
  findTwins();
  chooseBlocks();
  Times reach(states.size());
  for (size_t s = 0; s < states.size(); ++s)
    touched.add(static_cast<int32_t>(s));
  propagate(reach);
  trail.clear();
}

/// A dead end; its sections weigh more from now on.
bool Probe::refuse(Span span) {
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

/// Two units of the same sections, one on the other, can change places: the larger lies below.
bool Probe::isStackedWrong(int32_t unit) const {
  int64_t size = sections.units[unit].size;
  for (int32_t other : stacks[unit]) {
    int64_t below = sections.units[other].size;
    if (below < size && offsets[other] >= 0 && offsets[other] + below == offsets[unit])
      return true;
  }
  return false;
}

/// Puts a unit down; false if that leaves too little room somewhere. `reach`: what it changes.
bool Probe::place(int32_t unit, Times &reach) {
  Span span = sections.spans[unit];
  reach.add(span);
  offsets[unit] = support[unit];
  setSupport(unit, kNone);
  take(unit, -1);
  touchBlocks(unit);
  if (isStackedWrong(unit))
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

/// Raises the support of a unit that is not placed, and notes which sections that may matter to;
/// false if it does not fit there.
bool Probe::raise(int32_t unit, int64_t bytes) {
  Span span = sections.spans[unit];
  visitsLeft -= span.second - span.first + 1;
  for (int32_t s = span.first; s <= span.second; ++s)
    if (support[unit] <= room(s))
      touched.add(s);
  setSupport(unit, bytes);
  touchBlocks(unit);
  return bytes + sections.units[unit].size <= limit || refuse(span);
}

/// Leaves the support of a unit to another one that is not placed; false if it cannot. Its twins
/// would do no better there.
bool Probe::lift(int32_t unit) {
  int64_t lowest = kNone;
  const Conflict *end = sections.conflicts.end(unit);
  for (const Conflict *entry = sections.conflicts.begin(unit); entry != end; ++entry)
    if (offsets[entry->other] < 0)
      lowest = std::min(lowest, roundUp(support[entry->other] + entry->theirs, sections.alignment));
  if (lowest == kNone || lowest + sections.units[unit].size > limit)
    return refuse(sections.spans[unit]);
  raise(unit, lowest);
  for (int32_t twin : twins[unit])
    if (support[twin] < lowest)
      raise(twin, lowest);
  Times reach(states.size());
  return propagate(reach);
}

/// Brings all up to date that was touched; false, with the rest left as it is, at the first section
/// without room. Sections come first, since all else asks for their states.
bool Probe::propagate(Times &reach) {
  bool fits = true;
  auto isDone = [&] {
    return touched.empty() && touchedEdges.empty() && touchedBlocks.empty() && touchedRows.empty();
  };
  while (fits && !isDone()) {
    while (fits && !touched.empty())
      fits = refresh(touched.take(), reach);
    while (fits && !touchedEdges.empty())
      fits = alignEdge(touchedEdges.take(), reach);
    while (fits && touched.empty() && !touchedBlocks.empty())
      fits = alignBlock(touchedBlocks.take(), reach);
    while (fits && touched.empty() && touchedBlocks.empty() && !touchedRows.empty())
      fits = alignRow(touchedRows.take(), reach);
  }
  for (Worklist *list : {&touched, &touchedEdges, &touchedBlocks, &touchedRows})
    list->clear();
  return fits;
}

/// Whether what is left of a section has room above its lowest place.
bool Probe::refresh(int32_t section, Times &reach) {
  const std::vector<int32_t> &members = sections.members[section];
  const std::vector<int64_t> &loads = sections.loads[section];
  visitsLeft -= static_cast<int64_t>(members.size());
  State state{kNone, 0};
  int64_t highest = room(section), top = kNone;
  bool others = false;
  for (size_t i = 0; i < members.size(); ++i) {
    int64_t low = support[members[i]];
    if (low == kNone || loads[i] == 0)
      continue;
    state.lowest = std::min(state.lowest, low);
    if (low <= highest) {
      ++state.choices;
      top = std::min(top, low + loads[i]);
    } else {
      others = true;
    }
  }
  State &known = states[section];
  if (state.lowest != known.lowest || state.choices != known.choices) {
    trail.push_back({false, section, known});
    state.chains = state.choices;
    known = state;
    touchEdges(section);
    if (sections.isEven)
      touchedRows.add(section);
  }
  if (state.lowest != kNone && state.lowest > highest)
    return refuse({section, section});
  return !others || raiseOthers(section, top, reach);
}

/// What cannot be the lowest one of a section rests on one that can, at `top` or above.
bool Probe::raiseOthers(int32_t section, int64_t top, Times &reach) {
  const std::vector<int32_t> &members = sections.members[section];
  int64_t highest = room(section);
  visitsLeft -= static_cast<int64_t>(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    int64_t low = support[members[i]];
    if (low <= highest || low >= top || sections.loads[section][i] == 0)
      continue;
    reach.add(sections.spans[members[i]]);
    if (!raise(members[i], top))
      return false;
  }
  return true;
}

void Probe::setSupport(int32_t unit, int64_t bytes) {
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

void Probe::take(int32_t unit, int64_t sign) {
  auto [first, last] = sections.spans[unit];
  for (int32_t s = first; s <= last; ++s) {
    const std::vector<int32_t> &members = sections.members[s];
    auto at = std::lower_bound(members.begin(), members.end(), unit);
    left[s] += sign * sections.loads[s][at - members.begin()];
  }
}

void Probe::undo(size_t size) {
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
