// reprise: what all plans of a device program share
#ifndef REPRISE_COMPILER_PLANNER_PLANCONTEXT_H
#define REPRISE_COMPILER_PLANNER_PLANCONTEXT_H

#include "reprise/Compiler.h"
#include "reprise/Costs/CostModel.h"
#include "reprise/Planning/Checkpoint/Budget/BudgetPlanner.h"
#include "reprise/Target/LaunchFacts.h"

namespace reprise {

/// Loads the cost model that the options ask for.
mlir::FailureOr<CostModel> loadCosts(mlir::ModuleOp module, const CompileOptions &options);

/// Returns the number of workers whose workspace a step needs.
unsigned countThreads(const CompileOptions &options);

/// Starts the clocks of a search: `isOver` returns true behind the time limit, and `isLate` behind
/// the additional time for bounds and first plans.
checkpoint::BudgetOptions startClock(const CompileOptions &options);

/// Options, target and cost model that all plans of a program share, whatever their form.
struct PlanContext {
  const CompileOptions &options;
  std::shared_ptr<LaunchFacts> facts;
  const CostModel &costs;
  checkpoint::BudgetOptions search; ///< the time limit starts when the context is made

  PlanContext(const CompileOptions &options, std::shared_ptr<LaunchFacts> facts,
              const CostModel &costs);
  /// Returns true behind the time limit.
  bool isOver() const { return search.isOver && search.isOver(); }
  /// Returns true behind the time for bounds and first plans. From then on, plans that the answer
  /// does not need are not packed.
  bool isLate() const { return search.isLate && search.isLate(); }
};

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_PLANCONTEXT_H
