// reprise: plans of a step in one form, which hold budgets of bytes in the packed program
#ifndef REPRISE_COMPILER_STEPPLANNER_H
#define REPRISE_COMPILER_STEPPLANNER_H

#include "BodyPlans.h"
#include "StepOrder.h"
#include "reprise/Compiler.h"
#include "reprise/Planning/Checkpoint/Budget/OrderedPlanner.h"
#include "reprise/Target/LaunchFacts.h"

namespace reprise {

/// The cost model that the options ask for.
mlir::FailureOr<CostModel> loadCosts(mlir::ModuleOp module, const CompileOptions &options);

/// The workers that workspace is counted for.
unsigned countThreads(const CompileOptions &options);

/// The steps of a form by their names.
inline constexpr std::pair<checkpoint::Form, bool PlanForm::*> kFormSteps[] = {
    {checkpoint::Form::Unrolled, &PlanForm::isUnrolled},
    {checkpoint::Form::BodiesRecomputed, &PlanForm::hasBodies},
    {checkpoint::Form::Deferred, &PlanForm::isDeferred}};

/// A plan of a step, and what the program takes that it becomes.
struct StepPlan {
  PlanForm form;
  BodyPlan bodies; ///< with form.hasBodies
  OpOrder order;   ///< of the step in that form
  /// One per value of the step in this form; empty where the labels are followed.
  std::vector<checkpoint::Choice> choices;
  int64_t peak = 0;                 ///< of live bytes, as the plan was made for; 0 if it was not
  int64_t arena = 0, workspace = 0; ///< bytes
  int64_t overridden = 0;           ///< bytes of values whose PREFER is not obeyed
  double seconds = 0;               ///< beyond what all plans of the program take, by the footprint
  double programSeconds = 0;        ///< of all launches of the program, as reports count them
  bool isReordered = false;         ///< its launches are not in program order

  int64_t bytes() const { return arena + workspace; }
  /// Of two plans that fit, the one with less of it is better.
  std::pair<int64_t, double> cost() const { return {overridden, seconds}; }
};

/// Gives the step, which has been through `autodiff`, the form of the plan, and writes its choices
/// on the ops. Only `enoughArena` is left for the phases to come.
mlir::LogicalResult applyPlan(mlir::func::FuncOp step, const StepPlan &plan);
mlir::LogicalResult applyForm(mlir::func::FuncOp step, const StepPlan &plan);

/// A copy of the function in a module of its own.
mlir::OwningOpRef<mlir::ModuleOp> copyAlone(mlir::func::FuncOp function);
/// The function of such a module.
mlir::func::FuncOp getAlone(mlir::ModuleOp module);

/// The clocks of a search that begins now: `isOver` says that the time limit is over, `isLate` that
/// the time for first plans after it is, too.
checkpoint::BudgetOptions startClock(const CompileOptions &options);

/// What plans of one step share, in whatever form.
struct PlanContext {
  const CompileOptions &options;
  std::shared_ptr<LaunchFacts> facts;
  const CostModel &costs;
  checkpoint::BudgetOptions search; ///< a time limit runs from when it was made

  PlanContext(const CompileOptions &options, std::shared_ptr<LaunchFacts> facts,
              const CostModel &costs);
  /// True once the time limit and the time for first plans are over. Plans that the answer does not
  /// need are then no longer packed.
  bool isLate() const { return search.isLate && search.isLate(); }
};

/// Plans one step in one form for many budgets; each plan that is packed competes for every budget.
class StepPlanner {
public:
  /// `step` has the form already; the context outlives the planner.
  StepPlanner(mlir::func::FuncOp step, const PlanContext &context, StepPlan shape = {});

  /// Looks at launches, bytes and seconds. `plainSeconds` are those of the step without a form,
  /// beyond which each plan costs what this form takes longer.
  mlir::LogicalResult survey(std::optional<double> plainSeconds = std::nullopt);
  const StepPlan &getShape() const { return shape; }
  bool keepsOrder() const;
  bool hasLoops() const;
  /// The seconds that the step takes in any plan, beside those of the plan.
  double stepSeconds() const { return base; }
  /// What every plan in this form adds to that, at least.
  double leastSeconds() const { return added + cheapest; }
  double addedSeconds() const { return added; }

  /// Forgets all plans but, with `keepsFollowed`, that of the labels: searches to come are those of
  /// a new planner.
  void forget(bool keepsFollowed);
  /// Packs the step as the labels have it, once.
  mlir::LogicalResult packFollowed();
  bool isPacked() const { return !packed.empty(); }
  /// The plan of the labels, or of takeStart.
  const StepPlan &followed() const { return packed.front(); }
  /// Seconds of a plan with these choices, as in StepPlan; of the labels, if there are none.
  double price(const std::vector<checkpoint::Choice> &choices) const;
  /// Arena and workspace of the program that saves every value.
  mlir::FailureOr<int64_t> packSaveAll();
  /// Another order of the launches costs nothing, which may be cheaper than replays.
  mlir::LogicalResult packReordered(int64_t budget);

  /// Whether launches may run in other orders that spare bytes: in second derivatives, whose passes
  /// may interleave.
  bool wantsOrders() const;
  /// Choices in other orders of the launches for an arena of `goal` bytes, the best first, which
  /// are not packed.
  std::vector<StepPlan> proposeOrdered(int64_t goal);
  /// The same for the smallest arena that is found; whatever was proposed before, the same one.
  StepPlan proposeSmallestOrdered();
  /// Searches start from what `from` proposed, too, whose step this is in that order.
  void takeStart(const StepPlan &proposed, const StepPlanner &from);
  /// Packs that plan as it is; an arena of `enough` bytes does, 0 for the lowest.
  mlir::LogicalResult packStart(int64_t enough);

  /// Looks for a plan within `budget` bytes. Fails if a plan cannot be packed, with an error.
  mlir::LogicalResult search(int64_t budget);
  /// Packs plans of fewer and fewer bytes down to the smallest one that is found; whatever the
  /// budget was, the same ones, so that what is said to be the smallest can be met.
  mlir::LogicalResult packSmaller();
  /// Bytes of the smallest plan of `packSmaller`, or of the plan of the labels.
  int64_t leastBytes() const;
  /// After `search` found no plan and `packSmaller` one: looks for cheaper ones between the two.
  mlir::LogicalResult searchBelow(int64_t budget);
  /// Seconds that every plan costs whose arena is at most `room` bytes and whose launches are in
  /// program order; infinite if there is no such plan.
  double findLeastSeconds(int64_t room) const;
  /// The same in any order of the launches.
  double findAnyOrderSeconds(int64_t room) const;
  /// The same as `findLeastSeconds` for any plan that may beat `plan`, which fits: in any order of
  /// the launches if that one is not in program order; looks closer where the gap is wide.
  double findBound(int64_t room, const StepPlan &plan) const;
  /// No plan takes an arena of less, in any order; 0 if that is not proved for `room` bytes.
  int64_t findProvedArena(int64_t room) const;
  /// The op where the need of the smallest plan is highest.
  mlir::Operation *findNeediest() const;

  /// Values that had better wait on the host, by the numbers of `reprise-offload-values`: those
  /// that `plan`, which may not fit, makes again or keeps at most cost, up to `mostBytes`; without
  /// a plan all that might.
  llvm::SmallVector<int64_t> listOffloads(const StepPlan *plan, bool fits, int64_t mostBytes) const;
  /// From here on a fetch costs no more than to compute the value again: for bounds.
  void relaxOffloads();

  /// All plans that were packed.
  llvm::ArrayRef<StepPlan> plans() const { return packed; }
  bool isTruncated() const { return wasCut; }

private:
  static constexpr int kMostRounds = 6;
  static constexpr int64_t kOrderSteps = 32; ///< a part of the arena that another order spares
  /// One more round for this part of the peak.
  static constexpr int64_t kWorthARound = 100;

  enum class Labels { Obeyed, Dropped };
  mlir::LogicalResult pack(StepPlan &plan, Labels labels = Labels::Obeyed);
  mlir::LogicalResult packAndKeep(StepPlan plan, int64_t enough);
  /// Every plan in this form takes so much longer.
  void addSeconds(double seconds);
  StepPlan describe(const checkpoint::Plan &plan) const;
  std::optional<StepPlan> propose(int64_t goal);
  StepPlan describe(const checkpoint::OrderedPlan &plan) const;
  checkpoint::OrderedPlanner &orders();
  std::vector<std::vector<checkpoint::Choice>> listStarts(int64_t goal);
  mlir::LogicalResult descend();
  mlir::LogicalResult packSmallerOrders();
  bool isCheapest(const StepPlan &followed) const;
  bool isLate();
  double findGain(const StepPlan *plan, bool fits, int operation, int value) const;

  mlir::func::FuncOp step;
  const PlanContext &context;
  StepPlan shape;                     ///< an empty plan of this form
  std::optional<PlanningScope> scope; ///< none without cotangents
  checkpoint::Footprint footprint;
  checkpoint::LaunchLinks links;
  std::unique_ptr<checkpoint::BudgetPlanner> planner;
  std::unique_ptr<checkpoint::OrderedPlanner> ordered; ///< once it is asked for
  checkpoint::Plan start;                              ///< see takeStart
  std::vector<StepPlan> packed;
  std::optional<StepPlan> kept;   ///< that of the labels, while it is forgotten
  std::vector<StepPlan> descents; ///< of `packSmaller`, whatever the budget
  int64_t reorderedFor = -1;      ///< the last budget of packReordered
  double base = 0, added = 0, cheapest = 0;
  bool wasCut = false, hasDescended = false;
};

} // namespace reprise

#endif // REPRISE_COMPILER_STEPPLANNER_H
