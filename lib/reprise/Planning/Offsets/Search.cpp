// reprise: exact search for offsets below a limit (Moffitt, MiniMalloc, ASPLOS 2023, §4)
#include "Probe.h"

#include <algorithm>
#include <array>
#include <numeric>

using namespace reprise::offsets;

/// Factor by which each round of probes is longer than the round before.
static constexpr double kGrowth = 1.4;

/// Visits of each complete search per visit of the probes of a round, and their minimum.
/// Complete searches can prove, but seldom find packings that probes miss.
static constexpr double kSearchShare = 0.05;
static constexpr int64_t kLeastSearch = 1'000'000;

namespace {

/// Keys by which a complete search ranks units, one after the other, largest first: the orders of
/// MiniMalloc.
enum class Key { Life, Area, Load };
using Ranking = std::array<Key, 3>;
constexpr std::array<Ranking, 3> kRankings = {{{Key::Life, Key::Area, Key::Load},
                                               {Key::Load, Key::Area, Key::Life},
                                               {Key::Load, Key::Life, Key::Area}}};

/// Search that places units from the bottom up, none lower than the one before, each on its
/// support: the top of the units below it. Each packing slides down into this form, so the search
/// is complete. A unit whose support is below the last unit waits until another unit raises it.
class Search {
public:
  Search(const Sections &table, const Ranking &ranking, int64_t limit)
      : table(table), ranking(ranking), limit(limit), rank(table.units.size()),
        support(table.units.size(), 0), offsets(table.units.size(), -1),
        lowest(table.members.size(), 0) {
    for (const std::vector<int64_t> &loads : table.loads)
      remaining.push_back(std::accumulate(loads.begin(), loads.end(), int64_t{0}));
  }

  /// Returns true if all units could be placed. Gives up after `visits` visits.
  bool run(int64_t visits) {
    visitsLeft = visits;
    return placeParts(table.byBirth, split(table.byBirth));
  }
  bool gaveUp() const { return visitsLeft < 0; }
  int64_t countVisits(int64_t given) const { return given - visitsLeft; }
  const std::vector<int64_t> &result() const { return offsets; }

private:
  using List = std::vector<int32_t>;
  /// Old values of a unit's support, or of a section's lowest support.
  using Changes = std::vector<std::pair<int32_t, int64_t>>;

  std::vector<List> split(const List &open) const;
  bool placeParts(const List &open, const std::vector<List> &parts);
  void rankPart(const List &part);
  bool place(const List &open, int64_t floor, int32_t last);
  bool placeOne(const List &open, int32_t unit);
  List findCandidates(const List &open, int64_t floor, int32_t last);
  bool raise(int32_t unit, Changes &supports);
  void refresh(int32_t unit, int64_t before, Changes &sections);
  bool fits(const List &open, int64_t floor);
  void take(int32_t unit, int64_t sign);

  static constexpr int64_t kNone = INT64_MAX;
  const Sections &table;
  const Ranking &ranking;
  int64_t limit;
  std::vector<int32_t> rank;    // rank within the part of a unit
  std::vector<int64_t> support; // top of the units below a unit
  std::vector<int64_t> offsets; // -1: not placed
  // Lowest support of unplaced units in a section; kNone if all are placed.
  std::vector<int64_t> lowest;
  std::vector<int64_t> remaining; // unplaced bytes of a section
  int64_t visitsLeft = 0;
};

/// Parts that share no time.
std::vector<Search::List> Search::split(const List &open) const {
  std::vector<List> parts;
  int64_t end = INT64_MIN;
  for (int32_t unit : open) {
    if (table.units[unit].first > end)
      parts.emplace_back();
    parts.back().push_back(unit);
    end = std::max(end, table.units[unit].last);
  }
  return parts;
}

/// Parts are placed one by one. What was placed before is no reason for one part to begin higher
/// than another: each begins at the bottom, and with an order of its own.
bool Search::placeParts(const List &open, const std::vector<List> &parts) {
  std::vector<int64_t> supports = support, lowests = lowest;
  std::vector<int32_t> ranks = rank;
  for (size_t i = 0; i < parts.size(); ++i) {
    rankPart(parts[i]);
    if (place(parts[i], 0, -1))
      continue;
    for (size_t done = 0; done < i; ++done)
      for (int32_t unit : parts[done]) {
        offsets[unit] = -1;
        take(unit, +1);
      }
    support = std::move(supports);
    lowest = std::move(lowests);
    rank = std::move(ranks);
    return false;
  }
  return true;
}

/// Ranks the units of a part. The load of a unit is the largest load of its sections, over unplaced
/// units.
void Search::rankPart(const List &part) {
  std::vector<std::pair<std::array<double, 3>, int32_t>> keys;
  for (int32_t unit : part) {
    auto [first, last] = table.spans[unit];
    visitsLeft -= last - first + 1;
    double life = static_cast<double>(table.units[unit].last - table.units[unit].first + 1);
    double load = static_cast<double>(
        *std::max_element(remaining.begin() + first, remaining.begin() + last + 1));
    std::array<double, 3> values = {life, life * static_cast<double>(table.units[unit].size), load};
    keys.push_back({{}, unit});
    for (size_t i = 0; i < values.size(); ++i)
      keys.back().first[i] = -values[static_cast<size_t>(ranking[i])];
  }
  std::sort(keys.begin(), keys.end());
  for (size_t i = 0; i < keys.size(); ++i)
    rank[keys[i].second] = static_cast<int32_t>(i);
}

/// Returns the candidates for the next place, lowest first. A unit below which another could still
/// slip is no candidate.
Search::List Search::findCandidates(const List &open, int64_t floor, int32_t last) {
  int64_t lowestTop = kNone;
  for (int32_t unit : open)
    lowestTop = std::min(lowestTop, support[unit] + table.units[unit].size);
  List found;
  for (int32_t unit : open) {
    bool isLater = support[unit] > floor || (support[unit] == floor && rank[unit] > last);
    if (isLater && support[unit] < lowestTop)
      found.push_back(unit);
  }
  std::sort(found.begin(), found.end(), [&](int32_t a, int32_t b) {
    return std::make_pair(support[a], rank[a]) < std::make_pair(support[b], rank[b]);
  });
  visitsLeft -= static_cast<int64_t>(open.size());
  return found;
}

bool Search::place(const List &open, int64_t floor, int32_t last) {
  if (gaveUp())
    return false;
  for (int32_t unit : findCandidates(open, floor, last)) {
    if (placeOne(open, unit))
      return true;
    if (gaveUp())
      return false;
  }
  return false;
}

void Search::take(int32_t unit, int64_t sign) {
  auto [begin, end] = table.spans[unit];
  for (int32_t s = begin; s <= end; ++s) {
    auto at = std::lower_bound(table.members[s].begin(), table.members[s].end(), unit);
    remaining[s] += sign * table.loads[s][at - table.members[s].begin()];
  }
}

/// Lifts units that conflict with a placed unit above it; returns false if a unit does not fit
/// there.
bool Search::raise(int32_t unit, Changes &supports) {
  const Conflict *end = table.conflicts.end(unit);
  visitsLeft -= end - table.conflicts.begin(unit);
  for (const Conflict *entry = table.conflicts.begin(unit); entry != end; ++entry) {
    int64_t top = roundUp(offsets[unit] + entry->mine, table.alignment);
    if (offsets[entry->other] >= 0 || support[entry->other] >= top)
      continue;
    supports.push_back({entry->other, support[entry->other]});
    support[entry->other] = top;
    if (top + table.units[entry->other].size > limit)
      return false;
  }
  return true;
}

/// Recomputes lowest supports of sections in which a placed or raised unit had the lowest support.
/// Supports only rise, so another unit with the same support ends the search.
void Search::refresh(int32_t unit, int64_t before, Changes &sections) {
  auto [begin, end] = table.spans[unit];
  for (int32_t s = begin; s <= end; ++s) {
    if (lowest[s] != before)
      continue;
    int64_t found = kNone;
    size_t seen = 0;
    for (; seen < table.members[s].size() && found > before; ++seen)
      if (int32_t other = table.members[s][seen]; offsets[other] < 0)
        found = std::min(found, support[other]);
    visitsLeft -= static_cast<int64_t>(seen);
    if (found == before)
      continue;
    sections.push_back({s, before});
    lowest[s] = found;
  }
}

/// Returns whether the unplaced units of each section fit above its lowest place.
bool Search::fits(const List &open, int64_t floor) {
  int32_t begin = table.spans[open.front()].first, end = begin;
  for (int32_t unit : open)
    end = std::max(end, table.spans[unit].second);
  visitsLeft -= (end - begin) / 4;
  for (int32_t s = begin; s <= end; ++s)
    if (remaining[s] > 0 && std::max(lowest[s], floor) + remaining[s] - table.slack[s] > limit)
      return false;
  return true;
}

bool Search::placeOne(const List &open, int32_t unit) {
  Changes supports, sections;
  int64_t floor = support[unit];
  offsets[unit] = floor;
  take(unit, -1);
  bool isGood = raise(unit, supports);
  refresh(unit, floor, sections);
  for (auto [other, before] : supports)
    refresh(other, before, sections);
  if (isGood && fits(open, floor)) {
    List rest;
    for (int32_t other : open)
      if (other != unit)
        rest.push_back(other);
    std::vector<List> parts = split(rest);
    if (parts.size() > 1 ? placeParts(rest, parts) : rest.empty() || place(rest, floor, rank[unit]))
      return true;
  }
  for (auto entry = sections.rbegin(); entry != sections.rend(); ++entry)
    lowest[entry->first] = entry->second;
  for (auto entry = supports.rbegin(); entry != supports.rend(); ++entry)
    support[entry->first] = entry->second;
  take(unit, +1);
  offsets[unit] = -1;
  return false;
}

/// Problem with its holes as buffers, which come last. An arena that is always full leaves a probe
/// little choice. Since the real packing may have other holes, failures prove nothing.
struct Filled {
  Filled(const Problem &problem, const Sections &table, int64_t limit)
      : problem(fill(problem, table, limit)), units(unitsOf(this->problem)),
        conflicts(Conflicts::build(this->problem, units)),
        sections(this->problem, units, conflicts) {}

  static Problem fill(Problem problem, const Sections &table, int64_t limit) {
    for (const Buffer &hole : findHoles(table, limit))
      problem.buffers.push_back(hole);
    return problem;
  }

  Problem problem;
  std::vector<Unit> units;
  Conflicts conflicts;
  Sections sections;
};

/// Probes with and without holes as buffers, in turns.
class Turns {
public:
  Turns(const Problem &problem, const Sections &table, int64_t limit)
      : table(table), filled(problem, table, limit), plain(table, limit),
        full(filled.sections, limit) {}

  bool find(int64_t nodes, int64_t &visits, std::vector<int64_t> &offsets) {
    bool hasHoles = filled.units.size() > table.units.size();
    for (int turn = 0; turn < Probes::kKinds && visits > 0; ++turn) {
      if (plain.find(nodes, visits, offsets))
        return true;
      if (hasHoles && visits > 0 && full.find(nodes, visits, offsets)) {
        offsets.resize(table.units.size());
        return true;
      }
    }
    return false;
  }

private:
  const Sections &table;
  Filled filled;
  Probes plain, full;
};

} // namespace

Found reprise::offsets::search(const Problem &problem, const Sections &table, int64_t limit,
                               int64_t visits, std::vector<int64_t> &offsets) {
  // The best order differs from problem to problem: all get their turn, each time for longer.
  Turns turns(problem, table, limit);
  double nodes = std::max<double>(1000, 2 * static_cast<double>(table.units.size()));
  for (; visits > 0; nodes *= kGrowth) {
    int64_t before = visits;
    if (turns.find(static_cast<int64_t>(nodes), visits, offsets))
      return Found::Yes;
    int64_t most = std::max(kLeastSearch, static_cast<int64_t>(kSearchShare * (before - visits)));
    for (const Ranking &ranking : kRankings) {
      Search search(table, ranking, limit);
      int64_t given = std::min(most, visits);
      bool found = search.run(given);
      if (found)
        offsets = search.result();
      if (found || !search.gaveUp())
        return found ? Found::Yes : Found::No;
      visits -= search.countVisits(given);
    }
  }
  return Found::Unknown;
}
