// reprise: replays of a chain of units, by dynamic programming
#ifndef REPRISE_PLANNING_CHECKPOINT_BUDGET_CHAIN_H
#define REPRISE_PLANNING_CHECKPOINT_BUDGET_CHAIN_H

#include "reprise/Planning/Checkpoint/Schedule/Replays.h"

namespace reprise::checkpoint {

/// Forward units that run one after the other, and whose backward passes run in the opposite order.
struct Chain {
  /// What a unit takes for one choice of its inner values.
  struct Way {
    double own = 0;   // seconds of replays for its backward pass, once its input is there
    double again = 0; // seconds to make its output from its input
    int64_t kept = 0; // bytes of inner values that are kept from its forward to its backward pass
    int64_t need = 0; // bytes while it runs, beside inputs and what earlier units keep
  };
  /// The same ways, in the same order, for all units.
  std::vector<std::vector<Way>> units;
  std::vector<int64_t> inputs; // bytes, per unit; that of the first is always there
};

/// What becomes of each unit's input, and which way each unit takes.
struct ChainPlan {
  std::vector<Choice> inputs;
  std::vector<int> ways;
  double seconds = 0;
};

/// The cheapest plan of segments within the budget; none if there is none. A segment starts with an
/// input that is saved. Its units take one way, and each k-th of its other inputs is made again
/// once, when the segment's backward pass starts, and kept until it has been read; the inputs
/// between are made from those for each unit, so that chains are replayed up to two levels deep
/// (after Beaumont et al., Optimal checkpointing for heterogeneous chains, 2019, arXiv:1911.13214,
/// where levels nest). Lists of undominated pairs of bytes and seconds, per unit.
/// O(units² · ways · length of lists); more than `kMostUnits` have no plan.
std::optional<ChainPlan> solveChain(const Chain &chain, int64_t budget);

inline constexpr size_t kMostUnits = 160;

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_BUDGET_CHAIN_H
