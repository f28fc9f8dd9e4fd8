// reprise: how a probe branches, and how many probes take turns
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
void Probe::rankUnits() {
  SplitMix random(static_cast<uint64_t>(turn.number));
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
  for (size_t i = 0; i < sorted.size(); ++i)
    rank[sorted[i]] = static_cast<int32_t>(i);
}

/// Units of the same sections conflict with the same others. Those of a group have several sizes,
/// and those whose size is rounded up are left where they are, since the topmost may end unaligned.
void Probe::findTwins() {
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
      bool alike = sections.units[order[i]].size == sections.units[order[j]].size;
      (alike ? twins : stacks)[order[i]].push_back(order[j]);
      (alike ? twins : stacks)[order[j]].push_back(order[i]);
    }
}

Probe::Result Probe::descend(Times &blame) {
  uint64_t entry = hash;
  if (auto known = deadEnds.find(entry); known != deadEnds.end()) {
    blame.add(known->second);
    return Result::None;
  }
  std::vector<Lift> lifts;
  Times reach(states.size()), mine(states.size());
  size_t begin = trail.size();
  if (placed > depth.placed)
    depth = {placed, offsets};
  while (true) {
    if (--nodesLeft < 0 || visitsLeft < 0)
      return Result::GaveUp;
    int32_t unit = pick();
    if (unit < 0)
      return Result::Found;
    size_t before = trail.size();
    reach.clear();
    mine.clear();
    ++placed;
    if (!place(unit, reach))
      mine.add(dead);
    else if (Result result = descend(mine); result != Result::None)
      return result;
    --placed;
    undo(before);
    if (reach.meets(mine)) {
      mine.add(sections.spans[unit]);
      lifts.push_back({unit, mine});
      if (lift(unit))
        continue;
      mine.clear();
      mine.add(dead);
    }
    undo(begin);
    return fail(blame, mine, lifts, entry);
  }
}

/// Units that were lifted share the blame with what made them so.
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
int32_t Probe::pickSection(Span span, int64_t below) const {
  int32_t best = -1;
  auto key = [&](int32_t s) {
    double lowest = static_cast<double>(states[s].lowest), choices = states[s].chains;
    double forced = states[s].choices > 1;
    return turn.learns       ? std::array<double, 3>{forced, choices / weights[s], lowest}
           : turn.forcedOnly ? std::array<double, 3>{forced, lowest, choices}
                             : std::array<double, 3>{choices, lowest, 0};
  };
  std::array<double, 3> bestKey{};
  for (int32_t s = span.first; s <= span.second; ++s) {
    if (states[s].choices == 0 || states[s].lowest >= below)
      continue;
    std::array<double, 3> found = key(s);
    if (best < 0 || found < bestKey) {
      best = s;
      bestKey = found;
    }
  }
  return best;
}

/// More than all ends of a unit can weigh.
static constexpr int64_t kGuideWeight = 5;

/// A unit whose ends meet something higher, or an end of time, comes first, and twice so where its
/// top is level with what it meets.
int64_t Probe::weigh(int32_t unit) const {
  auto [first, last] = sections.spans[unit];
  int64_t top = support[unit] + sections.units[unit].size, ends = 0;
  for (int32_t beside : {first - 1, last + 1}) {
    bool isEnd = beside < 0 || beside == static_cast<int32_t>(states.size());
    ends += turn.fits && (isEnd || states[beside].lowest > support[unit]);
    ends += !isEnd && states[beside].lowest == top;
  }
  ends += kGuideWeight * (guide && guide->offsets[unit] == support[unit]);
  return rank[unit] - ends * static_cast<int64_t>(rank.size());
}

/// Whether another one could still slip below a unit.
bool Probe::mustWait(int32_t unit) const {
  const Conflict *end = sections.conflicts.end(unit);
  for (const Conflict *entry = sections.conflicts.begin(unit); entry != end; ++entry)
    if (offsets[entry->other] < 0 && support[entry->other] + entry->theirs <= support[unit])
      return true;
  return false;
}

int32_t Probe::pickUnit(int32_t section) const {
  int32_t best = -1;
  std::pair<int64_t, int64_t> bestKey;
  for (size_t i = 0; i < sections.members[section].size(); ++i) {
    int32_t unit = sections.members[section][i];
    if (offsets[unit] >= 0 || sections.loads[section][i] == 0 || support[unit] > room(section))
      continue;
    std::pair<int64_t, int64_t> key{support[unit], weigh(unit)};
    if (best < 0 || key < bestKey) {
      best = unit;
      bestKey = key;
    }
  }
  return best;
}

/// The unit to put down, -1 if all are. One that has to wait leads to the lower ones of its
/// sections: what slips below it lies at the bottom of one of them.
int32_t Probe::pick() {
  visitsLeft -= static_cast<int64_t>(states.size());
  int32_t section = pickSection({0, static_cast<int32_t>(states.size()) - 1}, kNone);
  int32_t best = section < 0 ? -1 : pickUnit(section);
  while (best >= 0 && mustWait(best)) {
    section = pickSection(sections.spans[best], support[best]);
    if (section < 0)
      break;
    best = pickUnit(section);
  }
  return best;
}
