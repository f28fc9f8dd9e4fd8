// reprise: writes a solution of a checkpoint problem into the graph.
#include "ApplySolution.h"

#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Support/Attributes.h"

using namespace mlir;

namespace reprise {

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
  Application(const Scope &scope, const Problem &problem, const Solution &solution,
              const ReplayPlaces &places, int64_t &nextId)
      : scope(scope), problem(problem), solution(solution), places(places), nextId(nextId) {}

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
      // Replays stand before the op that they are for; its operands change only at the end, so
      // that every later replay is a clone of what the user wrote.
      for (const Execution *replay : waiting) {
        OpBuilder builder(findPlace(*replay, op));
        insert(builder, *replay, getOrder(op));
      }
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
  Operation *findPlace(const Execution &replay, Operation *next) const {
    auto found = places.find({replay.operation, replay.replay});
    Operation *place = found == places.end() ? nullptr : found->second;
    return place && place->isBeforeInBlock(next) ? place : next;
  }
  void insert(OpBuilder &builder, const Execution &replay, int64_t order);
  void mark(Operation *clone, Operation *original, int replay);
  Value bring(Value value, Block *block, int64_t order);
  void applyRewrites();
  void annotate();

  const Scope &scope;
  const Problem &problem;
  const Solution &solution;
  const ReplayPlaces &places;
  int64_t &nextId;
  std::map<std::pair<int, int>, Operation *> clones;
  /// An op that reads a replay: its read of that number (see collectReads) and the replay.
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
  // The reads of an op change places while they change, so all are looked up first.
  SmallVector<Value> old;
  for (const Rewrite &rewrite : rewrites)
    old.push_back(collectReads(rewrite.op)[rewrite.read]);
  for (auto [rewrite, before] : llvm::zip(rewrites, old))
    setRead(rewrite.op, rewrite.read, before, rewrite.value);
}

/// Makes `clone`, and with it what it holds, replays of `original`.
void Application::mark(Operation *clone, Operation *original, int replay) {
  Builder builder(clone->getContext());
  SmallVector<Operation *> originals;
  original->walk([&](Operation *op) { originals.push_back(op); });
  size_t next = 0;
  clone->walk([&](Operation *op) {
    Operation *first = originals[next++];
    if (op->hasTrait<OpTrait::IsTerminator>())
      return;
    // A loop may hold replays; those of them repeat the same original.
    if (!isReplay(first)) {
      if (!first->hasAttr(kIdAttr))
        first->setDiscardableAttr(kIdAttr, builder.getI64IntegerAttr(nextId++));
      op->setDiscardableAttr(kOriginalAttr, first->getDiscardableAttr(kIdAttr));
    }
    setReplayNumber(op, replay);
    for (StringRef own : {kIdAttr, kPrimalAttr, kNamesAttr, kDecisionsAttr, kReasonsAttr})
      op->removeDiscardableAttr(own);
  });
  // Replays of the backward pass now read the values that only the backward pass read before.
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

} // namespace

void applySolution(const Scope &scope, const Problem &problem, const Solution &solution,
                   const ReplayPlaces &places, int64_t &nextId) {
  Application(scope, problem, solution, places, nextId).run();
}

} // namespace reprise
