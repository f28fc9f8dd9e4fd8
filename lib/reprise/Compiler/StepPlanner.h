// reprise: plans of a step that hold budgets of bytes in the packed program
#ifndef REPRISE_COMPILER_STEPPLANNER_H
#define REPRISE_COMPILER_STEPPLANNER_H

#include "StepFootprint.h"
#include "reprise/Compiler.h"
#include "reprise/Conversion/LaunchFacts.h"
#include "reprise/Planning/Checkpoint/Budget/BudgetPlanner.h"

namespace reprise {

/// The cost model that the options ask for.
mlir::FailureOr<CostModel> loadCosts(mlir::ModuleOp module, const CompileOptions &options);

/// A plan for every scope of a step, and what the program takes that it becomes.
struct StepPlan {
  /// Per scope, one per value; empty where the labels are followed without a budget.
  std::vector<std::vector<checkpoint::Choice>> choices;
  int64_t enoughArena = 0;          ///< for the memory phase (PhaseOptions)
  int64_t peak = 0;                 ///< of live bytes, as the plan was made for; 0 if it was not
  int64_t arena = 0, workspace = 0; ///< bytes
  int64_t overridden = 0;           ///< bytes of values whose PREFER is not obeyed
  double seconds = 0;               ///< of all replays, by the cost model
  bool isReordered = false;         ///< its launches are not in program order

  int64_t bytes() const { return arena + workspace; }
  /// Of two plans that fit, the one with less of it is better.
  std::pair<int64_t, double> cost() const { return {overridden, seconds}; }
};

/// What was found out about a budget.
struct BudgetOutcome {
  int64_t budget = 0;  ///< bytes of arena and workspace
  int64_t saveAll = 0; ///< the same of the program that saves every value
  StepPlan plan;
  int rounds = 0;   ///< plans that were packed for it
  double total = 0; ///< seconds of the cost model for one execution of every op
  double bound = 0; ///< seconds of replays that every plan within the budget has
  bool isTruncated = false;
  bool hasBodies = false;  ///< loops' bodies make rows again, for the budget alone
  bool isUnrolled = false; ///< for the budget alone
  bool isDeferred = false; ///< a large gradient waits, for the budget alone
};

/// A copy of the step in which a large gradient waits, where that may make plans cheaper; null if
/// no gradient is a sixteenth of the arena.
mlir::OwningOpRef<mlir::ModuleOp> deferLargeGradient(mlir::ModuleOp module, int64_t arena);

/// Why a budget cannot be met, in bytes.
struct Shortage {
  int64_t least, proved;
};

/// Plans one step for many budgets; each plan that is packed competes for every budget.
class StepPlanner {
public:
  /// `module` has been through `autodiff`; all arguments outlive the planner. A
  /// time limit runs from the construction of `clock`.
  StepPlanner(mlir::ModuleOp module, const CompileOptions &options,
              std::shared_ptr<LaunchFacts> facts, const CostModel &costs,
              const StepPlanner *clock = nullptr);

  /// Packs the step as the labels have it, and with every value saved, if that is asked for.
  mlir::LogicalResult start(bool needsSaveAll = true);
  /// Arena and workspace of the program that follows the labels, and of the one that saves all.
  const StepPlan &followed() const { return packed.front(); }
  int64_t saveAllBytes() const { return saveAll; }
  /// The seconds of one execution of every op.
  double stepSeconds() const { return total; }
  int64_t resolve(const Budget &budget) const;

  /// Looks for a plan within `budget` bytes; null if none was found. Fails if a plan cannot be
  /// packed, with an error.
  mlir::FailureOr<std::optional<BudgetOutcome>> plan(int64_t budget);
  /// Seconds of replays that every plan within `budget` has whose program takes as much workspace
  /// as that of `plan`, which fits; of those in program order, if `plan` is one.
  double findBound(int64_t budget, const StepPlan &plan) const;
  /// False if no plan within `budget` that keeps the order of the launches is cheaper than this
  /// one, of another program, and no other order without replays fits.
  mlir::FailureOr<bool> mayBeat(const StepPlan &other, int64_t budget);
  /// After `plan` found none: the bytes of the smallest plan that was found, and those that no plan
  /// takes less than; 0 if that is not proved.
  Shortage findShortage(int64_t budget) const;
  /// Says so at the op where the need is highest.
  mlir::LogicalResult emitTooSmall(int64_t budget, const Shortage &shortage);

  /// Writes the plan's choices on the ops of the module.
  void apply(const StepPlan &plan) const;
  /// All plans that were packed.
  llvm::ArrayRef<StepPlan> plans() const { return packed; }

private:
  static constexpr int kMostRounds = 6;
  static constexpr int kMostDescents = 12; ///< plans on the way to the smallest one
  /// One more round for this part of the peak.
  static constexpr int64_t kWorthARound = 100;

  /// One scope of the step with its planner.
  struct Planned {
    PlanningScope scope;
    checkpoint::Footprint footprint;
    std::unique_ptr<checkpoint::BudgetPlanner> planner;
  };

  enum class Labels { Obeyed, Dropped };
  mlir::LogicalResult pack(StepPlan &plan, Labels labels = Labels::Obeyed);
  mlir::LogicalResult packAndKeep(StepPlan plan, int64_t enough);
  mlir::LogicalResult packReordered(int64_t budget);
  mlir::LogicalResult packSmallest();
  mlir::LogicalResult search(int64_t budget);
  std::optional<StepPlan> propose(int64_t goal);
  bool isCheapest(const StepPlan &followed) const;
  const StepPlan *findBest(int64_t budget) const;

  mlir::ModuleOp module;
  const CompileOptions &options;
  std::shared_ptr<LaunchFacts> facts;
  const CostModel &costs;
  unsigned threads;
  mlir::func::FuncOp step;
  checkpoint::BudgetOptions searchOptions;
  std::vector<Planned> planned;
  std::vector<StepPlan> packed;
  int64_t saveAll = 0;
  int64_t reorderedFor = -1; ///< the last budget of packReordered
  int rounds = 0;            ///< plans packed for the budget at hand
  double total = 0;
  bool isTruncated = false;
};

} // namespace reprise

#endif // REPRISE_COMPILER_STEPPLANNER_H
