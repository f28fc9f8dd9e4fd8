// reprise: solvers for offsets in one arena
#ifndef REPRISE_PLANNING_OFFSETS_SOLVE_H
#define REPRISE_PLANNING_OFFSETS_SOLVE_H

#include "reprise/Planning/Offsets/Problem.h"

namespace reprise::offsets {

struct SolveOptions {
  /// Hill climbing ends after this many changes of the order were tried. 0: greedy only.
  int64_t moves = 50000;
  /// All greedy and climbing work ends after this many visits of a pair of buffers, about 20 ns
  /// each: the same everywhere, unlike a time limit.
  int64_t visits = 100'000'000;
  /// Where these leave a gap, searches have as many visits, of about 4 ns each; they are left out
  /// for more than 4,000 buffers. 0: none. Where there are too many pairs for a table,
  /// a fortieth of these is added to `visits`, at most as many again.
  int64_t searchVisits = 0;
  /// The work ends at this height, such as a capacity, even if a lower one may exist.
  int64_t enough = 0;
};

/// For a compiler, which packs often: tens of milliseconds for hundreds of buffers, a few tenths of
/// a second where the bound is not reached. The exact search finds in a few of them what climbing
/// takes seconds for, and what it does not find climbing seldom does. `problems` share the work, so
/// that the arenas of many devices take no longer than the arena of one.
SolveOptions limitWork(const Problem &problem, int64_t problems = 1);

/// Packs the buffers low. Takes the best of several greedy packings, then climbs hills over the
/// order in which buffers are placed, and stops as soon as the lower bound is reached. The result
/// depends on the problem and the options alone. The problem must be valid.
///
/// Sweeps over time with a free list cost O(n log n). Packings by size, lifetime and area cost the
/// number of pairs of buffers that are live together; where those are too many, packings without a
/// table of them cost O(n^2), within the same number of visits.
Solution solve(const Problem &problem, const SolveOptions &options = {});

} // namespace reprise::offsets

#endif // REPRISE_PLANNING_OFFSETS_SOLVE_H
