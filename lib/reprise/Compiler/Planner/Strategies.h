// reprise: the ways in which plans for a budget are searched, as a table
#ifndef REPRISE_COMPILER_PLANNER_STRATEGIES_H
#define REPRISE_COMPILER_PLANNER_STRATEGIES_H

#include "PlanSearch.h"

namespace reprise {

/// When a strategy has its turn.
enum class Turn {
  Always,
  Unfinished,  ///< a cheaper plan is still worth the time
  NothingFits, ///< no plan within the budget is known yet
};

/// A way to search for plans within a budget. A new one is a function in a file of its own and a
/// row of `listStrategies`.
struct Strategy {
  llvm::StringLiteral name;
  Turn turn;
  /// Packs plans of the search for so many bytes. Fails if a plan cannot be packed, with an error.
  mlir::LogicalResult (*run)(PlanSearch &search, int64_t budget);
};
/// In the order in which they run.
llvm::ArrayRef<Strategy> listStrategies();

/// \name Strategies
/// @{

/// The form that had the smallest plan before, with all that is tried in it.
mlir::LogicalResult searchLikelyForm(PlanSearch &search, int64_t budget);
/// Choices in all forms, those that may be cheapest first.
mlir::LogicalResult searchForms(PlanSearch &search, int64_t budget);
/// Choices with loops unrolled that are too long to compete.
mlir::LogicalResult searchLongUnrolled(PlanSearch &search, int64_t budget);
/// Orders of the launches and choices together.
mlir::LogicalResult searchOrders(PlanSearch &search, int64_t budget);
/// Values on the host instead of those that the best plan makes again at most cost.
mlir::LogicalResult searchOffloads(PlanSearch &search, int64_t budget);
/// The smallest plans of the forms.
mlir::LogicalResult searchSmaller(PlanSearch &search, int64_t budget);
/// The smallest plan in any order of the launches.
mlir::LogicalResult packSmallestOrdered(PlanSearch &search, int64_t budget);
/// @}

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_STRATEGIES_H
