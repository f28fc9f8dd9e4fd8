// reprise: the judge of offsets in one arena
#include "reprise/Planning/Offsets/Problem.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

using namespace reprise::offsets;

static constexpr size_t kNoGroup = SIZE_MAX;

static Defect defectOf(Defect::Kind kind, size_t buffer, const std::string &what) {
  return {kind, buffer, buffer, "buffer " + std::to_string(buffer) + " " + what};
}

/// Returns the group of each buffer, `kNoGroup` for none.
static std::vector<size_t> groupOf(const Problem &problem) {
  std::vector<size_t> result(problem.buffers.size(), kNoGroup);
  for (size_t group = 0; group < problem.groups.size(); ++group)
    for (size_t member : problem.groups[group])
      result[member] = group;
  return result;
}

static std::optional<Defect> validateGroups(const Problem &problem) {
  std::vector<bool> seen(problem.buffers.size());
  for (const std::vector<size_t> &group : problem.groups)
    for (size_t member : group) {
      if (member >= problem.buffers.size())
        return defectOf(Defect::Kind::Problem, member, "is in a group but does not exist");
      if (seen[member])
        return defectOf(Defect::Kind::Problem, member, "is in two groups");
      seen[member] = true;
    }
  return std::nullopt;
}

std::optional<Defect> reprise::offsets::validate(const Problem &problem) {
  if (problem.alignment <= 0 || problem.alignment > (int64_t(1) << 32))
    return Defect{Defect::Kind::Problem, 0, 0, "the alignment is not between 1 and 2^32"};
  int64_t room = int64_t(1) << 62;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    if (buffer.size < 0)
      return defectOf(Defect::Kind::Problem, i, "has a negative size");
    if (buffer.first > buffer.last)
      return defectOf(Defect::Kind::Problem, i, "ends before it begins");
    // Rounding up may add nearly an alignment per buffer.
    if (buffer.size > room - problem.alignment)
      return defectOf(Defect::Kind::Problem, i, "brings the sum of all sizes above 2^62");
    room -= buffer.size + problem.alignment;
  }
  return validateGroups(problem);
}

namespace {
/// The buffers that are live at one moment, by offset. Buffers with bytes share an offset only
/// inside their group, so the places stay disjoint as long as no defect was found.
class LiveSet {
public:
  LiveSet(const Problem &problem, const Solution &solution)
      : problem(problem), solution(solution), groups(groupOf(problem)) {}

  std::optional<Defect> insert(size_t buffer) {
    int64_t offset = solution.offsets[buffer];
    int64_t end = offset + problem.buffers[buffer].size;
    auto next = places.upper_bound(offset);
    if (next != places.end() && next->first < end)
      return overlap(buffer, next->second.begin()->second);
    if (next != places.begin()) {
      const auto &[start, members] = *std::prev(next);
      auto [highest, other] = *members.rbegin();
      bool together =
          start == offset && groups[buffer] != kNoGroup && groups[buffer] == groups[other];
      if (highest > offset && !together)
        return overlap(buffer, other);
    }
    places[offset].insert({end, buffer});
    return std::nullopt;
  }

  void erase(size_t buffer) {
    auto place = places.find(solution.offsets[buffer]);
    place->second.erase({place->first + problem.buffers[buffer].size, buffer});
    if (place->second.empty())
      places.erase(place);
  }

private:
  std::string describe(size_t index) const {
    const Buffer &buffer = problem.buffers[index];
    int64_t offset = solution.offsets[index];
    return "buffer " + std::to_string(index) + " (commands " + std::to_string(buffer.first) +
           " to " + std::to_string(buffer.last) + ", bytes " + std::to_string(offset) + " to " +
           std::to_string(offset + buffer.size) + ")";
  }
  Defect overlap(size_t one, size_t two) const {
    auto [first, second] = std::minmax(one, two);
    return {Defect::Kind::Overlap, first, second,
            describe(first) + " overlaps " + describe(second)};
  }

  const Problem &problem;
  const Solution &solution;
  std::vector<size_t> groups;
  std::map<int64_t, std::set<std::pair<int64_t, size_t>>> places; // (end, buffer) by offset
};
} // namespace

static std::optional<Defect> validateOverlaps(const Problem &problem, const Solution &solution) {
  // A buffer dies after its last command: at equal times births come before deaths.
  struct Event {
    int64_t command;
    bool death;
    size_t buffer;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (problem.buffers[i].size == 0)
      continue;
    events.push_back({problem.buffers[i].first, false, i});
    events.push_back({problem.buffers[i].last, true, i});
  }
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return std::tie(a.command, a.death, a.buffer) < std::tie(b.command, b.death, b.buffer);
  });
  LiveSet live(problem, solution);
  for (const Event &event : events) {
    if (event.death)
      live.erase(event.buffer);
    else if (std::optional<Defect> defect = live.insert(event.buffer))
      return defect;
  }
  return std::nullopt;
}

static std::optional<Defect> validateOffsets(const Problem &problem, const Solution &solution) {
  if (solution.offsets.size() != problem.buffers.size())
    return Defect{Defect::Kind::Count, 0, 0,
                  std::to_string(solution.offsets.size()) + " offsets for " +
                      std::to_string(problem.buffers.size()) + " buffers"};
  for (size_t i = 0; i < solution.offsets.size(); ++i) {
    int64_t offset = solution.offsets[i];
    if (offset < 0 || offset > INT64_MAX - problem.buffers[i].size)
      return defectOf(Defect::Kind::Offset, i, "has the offset " + std::to_string(offset));
    if (offset % problem.alignment != 0)
      return defectOf(Defect::Kind::Offset, i,
                      "has the offset " + std::to_string(offset) + ", no multiple of " +
                          std::to_string(problem.alignment));
  }
  for (const std::vector<size_t> &group : problem.groups)
    for (size_t member : group)
      if (solution.offsets[member] != solution.offsets[group.front()])
        return Defect{Defect::Kind::Group, group.front(), member,
                      "buffers " + std::to_string(group.front()) + " and " +
                          std::to_string(member) + " of one group have different offsets"};
  return std::nullopt;
}

std::optional<Defect> reprise::offsets::validate(const Problem &problem, const Solution &solution) {
  if (std::optional<Defect> defect = validate(problem))
    return defect;
  if (std::optional<Defect> defect = validateOffsets(problem, solution))
    return defect;
  if (std::optional<Defect> defect = validateOverlaps(problem, solution))
    return defect;
  int64_t height = 0;
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    if (problem.buffers[i].size > 0)
      height = std::max(height, solution.offsets[i] + problem.buffers[i].size);
  if (height != solution.height)
    return Defect{Defect::Kind::Height, 0, 0,
                  "the height is " + std::to_string(height) + ", not " +
                      std::to_string(solution.height)};
  return std::nullopt;
}
