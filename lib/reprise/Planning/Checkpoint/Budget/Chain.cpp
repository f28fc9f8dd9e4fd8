// reprise: replays of a chain of units, by dynamic programming
#include "reprise/Planning/Checkpoint/Budget/Chain.h"

#include <algorithm>
#include <tuple>

using namespace reprise::checkpoint;

namespace {

/// Units first … last - 1, of which all take one way, and each `stride`-th input is replayed once.
struct Segment {
  int first = 0, last = 0, way = 0, stride = 1;
};

/// Seconds and bytes of a segment, without the bytes that earlier segments keep.
struct Taken {
  double seconds = 0;
  int64_t kept = 0, need = 0;
};

/// Segments up to a unit.
struct State {
  int64_t kept = 0;
  double seconds = 0;
  Segment segment;   // the last one
  int previous = -1; // state before the segment's first unit
};

class ChainSolver {
public:
  ChainSolver(const Chain &chain, int64_t budget)
      : chain(chain), budget(budget), states(chain.units.size() + 1) {}
  std::optional<ChainPlan> run();

private:
  void extend(const Segment &segment, const Taken &taken);
  void addSegments(int first);
  void prune(std::vector<State> &list) const;
  ChainPlan trace() const;

  const Chain &chain;
  int64_t budget;
  std::vector<std::vector<State>> states; // per unit: before it
};

} // namespace

static bool isReplayedOnce(const Segment &segment, int unit) {
  return unit > segment.first && (unit - segment.first) % segment.stride == 0;
}

namespace {
/// Adds up the seconds and bytes of a segment, one unit after the other.
class SegmentSum {
public:
  SegmentSum(const Chain &chain, const Segment &segment) : chain(chain), segment(segment) {
    taken.kept = chain.inputs[segment.first] * (segment.first > 0);
    there = taken.kept;
  }

  const Taken &add(int unit) {
    const Chain::Way &way = chain.units[unit][segment.way];
    int64_t input = 0;
    if (isReplayedOnce(segment, unit)) {
      there += chain.inputs[unit];
      taken.seconds += sinceBase; // on the way to it, once
      sinceBase = 0;
    } else if (unit > segment.first) {
      input = chain.inputs[unit];
      taken.seconds += sinceBase; // from the last input that is there
    }
    taken.need = std::max(taken.need, there + input + way.need);
    there += way.kept;
    taken.kept += way.kept;
    taken.seconds += way.own;
    sinceBase += way.again;
    return taken;
  }

private:
  const Chain &chain;
  Segment segment;
  Taken taken;
  int64_t there = 0;    // bytes of the segment that its next unit finds
  double sinceBase = 0; // seconds from the last input that is there to the next unit
};
} // namespace

void ChainSolver::extend(const Segment &segment, const Taken &taken) {
  const std::vector<State> &from = states[segment.first];
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i].kept + taken.need <= budget)
      states[segment.last].push_back({from[i].kept + taken.kept, from[i].seconds + taken.seconds,
                                      segment, static_cast<int>(i)});
}

void ChainSolver::addSegments(int first) {
  int count = static_cast<int>(chain.units.size());
  for (int way = 0; way < static_cast<int>(chain.units[first].size()); ++way)
    for (int stride = 1, next = 1; next <= count; stride = next) {
      next = stride == count ? count + 1 : std::min(count, stride + std::max(1, stride / 8 * 4));
      Segment segment{first, first + 1, way, stride};
      for (SegmentSum sum(chain, segment); segment.last <= count; ++segment.last) {
        const Taken &taken = sum.add(segment.last - 1);
        if (taken.need > budget)
          break;
        // A longer stride than the segment is the one without any input that is replayed once.
        if (stride < segment.last - first || stride == count)
          extend(segment, taken);
      }
    }
}

/// Leaves states that none has fewer bytes and fewer seconds than, and of these, evenly, the most
/// that are wanted.
void ChainSolver::prune(std::vector<State> &list) const {
  std::sort(list.begin(), list.end(), [](const State &a, const State &b) {
    auto key = [](const State &state) {
      const Segment &segment = state.segment;
      return std::make_tuple(state.kept, state.seconds, segment.first, segment.way, segment.stride,
                             state.previous);
    };
    return key(a) < key(b);
  });
  std::vector<State> best;
  for (const State &state : list)
    if (best.empty() || state.seconds < best.back().seconds)
      best.push_back(state);
  list.clear();
  size_t wanted = std::clamp<size_t>(2000 / chain.units.size(), 16, 64);
  size_t most = std::min(best.size(), wanted);
  for (size_t i = 0; i < most; ++i)
    list.push_back(best[most > 1 ? i * (best.size() - 1) / (most - 1) : 0]);
}

ChainPlan ChainSolver::trace() const {
  ChainPlan plan;
  size_t count = chain.units.size();
  plan.inputs.assign(count, Choice::ReplayPerUnit);
  plan.ways.assign(count, 0);
  plan.seconds = states[count].back().seconds;
  int index = static_cast<int>(states[count].size()) - 1;
  for (size_t unit = count; unit > 0;) {
    const State &state = states[unit][index];
    const Segment &segment = state.segment;
    for (int i = segment.first; i < segment.last; ++i) {
      plan.ways[i] = segment.way;
      if (i == segment.first || isReplayedOnce(segment, i))
        plan.inputs[i] = i == segment.first ? Choice::Save : Choice::Replay;
    }
    unit = segment.first;
    index = state.previous;
  }
  return plan;
}

std::optional<ChainPlan> ChainSolver::run() {
  states[0].push_back({});
  for (size_t unit = 0; unit < chain.units.size(); ++unit) {
    addSegments(static_cast<int>(unit));
    prune(states[unit + 1]);
  }
  if (states.back().empty())
    return std::nullopt;
  return trace();
}

std::optional<ChainPlan> reprise::checkpoint::solveChain(const Chain &chain, int64_t budget) {
  if (chain.units.empty() || chain.units.size() > kMostUnits)
    return std::nullopt;
  return ChainSolver(chain, budget).run();
}
