// reprise: what all plans of a device program share
#ifndef REPRISE_COMPILER_PLANNER_PLANCONTEXT_H
#define REPRISE_COMPILER_PLANNER_PLANCONTEXT_H

#include "reprise/Compiler.h"
#include "reprise/Costs/CostModel.h"
#include "reprise/Planning/Checkpoint/Budget/BudgetPlanner.h"
#include "reprise/Target/LaunchFacts.h"

namespace reprise {

/// The cost model that the options ask for.
mlir::FailureOr<CostModel> loadCosts(mlir::ModuleOp module, const CompileOptions &options);

/// The workers that workspace is counted for.
unsigned countThreads(const CompileOptions &options);

/// The clocks of a search that begins now: `isOver` says that the time limit is over, `isLate` that
/// the time for first plans after it is, too.
checkpoint::BudgetOptions startClock(const CompileOptions &options);

/// What plans of one program share, in whatever form.
struct PlanContext {
  const CompileOptions &options;
  std::shared_ptr<LaunchFacts> facts;
  const CostModel &costs;
  checkpoint::BudgetOptions search; ///< a time limit runs from when it was made

  PlanContext(const CompileOptions &options, std::shared_ptr<LaunchFacts> facts,
              const CostModel &costs);
  /// True once the time limit is over.
  bool isOver() const { return search.isOver && search.isOver(); }
  /// True once the time limit and the time for first plans are over. Plans that the answer does not
  /// need are then no longer packed.
  bool isLate() const { return search.isLate && search.isLate(); }
};

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_PLANCONTEXT_H
