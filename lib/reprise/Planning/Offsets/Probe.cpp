// reprise: branching of a probe
#include "Probe.h"

#include "reprise/Support/SplitMix.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

using namespace reprise::offsets;

/// Dead ends that are remembered, some 200 bytes each.
static constexpr size_t kMostDeadEnds = 100'000;

/// The longest, largest or widest first, in later rounds with other lives and sizes by chance.
static std::vector<int32_t> rankUnits(const Sections &sections, const ProbeTurn &turn) {
  reprise::SplitMix random(static_cast<uint64_t>(turn.number));
  auto chance = [&] {
    return turn.isFirst ? 1 : 1 + static_cast<double>(random.next() >> 11) * 0x1p-53;
  };
  std::vector<std::array<double, 2>> keys;
  for (const Unit &unit : sections.units) {
    double life = static_cast<double>(unit.last - unit.first + 1) * chance();
    double size = static_cast<double>(unit.size) * chance(), area = life * size;
    keys.push_back(turn.order == 0   ? std::array<double, 2>{-life, -area}
                   : turn.order == 1 ? std::array<double, 2>{-area, -life}
                                     : std::array<double, 2>{-size, -life});
  }
  std::vector<int32_t> sorted(keys.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(), [&](int32_t a, int32_t b) {
    return std::make_pair(keys[a], a) < std::make_pair(keys[b], b);
  });
  std::vector<int32_t> rank(sorted.size());
  for (size_t i = 0; i < sorted.size(); ++i)
    rank[sorted[i]] = static_cast<int32_t>(i);
  return rank;
}

Probe::Probe(const Sections &sections, int64_t limit, const ProbeTurn &turn,
             std::vector<double> &weights, int64_t visits)
    : sections(sections), turn(turn), now(sections, limit, weights, visits), nodesLeft(turn.nodes),
      rank(rankUnits(sections, turn)) {}

Probe::Result Probe::descend(Times &blame) {
  uint64_t entry = now.hash;
  if (auto known = deadEnds.find(entry); known != deadEnds.end()) {
    blame.add(known->second);
    return Result::None;
  }
  std::vector<Lift> lifts;
  Times reach(now.states.size()), mine(now.states.size());
  size_t begin = now.trail.size();
  if (placed > depth.placed)
    depth = {placed, now.offsets};
  while (true) {
    if (--nodesLeft < 0 || now.visitsLeft < 0)
      return Result::GaveUp;
    int32_t unit = pick();
    if (unit < 0)
      return Result::Found;
    size_t before = now.trail.size();
    reach.clear();
    mine.clear();
    ++placed;
    if (!now.place(unit, reach))
      mine.add(now.dead);
    else if (Result result = descend(mine); result != Result::None)
      return result;
    --placed;
    now.undo(before);
    if (reach.meets(mine)) {
      mine.add(sections.spans[unit]);
      lifts.push_back({unit, mine});
      if (now.lift(unit))
        continue;
      mine.clear();
      mine.add(now.dead);
    }
    now.undo(begin);
    return fail(blame, mine, lifts, entry);
  }
}

/// Fails at a dead end. Lifted units share the blame with the causes of their lift.
Probe::Result Probe::fail(Times &blame, Times &mine, const std::vector<Lift> &lifts,
                          uint64_t entry) {
  for (auto lifted = lifts.rbegin(); lifted != lifts.rend(); ++lifted)
    if (mine.meets(sections.spans[lifted->unit]))
      mine.add(lifted->blame);
  blame.add(mine);
  if (deadEnds.size() < kMostDeadEnds)
    deadEnds.emplace(entry, mine);
  return Result::None;
}

/// A section where only one unit can be the lowest comes first. Then the one with the fewest
/// choices for its weight, the lowest one, or the one with the fewest choices. Choices in a row are
/// the chains that can fill its bottom.
int32_t Probe::pickSection(Supports::Span span, int64_t below) const {
  int32_t best = -1;
  auto key = [&](int32_t s) {
    double lowest = static_cast<double>(now.states[s].lowest), choices = now.states[s].chains;
    double forced = now.states[s].choices > 1;
    return turn.learns       ? std::array<double, 3>{forced, choices / now.weights[s], lowest}
           : turn.forcedOnly ? std::array<double, 3>{forced, lowest, choices}
                             : std::array<double, 3>{choices, lowest, 0};
  };
  std::array<double, 3> bestKey{};
  for (int32_t s = span.first; s <= span.second; ++s) {
    if (now.states[s].choices == 0 || now.states[s].lowest >= below)
      continue;
    std::array<double, 3> found = key(s);
    if (best < 0 || found < bestKey) {
      best = s;
      bestKey = found;
    }
  }
  return best;
}

/// Weight of a guide, more than all ends of a unit can weigh.
static constexpr int64_t kGuideWeight = 5;

/// Weighs a unit for the choice of the next branch. A unit whose ends meet a higher unit, or an end
/// of time, comes first; the weight doubles if its top is level with its neighbour's.
int64_t Probe::weigh(int32_t unit) const {
  auto [first, last] = sections.spans[unit];
  int64_t top = now.support[unit] + sections.units[unit].size, ends = 0;
  for (int32_t beside : {first - 1, last + 1}) {
    bool isEnd = beside < 0 || beside == static_cast<int32_t>(now.states.size());
    ends += turn.fits && (isEnd || now.states[beside].lowest > now.support[unit]);
    ends += !isEnd && now.states[beside].lowest == top;
  }
  ends += kGuideWeight * (guide && guide->offsets[unit] == now.support[unit]);
  return rank[unit] - ends * static_cast<int64_t>(rank.size());
}

/// Returns whether another unit could still slip below a unit.
static bool mustWait(const Supports &now, int32_t unit) {
  const Conflict *end = now.sections.conflicts.end(unit);
  for (const Conflict *entry = now.sections.conflicts.begin(unit); entry != end; ++entry)
    if (now.offsets[entry->other] < 0 &&
        now.support[entry->other] + entry->theirs <= now.support[unit])
      return true;
  return false;
}

int32_t Probe::pickUnit(int32_t section) const {
  int32_t best = -1;
  std::pair<int64_t, int64_t> bestKey;
  for (size_t i = 0; i < sections.members[section].size(); ++i) {
    int32_t unit = sections.members[section][i];
    if (now.offsets[unit] >= 0 || sections.loads[section][i] == 0 ||
        now.support[unit] > now.room(section))
      continue;
    std::pair<int64_t, int64_t> key{now.support[unit], weigh(unit)};
    if (best < 0 || key < bestKey) {
      best = unit;
      bestKey = key;
    }
  }
  return best;
}

/// Picks the unit to place, -1 if all are placed. If a unit has to wait, the search moves to the
/// lower units of its sections: a unit that slips below it lies at the bottom of one of them.
int32_t Probe::pick() {
  now.visitsLeft -= static_cast<int64_t>(now.states.size());
  int32_t section = pickSection({0, static_cast<int32_t>(now.states.size()) - 1}, Supports::kNone);
  int32_t best = section < 0 ? -1 : pickUnit(section);
  while (best >= 0 && mustWait(now, best)) {
    section = pickSection(sections.spans[best], now.support[best]);
    if (section < 0)
      break;
    best = pickUnit(section);
  }
  return best;
}
