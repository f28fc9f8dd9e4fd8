// reprise: chooses saved and replayed values and inserts the replays.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "ApplySolution.h"
#include "DecisionRemarks.h"
#include "Translation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Planning/Checkpoint/Labels/FollowLabels.h"
#include "reprise/Planning/Checkpoint/Problem/Validate.h"
#include "reprise/Support/Attributes.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_CHECKPOINTPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

using namespace checkpoint;

/// Verifies the preconditions of the translation.
LogicalResult checkInput(ProgramOp function) {
  bool hasPlans = function->hasAttr(kBodiesAttr);
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    if (isReplay(op) && !(hasPlans && op->getParentOfType<LoopOp>()))
      return op->emitError("expected a graph without replays");
    if (!isPrimal(op) && !isCotangent(op))
      return success();
    if (op->getNumRegions() != 0 && !isa<LoopOp>(op))
      return op->emitError("expected flat ops: run reprise-differentiate first");
    if (!isMemoryEffectFree(op))
      return op->emitError("expected a pure op: run reprise-thread-random first");
    return success();
  });
  return failure(result.wasInterrupted());
}

/// The bodies of all loops that are planned. They outlive the ops.
SmallVector<Block *> collectBodies(ArrayRef<Scope> scopes) {
  SmallVector<Block *> bodies;
  for (const Scope &scope : scopes)
    for (Operation *op : scope)
      if (auto loop = dyn_cast_or_null<LoopOp>(op))
        bodies.push_back(&loop.getBlock());
  return bodies;
}

void markPlanned(const Scope &scope, MLIRContext *context) {
  AttributeChange mark([context](NamedAttrList &attributes) {
    attributes.set(kPlannedAttr, UnitAttr::get(context));
  });
  for (Operation *op : scope)
    if (op)
      mark.apply(op);
}

const Scope *findUnplanned(ArrayRef<Scope> scopes) {
  for (const Scope &scope : scopes)
    if (llvm::any_of(scope, [](Operation *op) { return op; }) &&
        llvm::none_of(scope, [](Operation *op) { return op && op->hasAttr(kPlannedAttr); }))
      return &scope;
  return nullptr;
}

bool isInBody(const Scope &scope, ProgramOp function) {
  Operation *const *first = llvm::find_if(scope, [](Operation *op) { return op != nullptr; });
  return first != scope.end() && (*first)->getBlock() != &function.getBody().front();
}

/// Returns the number after the largest number of an attribute.
int64_t findNext(ProgramOp function, StringRef name) {
  int64_t next = 0;
  function.walk([&](Operation *op) {
    if (auto number = op->getAttrOfType<IntegerAttr>(name))
      next = std::max(next, number.getInt() + 1);
  });
  return next;
}

/// Drops values of loops that have no reader after a plan.
void dropUnreadRows(ArrayRef<Block *> bodies) {
  for (bool changed = true; changed;) {
    changed = false;
    // A loop that is replayed as a whole keeps the form of its replay.
    for (Block *body : llvm::reverse(bodies))
      changed |= !body->getParentOp()->hasAttr(kIdAttr) && dropUnread(body);
  }
}

/// Fails if a carry must not be kept. A loop keeps every carry that its backward pass reads, unless
/// the loop is replayed as a whole.
LogicalResult checkCarries(LoopOp loop) {
  auto own = loop->getAttrOfType<LabelAttr>(kLabelAttr);
  bool isReplayed = own && own.getValue() == Label::must_recompute;
  if (!isPrimal(loop) || isReplayed || loop.getTrip() == 1)
    return success();
  ValueRange yielded = loop.getYield()->getOperands();
  for (Value row : yielded.drop_front(loop.getNumCarries())) {
    auto argument = dyn_cast<BlockArgument>(row);
    if (!argument || argument.getOwner() != &loop.getBlock() ||
        argument.getArgNumber() >= loop.getNumCarries())
      continue;
    auto next = dyn_cast<OpResult>(yielded[argument.getArgNumber()]);
    if (next && !isa<LoopOp>(next.getOwner()) && getLabel(next) == Label::must_recompute)
      return next.getOwner()->emitError(
          "expected no 'must_recompute' on a carry of a loop: run reprise-split-loops first");
  }
  return success();
}

struct CheckpointPass : impl::CheckpointPassBase<CheckpointPass> {
  using Base::Base;

  void runOnOperation() override {
    ProgramOp function = getOperation();
    if (failed(plan(function)))
      return signalPassFailure();
    if (bodies)
      return;
    Builder builder(&getContext());
    function->setAttr(kSavedBytesAttr, builder.getI64IntegerAttr(countSavedBytes(function)));
    function->setAttr(kReplayedOpsAttr, builder.getI64IntegerAttr(countReplayedOps(function)));
  }

  /// Returns the plan in which a value without a label is replayed, unless a choice saves it.
  static Solution recompute(Problem problem, const std::vector<Choice> &choices, int firstReplay) {
    std::vector<bool> isAsked;
    for (auto [i, value] : llvm::enumerate(problem.values)) {
      isAsked.push_back(value.label != Problem::Label::None);
      bool isSaved = !choices.empty() && choices[i] == Choice::Save;
      if (value.label == Problem::Label::None)
        value.label = isSaved ? Problem::Label::PreferSave : Problem::Label::PreferRecompute;
    }
    Solution solution = followLabels(problem, firstReplay);
    for (auto [reason, asked] : llvm::zip(solution.reasons, isAsked))
      if (reason == Reason::Label && !asked)
        reason = Reason::Budget;
    return solution;
  }

  Solution solve(const Problem &problem, const std::vector<Choice> &choices, int firstReplay) {
    if (bodies)
      return recompute(problem, choices, firstReplay);
    if (choices.empty())
      return followLabels(problem, firstReplay);
    return describe(problem, ScheduleBuilder(problem).build(choices, firstReplay));
  }

  /// Returns the solution of the executions that the plan on the program names. Numbers of replays
  /// start at `nextReplay`.
  FailureOr<Solution> carryOut(const Scope &scope, const Problem &problem, ArrayAttr executions,
                               ReplayPlaces &places) {
    std::vector<Execution> named;
    auto renumber = [&](int replay) { return replay == 0 ? 0 : replay + nextReplay - 1; };
    for (auto entry : executions.getAsRange<DenseI32ArrayAttr>()) {
      ArrayRef<int32_t> numbers = entry.asArrayRef();
      Execution &execution = named.emplace_back();
      execution.operation = numbers[0];
      execution.replay = renumber(numbers[1]);
      execution.before = numbers[2];
      llvm::append_range(execution.sources, llvm::map_range(numbers.drop_front(3), renumber));
    }
    std::optional<NamedExecutions> found = findPlaces(getOperation(), scope, std::move(named));
    std::optional<Schedule> schedule =
        found ? placeExecutions(problem, found->executions) : std::nullopt;
    if (!schedule)
      return getOperation().emitError("the plan is for another program: the plan executes an op "
                                      "before one that the op reads from");
    for (auto [execution, place] : llvm::zip(found->executions, found->places))
      if (place)
        places[{execution.operation, execution.replay}] = place;
    return describe(problem, *schedule);
  }

  /// Chooses, and writes the replays into the graph.
  LogicalResult plan(const Scope &scope, ProgramOp function) {
    Translation translation(scope);
    FailureOr<std::vector<Choice>> choices = readChoices(scope);
    if (failed(translation.settleLabels()) || failed(choices))
      return failure();
    auto plan = function->getAttrOfType<PlanAttr>(kPlanAttr);
    ArrayAttr executions = plan && !bodies ? plan.getExecutions() : nullptr;
    if ((executions || !choices->empty()) && !bodies)
      function->setDiscardableAttr(kKeepsLaunchesAttr, UnitAttr::get(&getContext()));
    ReplayPlaces places;
    FailureOr<Solution> solved = executions
                                     ? carryOut(scope, translation.problem, executions, places)
                                     : solve(translation.problem, *choices, nextReplay);
    if (failed(solved))
      return failure();
    Solution &solution = *solved;
    if (auto defect = validate(translation.problem, solution, /*isJoined=*/true)) {
      Operation *at = defect->operation < 0 ? nullptr : scope[defect->operation];
      at = at ? at : function;
      return at->emitError("the plan is wrong: ") << defect->message;
    }
    decideForMemory(translation.problem, solution);
    applySolution(scope, translation.problem, solution, places, nextId);
    for (const Execution &execution : solution.executions)
      nextReplay = std::max(nextReplay, execution.replay + 1);
    markPlanned(scope, &getContext());
    return success();
  }

  /// Plans the scopes. A plan of a body adds views and replaces loops of scopes around it, and
  /// bodies without rows between them are no longer one scope, so scopes are found again.
  LogicalResult planScopes(ProgramOp function) {
    nextId = findNext(function, kIdAttr);
    nextReplay = std::max<int>(1, static_cast<int>(findNext(function, "replay")));
    std::vector<Scope> scopes = findScopes(function);
    auto given = function->getAttrOfType<PlanAttr>(kPlanAttr);
    if (given && given.getExecutions() && scopes.size() != 1)
      return function.emitError("the plan is for another program: the plan names executions, and "
                                "this program is not differentiated once");
    SmallVector<Block *> blocks = collectBodies(scopes);
    // We mark scopes that the other run plans.
    for (const Scope &scope : scopes)
      if (isInBody(scope, function) ? function->hasAttr(kBodiesAttr) : bodies.getValue())
        markPlanned(scope, &getContext());
    while (const Scope *next = findUnplanned(scopes)) {
      if (failed(plan(*next, function)))
        return failure();
      dropUnreadRows(blocks);
      // Without loops the other scopes, one per micro-batch, stay unchanged.
      if (!blocks.empty())
        scopes = findScopes(function);
    }
    return success();
  }

  LogicalResult plan(ProgramOp function) {
    if (failed(checkInput(function)) || failed(planScopes(function)))
      return failure();
    AttributeChange clear([](NamedAttrList &attributes) {
      attributes.erase(kPlannedAttr);
      attributes.erase(kChoicesAttr);
    });
    function.walk([&](Operation *op) { clear.apply(op); });
    WalkResult kept = function.walk([](LoopOp loop) -> WalkResult { return checkCarries(loop); });
    if (kept.wasInterrupted())
      return failure();
    if (bodies) {
      function->setDiscardableAttr(kBodiesAttr, UnitAttr::get(&getContext()));
      return success();
    }
    function->removeDiscardableAttr(kBodiesAttr);
    if (auto plan = function->getAttrOfType<PlanAttr>(kPlanAttr))
      setLaterPlan(function, nullptr, plan.getEnoughArena());
    emitDecisionRemarks(function);
    return success();
  }

  int64_t nextId = 0;
  int nextReplay = 1;
};

} // namespace
} // namespace reprise
