// reprise: lower bounds on the height of an arena
#include "reprise/Planning/Offsets/Problem.h"

#include <algorithm>
#include <set>
#include <tuple>

using namespace reprise::offsets;

namespace {
/// Sum of live bytes, unit by unit: a group, or a single buffer.
class Load {
public:
  Load(const Problem &problem, int64_t alignment) : problem(problem), alignment(alignment) {
    units.resize(problem.buffers.size());
    for (size_t i = 0; i < units.size(); ++i)
      units[i] = i;
    for (const std::vector<size_t> &group : problem.groups)
      for (size_t member : group)
        units[member] = group.front();
    live.resize(units.size());
  }

  void change(size_t buffer, bool birth) {
    std::multiset<int64_t> &sizes = live[units[buffer]];
    int64_t before = sizes.empty() ? 0 : *sizes.rbegin();
    if (birth)
      sizes.insert(problem.buffers[buffer].size);
    else
      sizes.erase(sizes.find(problem.buffers[buffer].size));
    int64_t after = sizes.empty() ? 0 : *sizes.rbegin();
    if (before != after)
      replace(before, after);
  }

  int64_t height() const { return sum - (slacks.empty() ? 0 : *slacks.rbegin()); }

private:
  int64_t slackOf(int64_t size) const { return (alignment - size % alignment) % alignment; }
  void replace(int64_t before, int64_t after) {
    if (before > 0) {
      sum -= before + slackOf(before);
      slacks.erase(slacks.find(slackOf(before)));
    }
    if (after > 0) {
      sum += after + slackOf(after);
      slacks.insert(slackOf(after));
    }
  }

  const Problem &problem;
  int64_t alignment;
  int64_t sum = 0;                          // sum of sizes, rounded up
  std::multiset<int64_t> slacks;            // bytes that rounding added
  std::vector<size_t> units;                // unit of each buffer
  std::vector<std::multiset<int64_t>> live; // sizes of the live members of each unit
};
} // namespace

static int64_t highest(const Problem &problem, int64_t alignment) {
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
  Load load(problem, alignment);
  int64_t result = 0;
  for (const Event &event : events) {
    load.change(event.buffer, !event.death);
    result = std::max(result, load.height());
  }
  return result;
}

int64_t reprise::offsets::maxLoad(const Problem &problem) { return highest(problem, 1); }

int64_t reprise::offsets::lowerBound(const Problem &problem) {
  return highest(problem, problem.alignment);
}
