// reprise: the cheapest schedule of a small graph, found by a search that proves it, for tests
#ifndef REPRISE_TEST_PLANNING_EXACTSEARCH_H
#define REPRISE_TEST_PLANNING_EXACTSEARCH_H

#include "../../../../../lib/reprise/Planning/Checkpoint/Graph/Sweep.h"

namespace reprise::checkpoint::test {

/// Schedules among which the cheapest is sought. Replays may come anywhere, unless said.
enum class Orders : uint8_t {
  Any,   // all orders that the graph allows
  Given, // the operations run for the first time in the order of the problem
  /// The given order, and between two first executions each operation is replayed at most once, in
  /// the order of the problem: the frontier-advancing stages of Checkmate (Jain et al., MLSys
  /// 2020).
  Stages,
};

struct ExactOptions {
  Orders orders = Orders::Any;
  /// Cost of replays of a schedule that fits: only cheaper ones are sought.
  std::optional<double> known;
  /// Number of states after which the search ends. A million takes a second or two and up to
  /// 100 MB.
  size_t states = 5'000'000;
};

struct Exact {
  std::optional<Executions> executions; ///< the cheapest schedule found
  /// Least cost of replays of any schedule, and at most the known cost; infinite if none fits.
  double leastCost = 0;
  bool isProved = false; ///< no schedule is cheaper than `leastCost`, which some schedule has
};

inline constexpr size_t kExactOperations = 128, kExactValues = 128;

/// Searches states, the operations that have run and the values that are there, in the order of
/// the least cost of schedules through them (Hart, Nilsson and Raphael, IEEE Transactions on
/// Systems Science and Cybernetics 1968). Exponential. The graph must have at most
/// `kExactOperations` and `kExactValues`.
Exact solveExactly(const Graph &graph, int64_t budget, const ExactOptions &options = {});

} // namespace reprise::checkpoint::test

#endif // REPRISE_TEST_PLANNING_EXACTSEARCH_H
