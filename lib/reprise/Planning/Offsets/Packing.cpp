// reprise: offsets by placing units one by one among those that they conflict with
#include "Packing.h"

#include <algorithm>

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
  // The k-th birth meets all that were born before it and are not dead yet.
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
/// Collects the conflicts of one unit after the other; several members may meet the same unit.
class ConflictTable {
public:
  ConflictTable(const Problem &problem, const std::vector<Unit> &units)
      : problem(problem), unitOf(problem.buffers.size(), -1), rows(units.size()) {
    for (size_t i = 0; i < units.size(); ++i)
      for (size_t member : units[i].members)
        unitOf[member] = static_cast<int32_t>(i);
  }

  void meet(size_t one, size_t two) {
    int32_t a = unitOf[one], b = unitOf[two];
    if (a == b)
      return;
    rows[a].push_back({b, problem.buffers[one].size, problem.buffers[two].size});
    rows[b].push_back({a, problem.buffers[two].size, problem.buffers[one].size});
  }

  /// One entry per unit: the ranges that several members forbid all contain the other's offset, so
  /// their union is the range of the largest sizes.
  static void merge(std::vector<Conflict> &row) {
    std::sort(row.begin(), row.end(),
              [](const Conflict &a, const Conflict &b) { return a.other < b.other; });
    size_t kept = 0;
    for (size_t i = 1; i < row.size(); ++i) {
      if (row[i].other != row[kept].other) {
        row[++kept] = row[i];
        continue;
      }
      row[kept].mine = std::max(row[kept].mine, row[i].mine);
      row[kept].theirs = std::max(row[kept].theirs, row[i].theirs);
    }
    if (!row.empty())
      row.resize(kept + 1);
  }

  const Problem &problem;
  std::vector<int32_t> unitOf;
  std::vector<std::vector<Conflict>> rows;
};
} // namespace

Conflicts Conflicts::build(const Problem &problem, const std::vector<Unit> &units) {
  std::vector<size_t> births;
  for (const Unit &unit : units)
    births.insert(births.end(), unit.members.begin(), unit.members.end());
  std::sort(births.begin(), births.end(), [&](size_t a, size_t b) {
    return std::make_pair(problem.buffers[a].first, a) <
           std::make_pair(problem.buffers[b].first, b);
  });
  ConflictTable table(problem, units);
  std::vector<size_t> live;
  for (size_t buffer : births) {
    int64_t now = problem.buffers[buffer].first;
    live.erase(std::remove_if(live.begin(), live.end(),
                              [&](size_t other) { return problem.buffers[other].last < now; }),
               live.end());
    for (size_t other : live)
      table.meet(buffer, other);
    live.push_back(buffer);
  }
  Conflicts result;
  result.starts.push_back(0);
  for (std::vector<Conflict> &row : table.rows) {
    ConflictTable::merge(row);
    result.entries.insert(result.entries.end(), row.begin(), row.end());
    result.starts.push_back(result.entries.size());
    row = {};
  }
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
  // Offsets from `candidate` on are free of the ranges seen; an open range (low, high) forbids what
  // lies strictly inside.
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
