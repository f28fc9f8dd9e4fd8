// reprise: solvers for offsets in one arena
#ifndef REPRISE_PLANNING_OFFSETS_SOLVE_H
#define REPRISE_PLANNING_OFFSETS_SOLVE_H

#include "reprise/Planning/Offsets/Problem.h"

namespace reprise::offsets {

struct SolveOptions {
  /// Limit of changes of the order in hill climbing. 0: only greedy packings.
  int64_t moves = 50000;
  /// Limit of visits of a pair of buffers in greedy packings and climbing, about 20 ns each. Unlike
  /// a time limit, it gives the same result on every machine.
  int64_t visits = 100'000'000;
  /// Limit of visits of searches, about 4 ns each, which run if the packings leave a gap. 0: no
  /// search; problems of more than 4,000 buffers are not searched. If there are too many pairs for
  /// a table, a fortieth of this limit is added to `visits`, at most doubling them.
  int64_t searchVisits = 0;
  /// Height that is good enough, such as a capacity: the work ends there, even if a lower packing
  /// may exist.
  int64_t enough = 0;
};

/// Returns limits for a compiler, which packs often: tens of milliseconds for hundreds of buffers,
/// some tenths of a second if the bound is not reached. The exact search often finds within these
/// limits what climbing finds in seconds; climbing seldom finds more. `problems` share the work, so
/// that the arenas of many devices need no more time than the arena of one.
SolveOptions limitWork(const Problem &problem, int64_t problems = 1);

/// Packs the buffers low. Chooses the best of several greedy packings, then climbs hills over the
/// order in which buffers are placed, and stops as soon as the lower bound is reached. The result
/// depends only on the problem, which must be valid, and on the options.
///
/// Sweeps over time with a free list cost O(n log n). Packings by size, lifetime and area cost the
/// number of pairs of buffers that are live together. If there are too many pairs for a table,
/// packings cost O(n^2), within the same number of visits.
Solution solve(const Problem &problem, const SolveOptions &options = {});

} // namespace reprise::offsets

#endif // REPRISE_PLANNING_OFFSETS_SOLVE_H
