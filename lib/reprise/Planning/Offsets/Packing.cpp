// reprise: offsets by placing units one by one among units that they conflict with
#include "Packing.h"

#include <algorithm>
#include <numeric>

using namespace reprise::offsets;

std::vector<Unit> reprise::offsets::unitsOf(const Problem &problem) {
  std::vector<Unit> units;
  std::vector<bool> grouped(problem.buffers.size());
  auto add = [&](const std::vector<size_t> &members) {
    Unit unit;
    for (size_t member : members) {
      grouped[member] = true;
      const Buffer &buffer = problem.buffers[member];
      if (buffer.size == 0)
        continue;
      bool empty = unit.members.empty();
      unit.first = empty ? buffer.first : std::min(unit.first, buffer.first);
      unit.last = empty ? buffer.last : std::max(unit.last, buffer.last);
      unit.size = std::max(unit.size, buffer.size);
      unit.members.push_back(member);
    }
    if (!unit.members.empty())
      units.push_back(std::move(unit));
  };
  for (const std::vector<size_t> &group : problem.groups)
    add(group);
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    if (!grouped[i])
      add({i});
  return units;
}

int64_t reprise::offsets::heightOf(const std::vector<Unit> &units,
                                   const std::vector<int64_t> &offsets) {
  int64_t height = 0;
  for (size_t i = 0; i < units.size(); ++i)
    height = std::max(height, offsets[i] + units[i].size);
  return height;
}

Solution reprise::offsets::toSolution(const Problem &problem, const std::vector<Unit> &units,
                                      const std::vector<int64_t> &offsets) {
  Solution solution;
  solution.offsets.assign(problem.buffers.size(), 0);
  for (size_t i = 0; i < units.size(); ++i)
    for (size_t member : units[i].members)
      solution.offsets[member] = offsets[i];
  // A member without bytes is in no unit, yet shares its group's offset.
  for (const std::vector<size_t> &group : problem.groups) {
    int64_t offset = 0;
    for (size_t member : group)
      offset = std::max(offset, solution.offsets[member]);
    for (size_t member : group)
      solution.offsets[member] = offset;
  }
  solution.height = heightOf(units, offsets);
  return solution;
}

int64_t Conflicts::count(const std::vector<Unit> &units) {
  std::vector<int64_t> births, deaths;
  for (const Unit &unit : units) {
    births.push_back(unit.first);
    deaths.push_back(unit.last);
  }
  std::sort(births.begin(), births.end());
  std::sort(deaths.begin(), deaths.end());
  // The k-th birth conflicts with all units born before it that are still live.
  int64_t pairs = 0;
  size_t dead = 0;
  for (size_t born = 0; born < births.size(); ++born) {
    while (deaths[dead] < births[born])
      ++dead;
    pairs += static_cast<int64_t>(born - dead);
  }
  return 2 * pairs;
}

namespace {
/// Calls meet(a, b) for all pairs of buffers that live at one time; b was born first.
template <typename Meet>
void forEachPair(const Problem &problem, const std::vector<Unit> &units, Meet meet) {
  std::vector<size_t> births;
  for (const Unit &unit : units)
    births.insert(births.end(), unit.members.begin(), unit.members.end());
  std::sort(births.begin(), births.end(), [&](size_t a, size_t b) {
    return std::make_pair(problem.buffers[a].first, a) <
           std::make_pair(problem.buffers[b].first, b);
  });
  std::vector<size_t> live;
  for (size_t buffer : births) {
    int64_t now = problem.buffers[buffer].first;
    live.erase(std::remove_if(live.begin(), live.end(),
                              [&](size_t other) { return problem.buffers[other].last < now; }),
               live.end());
    for (size_t other : live)
      meet(buffer, other);
    live.push_back(buffer);
  }
}

/// Conflicts in rows, one unit after the other. Several members may conflict with the same unit.
struct Rows {
  std::vector<size_t> starts;
  std::vector<Conflict> entries;

  /// Transposes rows and columns, which sorts each row by the other unit.
  Rows transpose() const {
    Rows turned{starts, std::vector<Conflict>(entries.size())};
    std::vector<size_t> next(starts.begin(), starts.end() - 1);
    for (size_t unit = 0; unit + 1 < starts.size(); ++unit)
      for (size_t at = starts[unit]; at < starts[unit + 1]; ++at)
        turned.entries[next[entries[at].other]++] = {static_cast<int32_t>(unit), entries[at].theirs,
                                                     entries[at].mine};
    return turned;
  }
};

Rows findRows(const Problem &problem, const std::vector<Unit> &units) {
  std::vector<int32_t> unitOf(problem.buffers.size(), -1);
  for (size_t i = 0; i < units.size(); ++i)
    for (size_t member : units[i].members)
      unitOf[member] = static_cast<int32_t>(i);
  Rows rows{std::vector<size_t>(units.size() + 1), {}};
  forEachPair(problem, units, [&](size_t one, size_t two) {
    if (unitOf[one] == unitOf[two])
      return;
    ++rows.starts[unitOf[one] + 1];
    ++rows.starts[unitOf[two] + 1];
  });
  std::partial_sum(rows.starts.begin(), rows.starts.end(), rows.starts.begin());
  rows.entries.resize(rows.starts.back());
  std::vector<size_t> next(rows.starts.begin(), rows.starts.end() - 1);
  forEachPair(problem, units, [&](size_t one, size_t two) {
    int32_t a = unitOf[one], b = unitOf[two];
    int64_t own = problem.buffers[one].size, other = problem.buffers[two].size;
    if (a == b)
      return;
    rows.entries[next[a]++] = {b, own, other};
    rows.entries[next[b]++] = {a, other, own};
  });
  return rows;
}
} // namespace

/// Merges the entries of two units: the ranges that members forbid all contain the other's offset,
/// so their union is the range of the largest sizes.
Conflicts Conflicts::build(const Problem &problem, const std::vector<Unit> &units) {
  Rows rows = findRows(problem, units).transpose();
  Conflicts result;
  size_t kept = 0;
  for (size_t unit = 0; unit < units.size(); ++unit) {
    size_t begin = kept;
    result.starts.push_back(begin);
    for (size_t at = rows.starts[unit]; at < rows.starts[unit + 1]; ++at) {
      const Conflict &entry = rows.entries[at];
      if (kept == begin || rows.entries[kept - 1].other != entry.other) {
        rows.entries[kept++] = entry;
        continue;
      }
      Conflict &merged = rows.entries[kept - 1];
      merged.mine = std::max(merged.mine, entry.mine);
      merged.theirs = std::max(merged.theirs, entry.theirs);
    }
  }
  result.starts.push_back(kept);
  rows.entries.resize(kept);
  result.entries = std::move(rows.entries);
  return result;
}

int64_t Packer::place(size_t unit, const std::vector<int64_t> &offsets, Fit fit) {
  forbidden.clear();
  visits += conflicts.end(unit) - conflicts.begin(unit);
  for (const Conflict *entry = conflicts.begin(unit); entry != conflicts.end(unit); ++entry) {
    int64_t offset = offsets[entry->other];
    if (offset >= 0)
      forbidden.push_back({offset - entry->mine, offset + entry->theirs});
  }
  std::sort(forbidden.begin(), forbidden.end());
  // Offsets from `candidate` on are outside of the ranges seen so far; an open range (low, high)
  // forbids offsets strictly inside.
  int64_t candidate = 0, best = -1, bestRoom = INT64_MAX;
  for (auto [low, high] : forbidden) {
    if (low >= candidate) {
      if (fit == Fit::Lowest)
        return candidate;
      if (low - candidate < bestRoom) {
        bestRoom = low - candidate;
        best = candidate;
      }
    }
    candidate = std::max(candidate, (high + alignment - 1) / alignment * alignment);
  }
  return best >= 0 ? best : candidate;
}

std::vector<int64_t> Packer::pack(const std::vector<int32_t> &order, Fit fit, int64_t limit) {
  std::vector<int64_t> offsets(units.size(), -1);
  for (int32_t unit : order) {
    int64_t offset = place(unit, offsets, fit);
    if (offset + units[unit].size > limit)
      return {};
    offsets[unit] = offset;
  }
  return offsets;
}
