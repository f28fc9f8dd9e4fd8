// reprise: common data of the offset solvers: units to place, and their conflicts
#ifndef REPRISE_LIB_PLANNING_OFFSETS_PACKING_H
#define REPRISE_LIB_PLANNING_OFFSETS_PACKING_H

#include "reprise/Planning/Offsets/Solve.h"

namespace reprise::offsets {

/// Unit that gets one offset: a group, or a single buffer. Buffers of 0 bytes are in no unit.
struct Unit {
  std::vector<size_t> members;
  int64_t first = 0; // hull of the members' live ranges
  int64_t last = 0;
  int64_t size = 0; // largest member
};

std::vector<Unit> unitsOf(const Problem &problem);

/// Return the height of a placement of units, and the solution for it.
int64_t heightOf(const std::vector<Unit> &units, const std::vector<int64_t> &offsets);
Solution toSolution(const Problem &problem, const std::vector<Unit> &units,
                    const std::vector<int64_t> &offsets);

/// Places units in the order of time, with a free list, as an allocator at run time would; if
/// `backward`, from the last command to the first. Units that are born together are placed by size
/// or by life, the larger first. A group fills its hull. O(n log n).
enum class SweepOrder { Size, Life };
std::vector<int64_t> sweep(const std::vector<Unit> &units, int64_t alignment, SweepOrder order,
                           bool backward);

/// Stacks the live units at the peak, without a gap, and sweeps forward and backward from there,
/// two sides that never meet. From the bottom up: first born, last to die, or longest lived. O(n
/// log n).
enum class StackOrder { Birth, Death, Life };
std::vector<int64_t> sweepFromPeak(const std::vector<Unit> &units, int64_t alignment,
                                   StackOrder order);

/// Repeats such sweeps with random weights of bytes and deaths in the choice of a gap. Returns the
/// lowest packing for each order of the stack, within `visits` visits of a gap, of about 2 ns each.
std::vector<std::vector<int64_t>> sweepGaps(const std::vector<Unit> &units, int64_t alignment,
                                            int64_t bound, int64_t visits);

/// Places each unit as low as possible, largest first, without a table of conflicts. Returns no
/// offsets if that may need more visits.
std::vector<int64_t> packLargestFirst(const std::vector<Unit> &units, int64_t alignment,
                                      int64_t visits);

/// Improves `offsets`: places the units again in the order of their offsets, units that reached
/// above `bound` earlier, and so on; returns true if the result is lower. Needs no table of
/// conflicts, but scans most placed units for each unit, O(n^2); stops when the options' visits are
/// used up.
bool improveByScans(const std::vector<Unit> &units, int64_t alignment, int64_t bound,
                    const SolveOptions &options, std::vector<int64_t> &offsets);

/// A conflict of one unit with another: their offsets a and b must obey a + mine <= b or
/// b + theirs <= a.
struct Conflict {
  int32_t other;
  int64_t mine;
  int64_t theirs;
};

/// All conflicts by unit, gathered once for many packings.
class Conflicts {
public:
  /// The number of entries that `build` would make, at most, in O(n log n).
  static int64_t count(const std::vector<Unit> &units);
  static Conflicts build(const Problem &problem, const std::vector<Unit> &units);

  const Conflict *begin(size_t unit) const { return entries.data() + starts[unit]; }
  const Conflict *end(size_t unit) const { return entries.data() + starts[unit + 1]; }
  int64_t size() const { return static_cast<int64_t>(entries.size()); }

private:
  std::vector<size_t> starts;
  std::vector<Conflict> entries;
};

/// Packer that places units one by one in a given order, each among the units before it.
class Packer {
public:
  enum class Fit { Lowest, Tightest };
  Packer(const std::vector<Unit> &units, const Conflicts &conflicts, int64_t alignment)
      : units(units), conflicts(conflicts), alignment(alignment) {}

  /// Returns the offsets of the packing; empty if its height would exceed `limit`. Adds its work to
  /// `visits`.
  std::vector<int64_t> pack(const std::vector<int32_t> &order, Fit fit, int64_t limit);

  int64_t visits = 0;

private:
  int64_t place(size_t unit, const std::vector<int64_t> &offsets, Fit fit);

  const std::vector<Unit> &units;
  const Conflicts &conflicts;
  int64_t alignment;
  std::vector<std::pair<int64_t, int64_t>> forbidden; // scratch
};

/// Improves `offsets` by moves in the order of placing; stops at `bound` or when the options' moves
/// or visits are used up.
void climb(const std::vector<Unit> &units, const Conflicts &conflicts, Packer &packer,
           int64_t bound, const SolveOptions &options, std::vector<int64_t> &offsets);

/// Result of a search for offsets that end at most at `limit`: found, proven impossible, or unknown
/// after the limit of visits.
enum class Found { Yes, No, Unknown };
struct Sections;
Found search(const Problem &problem, const Sections &table, int64_t limit, int64_t visits,
             std::vector<int64_t> &offsets);

} // namespace reprise::offsets

#endif // REPRISE_LIB_PLANNING_OFFSETS_PACKING_H
