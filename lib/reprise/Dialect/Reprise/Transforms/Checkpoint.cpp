// reprise: chooses saved and replayed values and inserts the replays.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

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

/// The rule that gave the label stands in the place of the word.
Attribute describe(Reason reason, OpResult result) {
  MLIRContext *context = result.getContext();
  if (reason == Reason::Label)
    return StringAttr::get(context, getRule(result));
  return PlanReasonAttr::get(context, static_cast<PlanReason>(reason));
}

/// Writes a solution into the graph.
class Application {
public:
  Application(const Scope &scope, const Problem &problem, const Solution &solution, int64_t &nextId)
      : scope(scope), problem(problem), solution(solution), nextId(nextId) {}

  void run() {
    SmallVector<const Execution *> waiting;
    for (const Execution &execution : solution.executions) {
      if (execution.replay > 0) {
        waiting.push_back(&execution);
        continue;
      }
      Operation *op = scope[execution.operation];
      if (!op)
        continue;
      // Replays stand before the op that needs them. Operands change only at the end, so that every
      // later replay is a clone of the user's op.
      OpBuilder builder(op);
      for (const Execution *replay : waiting)
        insert(builder, *replay, getOrder(op));
      waiting.clear();
      for (auto [i, source] : llvm::enumerate(execution.sources))
        if (source > 0)
          rewrites.push_back({op, i, find(execution, i)});
    }
    applyRewrites();
    annotate();
  }

private:
  Value find(const Execution &execution, size_t operand) {
    const Problem::Operation &op = problem.operations[execution.operation];
    const Problem::Value &value = problem.values[op.operands[operand]];
    const Problem::Operation &definition = problem.operations[value.operation];
    return clones.at({value.operation, execution.sources[operand]})
        ->getResult(op.operands[operand] - definition.firstResult);
  }
  void insert(OpBuilder &builder, const Execution &replay, int64_t order);
  void mark(Operation *clone, Operation *original, int replay);
  Value bring(Value value, Block *block, int64_t order);
  void applyRewrites();
  void annotate();

  const Scope &scope;
  const Problem &problem;
  const Solution &solution;
  int64_t &nextId;
  std::map<std::pair<int, int>, Operation *> clones;
  /// Op that reads a replay: its read of that number (see collectReads) and the replay.
  struct Rewrite {
    Operation *op;
    size_t read;
    Value value;
  };
  SmallVector<Rewrite> rewrites;
};

/// Makes an original's value readable for a replay in another loop, through a stack. Unplanned
/// values, constants and stacks of outer loops are cloned as ops of the backward pass if necessary.
Value Application::bring(Value value, Block *block, int64_t order) {
  Operation *definition = value.getDefiningOp();
  bool isPlanned =
      definition && isPrimal(definition) && !definition->hasTrait<OpTrait::ConstantLike>();
  return (isPlanned ? stackInto : bringInto)(value, block, [&](Operation *clone) {
    Builder builder(clone->getContext());
    for (StringRef own : {kIdAttr, kPrimalAttr, kNamesAttr, kDecisionsAttr, kReasonsAttr})
      clone->removeDiscardableAttr(own);
    clone->setDiscardableAttr(kCotangentAttr, builder.getUnitAttr());
    clone->setDiscardableAttr(kOrderAttr, builder.getI64IntegerAttr(order));
  });
}

/// Makes the op read `value` as read number `read` (see collectReads).
static void setRead(Operation *op, size_t read, Value before, Value value) {
  if (read < op->getNumOperands())
    return op->setOperand(read, value);
  before.replaceUsesWithIf(value,
                           [&](OpOperand &use) { return op->isProperAncestor(use.getOwner()); });
}

void Application::applyRewrites() {
  // Reads of an op are renumbered when they change, so we look all of them up first.
  SmallVector<Value> old;
  for (const Rewrite &rewrite : rewrites)
    old.push_back(collectReads(rewrite.op)[rewrite.read]);
  for (auto [rewrite, before] : llvm::zip(rewrites, old))
    setRead(rewrite.op, rewrite.read, before, rewrite.value);
}

/// Marks `clone` and the ops in it as replays of `original`.
void Application::mark(Operation *clone, Operation *original, int replay) {
  Builder builder(clone->getContext());
  SmallVector<Operation *> originals;
  original->walk([&](Operation *op) { originals.push_back(op); });
  size_t next = 0;
  clone->walk([&](Operation *op) {
    Operation *first = originals[next++];
    if (op->hasTrait<OpTrait::IsTerminator>())
      return;
    // A loop may hold replays; their replays repeat the same original.
    if (!isReplay(first)) {
      if (!first->hasAttr(kIdAttr))
        first->setDiscardableAttr(kIdAttr, builder.getI64IntegerAttr(nextId++));
      op->setDiscardableAttr(kOriginalAttr, first->getDiscardableAttr(kIdAttr));
    }
    setReplayNumber(op, replay);
    for (StringRef own : {kIdAttr, kPrimalAttr, kNamesAttr, kDecisionsAttr, kReasonsAttr})
      op->removeDiscardableAttr(own);
  });
  // Values that only the backward pass read have replays as readers by now.
  SmallVector<Operation *> inside;
  clone->walk([&](Operation *op) { inside.push_back(op); });
  for (Operation *op : llvm::reverse(inside))
    if (op != clone && isOpTriviallyDead(op))
      op->erase();
}

void Application::insert(OpBuilder &builder, const Execution &replay, int64_t order) {
  Operation *original = scope[replay.operation];
  Operation *clone = builder.clone(*original);
  mark(clone, original, replay.replay);
  SmallVector<Value> reads = collectReads(original);
  for (auto [i, source] : llvm::enumerate(replay.sources))
    setRead(clone, i, reads[i],
            source > 0 ? find(replay, i) : bring(reads[i], clone->getBlock(), order));
  clones[{replay.operation, replay.replay}] = clone;
}

void Application::annotate() {
  for (auto [i, op] : llvm::enumerate(scope)) {
    if (!op || !isPrimal(op))
      continue;
    Builder builder(op->getContext());
    SmallVector<Attribute> decisions, reasons;
    for (OpResult result : op->getOpResults()) {
      int id = problem.operations[i].firstResult + result.getResultNumber();
      decisions.push_back(
          builder.getAttr<PlanDecisionAttr>(static_cast<PlanDecision>(solution.decisions[id])));
      reasons.push_back(describe(solution.reasons[id], result));
    }
    NamedAttrList attributes(op->getRawDictionaryAttrs());
    attributes.set(kDecisionsAttr, builder.getArrayAttr(decisions));
    attributes.set(kReasonsAttr, builder.getArrayAttr(reasons));
    op->setDiscardableAttrs(attributes.getDictionary(op->getContext()));
  }
}

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

  /// Chooses, and writes the replays into the graph.
  LogicalResult plan(const Scope &scope, ProgramOp function) {
    Translation translation(scope);
    FailureOr<std::vector<Choice>> choices = readChoices(scope);
    if (failed(translation.settleLabels()) || failed(choices))
      return failure();
    if (!choices->empty() && !bodies)
      function->setDiscardableAttr(kKeepsLaunchesAttr, UnitAttr::get(&getContext()));
    Solution solution = solve(translation.problem, *choices, nextReplay);
    if (auto defect = validate(translation.problem, solution, /*isJoined=*/true)) {
      Operation *at = defect->operation < 0 ? nullptr : scope[defect->operation];
      at = at ? at : function;
      return at->emitError("the plan is wrong: ") << defect->message;
    }
    decideForMemory(translation.problem, solution);
    Application(scope, translation.problem, solution, nextId).run();
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
    emitDecisionRemarks(function);
    return success();
  }

  int64_t nextId = 0;
  int nextReplay = 1;
};

} // namespace
} // namespace reprise
