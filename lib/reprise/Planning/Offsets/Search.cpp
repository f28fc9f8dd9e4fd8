// reprise: exact search for offsets below a limit (Moffitt, MiniMalloc, ASPLOS 2023, §4)
#include "Sections.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace reprise::offsets;

/// By which each round of probes is longer than the one before.
static constexpr double kGrowth = 1.4;

/// Nodes of the complete search for each node of a probe. It is the one that can prove.
static constexpr double kSearchShare = 0.25;

namespace {

/// Places units from the bottom up: each where it rests on those below it, none lower than the one
/// before. Each packing slides down into one of this form, so that the search is complete.
class Search {
public:
  Search(const Sections &table, std::vector<int32_t> rank, bool lowestFirst, int64_t limit)
      : table(table), rank(std::move(rank)), lowestFirst(lowestFirst), limit(limit),
        support(table.units.size(), 0), offsets(table.units.size(), -1) {
    for (const std::vector<int64_t> &loads : table.loads)
      remaining.push_back(std::accumulate(loads.begin(), loads.end(), int64_t{0}));
  }

  /// True if all could be placed. Gives up after so many nodes or visits.
  bool run(int64_t nodes, int64_t visits) {
    nodesLeft = nodes;
    visitsLeft = visits;
    return place(table.byBirth, 0, -1);
  }
  bool gaveUp() const { return nodesLeft < 0 || visitsLeft < 0; }
  int64_t countVisits(int64_t given) const { return given - visitsLeft; }
  const std::vector<int64_t> &result() const { return offsets; }

private:
  using List = std::vector<int32_t>;

  bool place(const List &open, int64_t floor, int32_t last);
  bool placeParts(const List &open, const std::vector<List> &parts, int64_t floor, int32_t last);
  bool placeOne(const List &open, int32_t unit, int64_t floor);
  std::vector<List> split(const List &open);
  List findCandidates(const List &open, int64_t floor, int32_t last);
  bool raise(int32_t unit, std::vector<std::pair<int32_t, int64_t>> &before);
  bool fits(int32_t begin, int32_t end, int64_t floor);
  void take(int32_t unit, int64_t sign);

  const Sections &table;
  std::vector<int32_t> rank;
  bool lowestFirst;
  int64_t limit;
  std::vector<int64_t> support;   // the top of what lies below a unit
  std::vector<int64_t> offsets;   // -1: not placed
  std::vector<int64_t> remaining; // bytes of a section that are not placed
  int64_t nodesLeft = 0, visitsLeft = 0;
};

/// Parts that share no time are placed one by one.
std::vector<Search::List> Search::split(const List &open) {
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

bool Search::placeParts(const List &open, const std::vector<List> &parts, int64_t floor,
                        int32_t last) {
  std::vector<int64_t> before = support;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (place(parts[i], floor, last))
      continue;
    for (size_t done = 0; done < i; ++done)
      for (int32_t unit : parts[done]) {
        offsets[unit] = -1;
        take(unit, +1);
      }
    for (int32_t unit : open)
      support[unit] = before[unit];
    return false;
  }
  return true;
}

/// What may come next. One that another could still slip below of does not.
Search::List Search::findCandidates(const List &open, int64_t floor, int32_t last) {
  int64_t lowestTop = INT64_MAX;
  for (int32_t unit : open)
    lowestTop = std::min(lowestTop, std::max(support[unit], floor) + table.units[unit].size);
  List found;
  for (int32_t unit : open) {
    bool isLater = support[unit] > floor || rank[unit] > last;
    if (isLater && support[unit] < lowestTop)
      found.push_back(unit);
  }
  std::sort(found.begin(), found.end(), [&](int32_t a, int32_t b) {
    int64_t left = lowestFirst ? std::max(support[a], floor) : 0;
    int64_t right = lowestFirst ? std::max(support[b], floor) : 0;
    return std::make_pair(left, rank[a]) < std::make_pair(right, rank[b]);
  });
  visitsLeft -= static_cast<int64_t>(open.size());
  return found;
}

bool Search::place(const List &open, int64_t floor, int32_t last) {
  std::vector<List> parts = split(open);
  if (parts.empty())
    return true;
  if (parts.size() > 1)
    return placeParts(open, parts, floor, last);
  if (--nodesLeft < 0 || visitsLeft < 0)
    return false;
  for (int32_t unit : findCandidates(open, floor, last)) {
    if (placeOne(open, unit, std::max(floor, support[unit])))
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

/// Lifts what conflicts with a placed unit above it; false if something does not fit there.
bool Search::raise(int32_t unit, std::vector<std::pair<int32_t, int64_t>> &before) {
  const Conflict *end = table.conflicts.end(unit);
  visitsLeft -= end - table.conflicts.begin(unit);
  for (const Conflict *entry = table.conflicts.begin(unit); entry != end; ++entry) {
    int64_t top = roundUp(offsets[unit] + entry->mine, table.alignment);
    if (offsets[entry->other] >= 0 || support[entry->other] >= top)
      continue;
    before.push_back({entry->other, support[entry->other]});
    support[entry->other] = top;
    if (top + table.units[entry->other].size > limit)
      return false;
  }
  return true;
}

/// Whether what is left of each section has room above its lowest place.
bool Search::fits(int32_t begin, int32_t end, int64_t floor) {
  for (int32_t s = begin; s <= end; ++s) {
    if (remaining[s] == 0)
      continue;
    int64_t lowest = INT64_MAX;
    for (int32_t unit : table.members[s])
      if (offsets[unit] < 0)
        lowest = std::min(lowest, support[unit]);
    visitsLeft -= static_cast<int64_t>(table.members[s].size());
    if (std::max(lowest, floor) + remaining[s] - table.slack[s] > limit)
      return false;
  }
  return true;
}

bool Search::placeOne(const List &open, int32_t unit, int64_t floor) {
  std::vector<std::pair<int32_t, int64_t>> before;
  offsets[unit] = floor;
  take(unit, -1);
  int32_t begin = table.spans[open.front()].first, end = begin;
  for (int32_t other : open)
    end = std::max(end, table.spans[other].second);
  if (raise(unit, before) && fits(begin, end, floor)) {
    List rest;
    for (int32_t other : open)
      if (other != unit)
        rest.push_back(other);
    if (place(rest, floor, rank[unit]))
      return true;
  }
  for (auto entry = before.rbegin(); entry != before.rend(); ++entry)
    support[entry->first] = entry->second;
  take(unit, +1);
  offsets[unit] = -1;
  return false;
}

/// Units by three of life, area and load, the largest first: the orders that MiniMalloc tries.
std::vector<std::vector<int32_t>> rankings(const Sections &table) {
  size_t count = table.units.size();
  std::vector<double> life(count), area(count), load(count);
  for (size_t s = 0; s < table.members.size(); ++s) {
    double sum = std::accumulate(table.loads[s].begin(), table.loads[s].end(), 0.0);
    for (int32_t unit : table.members[s])
      load[unit] = std::max(load[unit], sum);
  }
  for (size_t i = 0; i < count; ++i) {
    life[i] = static_cast<double>(table.units[i].last - table.units[i].first + 1);
    area[i] = life[i] * static_cast<double>(table.units[i].size);
  }
  std::vector<std::vector<int32_t>> ranks;
  for (auto [a, b, c] :
       {std::tie(life, area, load), std::tie(load, area, life), std::tie(load, life, area)}) {
    std::vector<int32_t> order(count), rank(count);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&, &a = a, &b = b, &c = c](int32_t i, int32_t j) {
      return std::make_tuple(-a[i], -b[i], -c[i], i) < std::make_tuple(-a[j], -b[j], -c[j], j);
    });
    for (size_t i = 0; i < count; ++i)
      rank[order[i]] = static_cast<int32_t>(i);
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

/// The problem with its holes as buffers, which come last. An arena that is always full leaves a
/// probe little choice. The packing may have other holes, so that it proves nothing.
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

Found reprise::offsets::search(const Problem &problem, const std::vector<Unit> &units,
                               const Conflicts &conflicts, int64_t limit, int64_t visits,
                               std::vector<int64_t> &offsets) {
  Sections table(problem, units, conflicts);
  std::vector<std::vector<int32_t>> ranks = rankings(table);
  // Which order is lucky differs from problem to problem: all get their turn, each time for longer.
  Turns turns(problem, table, limit);
  double nodes = std::max<double>(1000, 2 * static_cast<double>(units.size()));
  for (size_t round = 0; visits > 0; ++round, nodes *= kGrowth) {
    if (turns.find(static_cast<int64_t>(nodes), visits, offsets))
      return Found::Yes;
    Search search(table, ranks[round / 2 % 3], round % 2 == 1, limit);
    bool found = search.run(static_cast<int64_t>(kSearchShare * nodes), visits);
    if (found)
      offsets = search.result();
    if (found || !search.gaveUp())
      return found ? Found::Yes : Found::No;
    visits -= search.countVisits(visits);
  }
  return Found::Unknown;
}
