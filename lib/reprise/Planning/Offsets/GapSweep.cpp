// reprise: offsets by sweeps that compare the deaths of neighbours of a gap
#include "Sweep.h"
#include "reprise/Support/SplitMix.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

using namespace reprise::offsets;

/// Time later than every death, and offset above every buffer: the ends of the arena.
static constexpr int64_t kNever = INT64_MAX / 2;

/// Orders of the stack at the peak. Each has an equal share of the sweeps.
static constexpr std::array<StackOrder, 3> kStacks = {StackOrder::Death, StackOrder::Birth,
                                                      StackOrder::Life};

/// Weights of a death that does not fit, relative to the excess bytes of a gap: the death weight is
/// random between the first two. Where sizes are few, larger weights are better.
static constexpr double kLeastDeath = 0.003, kMostDeath = 1, kOther = 0.3;

/// Largest random factor in the choice of a gap. Half of the sweeps use none.
static constexpr double kLuck = 1;

/// Visits per live unit, in addition to those of the gaps.
static constexpr int64_t kVisitsPerUnit = 50;

namespace {
/// Weights relative to the bytes that a unit leaves of a gap, which count 1 for each byte of the
/// unit.
struct Weights {
  double death; // a neighbour that dies an average lifetime earlier or later
  double other; // a neighbour that dies at any other time, as a share of `death`
  double luck;  // random factor from 1 to 1 + luck
};

/// Free bytes between two neighbours that live.
struct Gap {
  int64_t low, high;
  int64_t below, above; // times at which the neighbours die
};

struct Place {
  double cost;
  size_t gap;
  int64_t offset;
};

/// Sweep from the peak to an end of time. A unit takes the gap in which it leaves the fewest bytes,
/// at the end whose neighbour dies at about the same time: units that die together leave one gap.
class GapSweep {
public:
  GapSweep(const Direction &direction, double life, const Weights &weights, uint64_t seed)
      : direction(direction), life(life), weights(weights), random(seed) {}

  /// Runs the sweep. Returns false if a unit would end above `limit`, or after `most` visits.
  bool run(const std::vector<size_t> &stack, const std::vector<size_t> &births,
           const std::vector<size_t> &deaths, int64_t limit, int64_t most,
           std::vector<int64_t> &offsets) {
    begin(stack, offsets);
    size_t dead = 0;
    for (size_t unit : births) {
      for (; direction.death(deaths[dead]) < direction.birth(unit); ++dead)
        release(offsets[deaths[dead]]);
      offsets[unit] = place(unit);
      if (offsets[unit] + direction.units[unit].size > limit || visits > most)
        return false;
    }
    return true;
  }

  int64_t visits = 0;

private:
  struct Live {
    int64_t top, death;
  };

  void begin(const std::vector<size_t> &stack, const std::vector<int64_t> &offsets) {
    int64_t top = 0, death = kNever;
    visits = kVisitsPerUnit * static_cast<int64_t>(stack.size());
    for (size_t unit : stack) {
      top = offsets[unit] + direction.rounded(unit);
      death = direction.death(unit);
      live[offsets[unit]] = {top, death};
    }
    gaps = {{top, kNever, death, kNever}};
  }

  std::vector<Gap>::iterator firstFrom(int64_t offset) {
    return std::lower_bound(gaps.begin(), gaps.end(), offset,
                            [](const Gap &gap, int64_t bytes) { return gap.low < bytes; });
  }

  /// Merges the bytes of a unit that dies with the adjacent gaps.
  void release(int64_t offset) {
    auto at = live.find(offset);
    int64_t top = at->second.top;
    auto next = live.erase(at);
    Gap gap = {offset, top, kNever, kNever};
    if (next != live.begin()) {
      gap.low = std::prev(next)->second.top;
      gap.below = std::prev(next)->second.death;
    } else {
      gap.low = 0;
    }
    gap.high = next == live.end() ? kNever : next->first;
    gap.above = next == live.end() ? kNever : next->second.death;
    auto first = firstFrom(gap.low), last = first;
    while (last != gaps.end() && last->low < gap.high)
      ++last;
    if (first == last)
      gaps.insert(first, gap);
    else
      gaps.erase(std::next(first), last), *first = gap;
  }

  double miss(int64_t death, int64_t neighbour) const {
    if (death == neighbour)
      return 0;
    double apart = std::abs(static_cast<double>(death - neighbour)) / life;
    return weights.other + std::min(1.0, apart);
  }

  int64_t place(size_t unit) {
    int64_t size = direction.rounded(unit), death = direction.death(unit);
    Place best = {HUGE_VAL, gaps.size() - 1, gaps.back().low};
    // The last gap has no end, so it is used only if no other gap fits.
    for (size_t i = 0; i + 1 < gaps.size(); ++i)
      if (gaps[i].high - gaps[i].low >= size)
        offer(i, size, death, best);
    visits += kVisitsPerUnit + static_cast<int64_t>(gaps.size());
    take(best, size, death);
    return best.offset;
  }

  /// Offers both ends of a gap.
  void offer(size_t index, int64_t size, int64_t death, Place &best) {
    const Gap &gap = gaps[index];
    double left = static_cast<double>(gap.high - gap.low - size) / static_cast<double>(size);
    double below = miss(death, gap.below), above = miss(death, gap.above);
    if (left == 0)
      below = above = (below + above) / 2;
    double cost = left + weights.death * std::min(below, above);
    if (weights.luck > 0)
      cost *= 1 + weights.luck * random.unit();
    if (cost < best.cost)
      best = {cost, index, below <= above ? gap.low : gap.high - size};
  }

  void take(const Place &place, int64_t size, int64_t death) {
    Gap gap = gaps[place.gap];
    int64_t top = place.offset + size;
    live[place.offset] = {top, death};
    auto at = gaps.erase(gaps.begin() + static_cast<ptrdiff_t>(place.gap));
    if (top < gap.high)
      at = gaps.insert(at, {top, gap.high, death, gap.above});
    if (gap.low < place.offset)
      gaps.insert(at, {gap.low, place.offset, gap.below, death});
  }

  const Direction &direction;
  double life;
  Weights weights;
  reprise::SplitMix random;
  std::map<int64_t, Live> live; // by offset
  std::vector<Gap> gaps;        // by offset
};

/// The two sides of a stack at the peak share no time. Each keeps the lowest of its sweeps.
class Sides {
public:
  Sides(const std::vector<Unit> &units, int64_t alignment, StackOrder order)
      : units(units), offsets(units.size()) {
    int64_t peak = findPeak(units);
    stack = stackPeak(units, peak, order);
    layStack(units, alignment, stack, offsets);
    for (bool backward : {false, true}) {
      Direction direction{units, alignment, backward};
      std::vector<size_t> births = bornAfter(direction, peak), deaths = stack;
      deaths.insert(deaths.end(), births.begin(), births.end());
      direction.sortByDeath(deaths);
      sides.push_back({direction, std::move(births), std::move(deaths)});
    }
    for (const Unit &unit : units)
      life += static_cast<double>(unit.last - unit.first + 1) / static_cast<double>(units.size());
  }

  /// Sweeps the higher side again, with other weights.
  void run(int64_t bound, int64_t visits) {
    for (uint64_t seed = 0; visits > 0 && height() > bound; ++seed)
      for (Side &side : sides)
        if (int64_t limit = height(); visits > 0 && side.height == limit)
          visits -= sweep(side, seed, visits);
  }

  int64_t height() const { return std::max(sides[0].height, sides[1].height); }
  std::vector<int64_t> result() const { return offsets; }

private:
  struct Side {
    Direction direction;
    std::vector<size_t> births, deaths;
    int64_t height = INT64_MAX;
  };

  /// Returns the visits.
  int64_t sweep(Side &side, uint64_t seed, int64_t most) {
    std::vector<int64_t> found = offsets;
    GapSweep sweep(side.direction, life, draw(seed), seed);
    if (!sweep.run(stack, side.births, side.deaths, side.height - 1, most, found))
      return sweep.visits;
    offsets = std::move(found);
    side.height = 0;
    for (size_t unit : side.births)
      side.height = std::max(side.height, offsets[unit] + units[unit].size);
    return sweep.visits;
  }

  static Weights draw(uint64_t seed) {
    reprise::SplitMix random(seed);
    random.next();
    Weights weights;
    weights.death = kLeastDeath * std::pow(kMostDeath / kLeastDeath, random.unit());
    weights.other = random.below(2) ? kOther : 0;
    weights.luck = random.below(2) ? kLuck * random.unit() : 0;
    return weights;
  }

  const std::vector<Unit> &units;
  std::vector<size_t> stack;
  std::vector<Side> sides; // forward and backward
  std::vector<int64_t> offsets;
  double life = 0; // average lifetime
};
} // namespace

std::vector<std::vector<int64_t>> reprise::offsets::sweepGaps(const std::vector<Unit> &units,
                                                              int64_t alignment, int64_t bound,
                                                              int64_t visits) {
  std::vector<std::vector<int64_t>> found;
  int64_t share = visits / static_cast<int64_t>(kStacks.size());
  for (StackOrder order : kStacks) {
    Sides sides(units, alignment, order);
    sides.run(bound, share);
    if (sides.height() == INT64_MAX)
      continue;
    found.push_back(sides.result());
    if (sides.height() <= bound)
      break;
  }
  return found;
}
