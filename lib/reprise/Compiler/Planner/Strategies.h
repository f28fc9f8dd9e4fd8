// reprise: the ways in which plans for a budget are searched, as a table
#ifndef REPRISE_COMPILER_PLANNER_STRATEGIES_H
#define REPRISE_COMPILER_PLANNER_STRATEGIES_H

#include "PlanSearch.h"

namespace reprise {

/// Condition under which a strategy runs.
enum class Turn {
  Always,
  Unfinished,  ///< the search may not end yet (isEnough)
  NothingFits, ///< no packed plan fits the budget
};

/// A strategy that searches plans within a budget. A new strategy needs a function in a new file
/// and a row of `listStrategies`.
struct Strategy {
  llvm::StringLiteral name;
  Turn turn;
  /// Packs plans for `budget` bytes of arena and workspace. Fails with an error if a plan cannot be
  /// packed.
  mlir::LogicalResult (*run)(PlanSearch &search, int64_t budget);
};
/// Returns all strategies in the order in which they run.
llvm::ArrayRef<Strategy> listStrategies();

/// \name Strategies
/// @{

/// Searches `PlanSearch::likely`, and its smallest plans if that is not enough.
mlir::LogicalResult searchLikelyForm(PlanSearch &search, int64_t budget);
/// Searches choices in all forms, in the order of their lower bounds.
mlir::LogicalResult searchForms(PlanSearch &search, int64_t budget);
/// Unrolls loops that are too long to compete, and searches choices again.
mlir::LogicalResult searchLongUnrolled(PlanSearch &search, int64_t budget);
/// Searches sequences: orders of the launches together with replays anywhere.
mlir::LogicalResult searchSequences(PlanSearch &search, int64_t budget);
/// Offloads the values that the best plan replays at the highest cost.
mlir::LogicalResult searchOffloads(PlanSearch &search, int64_t budget);
/// Packs the smallest plans of the forms.
mlir::LogicalResult searchSmaller(PlanSearch &search, int64_t budget);
/// Packs the smallest sequence.
mlir::LogicalResult packSmallestSequence(PlanSearch &search, int64_t budget);
/// @}

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_STRATEGIES_H
