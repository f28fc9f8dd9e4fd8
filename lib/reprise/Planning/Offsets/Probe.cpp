// reprise: a search for offsets below a limit that branches where there is least choice
#include "Sections.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

using namespace reprise::offsets;

namespace {

constexpr int64_t kNone = INT64_MAX;

/// A set of sections.
class Times {
public:
  explicit Times(size_t count) : words((count + 63) / 64) {}

  void add(std::pair<int32_t, int32_t> span) {
    for (int32_t s = span.first; s <= span.second; ++s)
      words[s / 64] |= uint64_t(1) << (s % 64);
  }
  void add(const Times &other) {
    for (size_t i = 0; i < words.size(); ++i)
      words[i] |= other.words[i];
  }
  bool has(int32_t s) const { return words[s / 64] >> (s % 64) & 1; }
  bool meets(std::pair<int32_t, int32_t> span) const {
    for (int32_t s = span.first; s <= span.second; ++s)
      if (has(s))
        return true;
    return false;
  }
  bool meets(const Times &other) const {
    for (size_t i = 0; i < words.size(); ++i)
      if (words[i] & other.words[i])
        return true;
    return false;
  }
  void clear() { std::fill(words.begin(), words.end(), 0); }

private:
  std::vector<uint64_t> words;
};

/// Each unit has a support: the lowest offset that is left to it. At each node one unit is put down
/// on its support, with all that conflicts with it and is not placed above it; or it is lifted to
/// the lowest offset at which it rests on one that is not placed. Each packing that cannot slide
/// down is met once, whatever the order of the units, so that the next one is chosen from a section
/// with little choice.
///
/// A dead end is blamed on the sections that it was seen in, and on those of the units that led
/// there. What was placed without a part in that is taken back without another try. The blame is
/// not complete, so that a search that ends without a packing proves nothing.
class Probe {
public:
  Probe(const Sections &sections, int64_t limit, int turn, int64_t nodes, int64_t visits);

  bool run() {
    Times blame(states.size());
    return descend(blame) == Result::Found;
  }
  const std::vector<int64_t> &result() const { return offsets; }
  int64_t visitsLeft;

private:
  enum class Result { Found, None, GaveUp };
  using Span = std::pair<int32_t, int32_t>;
  /// The lowest support in a section, and how many units can be the lowest one.
  struct State {
    int64_t lowest = kNone;
    int32_t choices = 0;
  };
  struct Change {
    enum class Kind { Placed, Lifted, State } kind;
    int32_t index;
    int64_t support;
    State state;
  };
  struct Lift {
    int32_t unit;
    Times blame;
  };

  void rankUnits(int order);
  Result descend(Times &blame);
  int32_t pick();
  int32_t pickSection() const;
  int64_t weigh(int32_t unit) const;
  bool place(int32_t unit, Times &reach);
  bool lift(int32_t unit);
  bool refuse(Span span) {
    dead = span;
    return false;
  }
  void setSupport(int32_t unit, int64_t support);
  bool refresh(int32_t section);
  void take(int32_t unit, int64_t sign);
  void undo(size_t size);
  int64_t room(int32_t section) const { return limit + sections.slack[section] - left[section]; }

  const Sections &sections;
  int64_t limit;
  bool forcedOnly, fitting; // how to branch, see pickSection and weigh
  int64_t nodesLeft;
  std::vector<int64_t> support, offsets; // of units; -1: not placed
  std::vector<int64_t> left;             // bytes of a section that are not placed
  std::vector<int32_t> rank;
  std::vector<State> states;
  Times changed; // sections whose state may be another one, in `place`
  std::vector<Change> trail;
  Span dead; // where the last dead end was seen
};

Probe::Probe(const Sections &sections, int64_t limit, int turn, int64_t nodes, int64_t visits)
    : visitsLeft(visits), sections(sections), limit(limit), forcedOnly(turn / 3 % 2 == 0),
      fitting(turn / 6 == 0), nodesLeft(nodes), support(sections.units.size()),
      offsets(sections.units.size(), -1), rank(sections.units.size()),
      states(sections.members.size()), changed(sections.members.size()) {
  for (const std::vector<int64_t> &loads : sections.loads)
    left.push_back(std::accumulate(loads.begin(), loads.end(), int64_t{0}));
  for (size_t s = 0; s < states.size(); ++s)
    refresh(static_cast<int32_t>(s));
  trail.clear();
  rankUnits(turn % 3);
}

/// The longest, largest or widest first.
void Probe::rankUnits(int order) {
  std::vector<std::array<double, 3>> keys;
  for (const Unit &unit : sections.units) {
    double life = static_cast<double>(unit.last - unit.first + 1);
    double size = static_cast<double>(unit.size), area = life * size;
    keys.push_back(order == 0   ? std::array<double, 3>{-life, -area, 0}
                   : order == 1 ? std::array<double, 3>{-area, -life, 0}
                                : std::array<double, 3>{-size, -life, 0});
  }
  std::vector<int32_t> sorted(keys.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(), [&](int32_t a, int32_t b) {
    return std::make_pair(keys[a], a) < std::make_pair(keys[b], b);
  });
  for (size_t i = 0; i < sorted.size(); ++i)
    rank[sorted[i]] = static_cast<int32_t>(i);
}

Probe::Result Probe::descend(Times &blame) {
  size_t begin = trail.size();
  std::vector<Lift> lifts;
  Times reach(states.size()), mine(states.size());
  while (true) {
    int32_t unit = --nodesLeft < 0 || visitsLeft < 0 ? -1 : pick();
    if (unit < 0)
      return nodesLeft < 0 || visitsLeft < 0 ? Result::GaveUp : Result::Found;
    size_t before = trail.size();
    reach.clear();
    mine.clear();
    if (!place(unit, reach))
      mine.add(dead);
    else if (Result result = descend(mine); result != Result::None)
      return result;
    undo(before);
    bool isGuilty = reach.meets(mine);
    if (isGuilty) {
      mine.add(sections.spans[unit]);
      lifts.push_back({unit, mine});
      if (lift(unit))
        continue;
      mine.clear();
      mine.add(dead);
    }
    // Units that were lifted share the blame with what made them so.
    for (auto lifted = lifts.rbegin(); lifted != lifts.rend(); ++lifted)
      if (mine.meets(sections.spans[lifted->unit]))
        mine.add(lifted->blame);
    blame.add(mine);
    undo(begin);
    return Result::None;
  }
}

/// A section where only one unit can be the lowest comes first. Then the lowest one, or the one
/// with the fewest choices.
int32_t Probe::pickSection() const {
  int32_t best = -1;
  auto key = [&](int32_t s) {
    const State &state = states[s];
    int64_t choices = state.choices;
    return forcedOnly ? std::make_tuple(int64_t(choices > 1), state.lowest, choices)
                      : std::make_tuple(choices, state.lowest, int64_t{0});
  };
  for (int32_t s = 0; s < static_cast<int32_t>(states.size()); ++s)
    if (states[s].choices > 0 && (best < 0 || key(s) < key(best)))
      best = s;
  return best;
}

/// A unit whose ends meet something higher, or an end of time, comes first.
int64_t Probe::weigh(int32_t unit) const {
  int64_t ends = 0;
  if (fitting) {
    auto [first, last] = sections.spans[unit];
    ends += first == 0 || states[first - 1].lowest > support[unit];
    ends +=
        last + 1 == static_cast<int32_t>(states.size()) || states[last + 1].lowest > support[unit];
  }
  return rank[unit] - ends * static_cast<int64_t>(rank.size());
}

/// The unit to put down, -1 if all are.
int32_t Probe::pick() {
  int32_t section = pickSection(), best = -1;
  visitsLeft -= static_cast<int64_t>(states.size());
  if (section < 0)
    return -1;
  for (size_t i = 0; i < sections.members[section].size(); ++i) {
    int32_t unit = sections.members[section][i];
    if (offsets[unit] >= 0 || sections.loads[section][i] == 0 || support[unit] > room(section))
      continue;
    if (best < 0 ||
        std::make_pair(support[unit], weigh(unit)) < std::make_pair(support[best], weigh(best)))
      best = unit;
  }
  // One that another could still slip below of has to wait for that one.
  for (bool waits = true; waits;) {
    waits = false;
    for (const Conflict *entry = sections.conflicts.begin(best);
         entry != sections.conflicts.end(best) && !waits; ++entry)
      if (offsets[entry->other] < 0 && support[entry->other] + entry->theirs <= support[best]) {
        best = entry->other;
        waits = true;
      }
  }
  return best;
}

/// Puts a unit down; false if that leaves too little room somewhere. `reach`: what it changes.
bool Probe::place(int32_t unit, Times &reach) {
  Span span = sections.spans[unit];
  reach.add(span);
  offsets[unit] = support[unit];
  take(unit, -1);
  trail.push_back({Change::Kind::Placed, unit, 0, {}});
  changed.clear();
  changed.add(span);
  const Conflict *end = sections.conflicts.end(unit);
  visitsLeft -= end - sections.conflicts.begin(unit);
  for (const Conflict *entry = sections.conflicts.begin(unit); entry != end; ++entry) {
    int64_t top = roundUp(offsets[unit] + entry->mine, sections.alignment);
    int32_t other = entry->other;
    if (offsets[other] >= 0 || support[other] >= top)
      continue;
    reach.add(sections.spans[other]);
    for (int32_t s = sections.spans[other].first; s <= sections.spans[other].second; ++s)
      if (support[other] <= room(s))
        changed.add({s, s});
    setSupport(other, top);
    span.first = std::min(span.first, sections.spans[other].first);
    span.second = std::max(span.second, sections.spans[other].second);
    if (top + sections.units[other].size > limit)
      return refuse(sections.spans[other]);
  }
  for (int32_t s = span.first; s <= span.second; ++s)
    if (changed.has(s) && !refresh(s))
      return refuse({s, s});
  return true;
}

/// Leaves the support of a unit to another one that is not placed; false if it cannot.
bool Probe::lift(int32_t unit) {
  int64_t lowest = kNone;
  const Conflict *end = sections.conflicts.end(unit);
  for (const Conflict *entry = sections.conflicts.begin(unit); entry != end; ++entry)
    if (offsets[entry->other] < 0)
      lowest = std::min(lowest, roundUp(support[entry->other] + entry->theirs, sections.alignment));
  auto [first, last] = sections.spans[unit];
  if (lowest == kNone || lowest + sections.units[unit].size > limit)
    return refuse({first, last});
  setSupport(unit, lowest);
  for (int32_t s = first; s <= last; ++s)
    if (!refresh(s))
      return refuse({s, s});
  return true;
}

void Probe::setSupport(int32_t unit, int64_t bytes) {
  trail.push_back({Change::Kind::Lifted, unit, support[unit], {}});
  support[unit] = bytes;
}

/// Whether what is left of a section has room above its lowest place.
bool Probe::refresh(int32_t section) {
  const std::vector<int32_t> &members = sections.members[section];
  visitsLeft -= static_cast<int64_t>(members.size());
  State state;
  int64_t highest = room(section);
  for (size_t i = 0; i < members.size(); ++i)
    if (offsets[members[i]] < 0 && sections.loads[section][i] > 0) {
      state.lowest = std::min(state.lowest, support[members[i]]);
      state.choices += support[members[i]] <= highest;
    }
  const State &before = states[section];
  if (state.lowest != before.lowest || state.choices != before.choices) {
    trail.push_back({Change::Kind::State, section, 0, before});
    states[section] = state;
  }
  return state.lowest == kNone || state.lowest <= highest;
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
  for (; trail.size() > size; trail.pop_back()) {
    const Change &change = trail.back();
    if (change.kind == Change::Kind::State) {
      states[change.index] = change.state;
    } else if (change.kind == Change::Kind::Lifted) {
      support[change.index] = change.support;
    } else {
      offsets[change.index] = -1;
      take(change.index, +1);
    }
  }
}

} // namespace

bool reprise::offsets::probe(const Sections &sections, int64_t limit, int turn, int64_t nodes,
                             int64_t &visits, std::vector<int64_t> &offsets) {
  Probe probe(sections, limit, turn, nodes, visits);
  bool found = probe.run();
  visits = probe.visitsLeft;
  if (found)
    offsets = probe.result();
  return found;
}
