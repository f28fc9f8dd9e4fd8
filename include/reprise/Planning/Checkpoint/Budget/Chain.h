// reprise: replays of a chain of units, by dynamic programming
#ifndef REPRISE_PLANNING_CHECKPOINT_BUDGET_CHAIN_H
#define REPRISE_PLANNING_CHECKPOINT_BUDGET_CHAIN_H

#include "reprise/Planning/Checkpoint/Schedule/Replays.h"

namespace reprise::checkpoint {

/// Forward units that run one after the other, and whose backward passes run in the opposite order.
struct Chain {
  /// Seconds and bytes of a unit for one choice of its inner values.
  struct Way {
    double own = 0;   // seconds of replays for its backward pass, once its input is there
    double again = 0; // seconds to make its output from its input
    int64_t kept = 0; // bytes of inner values that are kept from its forward to its backward pass
    int64_t need = 0; // bytes while it runs, beside inputs and what earlier units keep
  };
  /// Candidates of each unit; all units have the same ones in the same order.
  std::vector<std::vector<Way>> units;
  std::vector<int64_t> inputs; // bytes, per unit; that of the first is always there
};

/// A plan of a chain: a choice for the input of each unit, and the index of the unit's candidate.
struct ChainPlan {
  std::vector<Choice> inputs;
  std::vector<int> ways;
  double seconds = 0;
};

/// Returns the cheapest plan of segments within the budget in bytes; none if no plan fits. The
/// model (after Beaumont et al., Optimal checkpointing for heterogeneous chains, 2019,
/// arXiv:1911.13214, where levels nest):
///
/// - A segment starts with a saved input. All its units use the same candidate.
/// - Each k-th of its other inputs is computed again once, when the segment's backward pass starts,
///   and is kept until its last reader.
/// - The inputs between them are computed again for each unit. So chains are replayed up to two
///   levels deep.
///
/// Keeps lists of undominated pairs (bytes, seconds) per unit. O(units² · candidates · length of
/// lists). A chain of more than `kMostUnits` units has no plan.
std::optional<ChainPlan> solveChain(const Chain &chain, int64_t budget);

inline constexpr size_t kMostUnits = 160;

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_BUDGET_CHAIN_H
