// reprise: the cheapest schedule of a small graph, found by a search that proves it
#ifndef REPRISE_PLANNING_REMATERIALIZATION_EXACT_H
#define REPRISE_PLANNING_REMATERIALIZATION_EXACT_H

#include "reprise/Planning/Rematerialization/Problem.h"
#include <functional>

namespace reprise::remat {

/// The schedules among which the cheapest is sought. Replays may come anywhere, unless said.
enum class Orders : uint8_t {
  Any,   // that the graph allows
  Given, // the operations run for the first time in the order of the problem
  /// The same, and between two first executions each operation is replayed at most once, in the
  /// order of the problem: the frontier-advancing stages of Checkmate (Jain et al., MLSys 2020).
  Stages,
};

struct ExactOptions {
  Orders orders = Orders::Any;
  /// A schedule that fits, if one is known: only cheaper ones are sought.
  std::optional<Schedule> start;
  /// The search ends when it has looked at so many, some of them more than once: a million takes
  /// a second or two and up to 100 MB.
  size_t states = 5'000'000;
  /// Asked now and then; ends the search.
  std::function<bool()> isOver = [] { return false; };
};

struct Exact {
  std::optional<Schedule> schedule; ///< the cheapest one found, or the start
  /// What every schedule costs at least; infinite if none fits.
  double leastCost = 0;
  /// The schedule is the cheapest, or there is none.
  bool isProved = false;
  bool isTruncated = false; ///< `isOver` ended it
  size_t states = 0;        ///< that were looked at
};

inline constexpr size_t kExactOperations = 128, kExactValues = 128;

/// Searches states, the operations that have run and the values that are there, in the order of
/// what a schedule through them costs at least (Hart, Nilsson and Raphael, IEEE Transactions on
/// Systems Science and Cybernetics 1968). Exponential. The problem must be valid and have at most
/// `kExactOperations` and `kExactValues`.
Exact solveExactly(const Problem &problem, int64_t budget, const ExactOptions &options = {});

} // namespace reprise::remat

#endif // REPRISE_PLANNING_REMATERIALIZATION_EXACT_H
