// reprise: chooses saved and replayed values and inserts the replays.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "Aliases.h"
#include "Plan.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "reprise/Planning/Checkpoint/Follow.h"
#include "reprise/Support/ByteSize.h"
#include <map>

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_CHECKPOINTPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

using namespace checkpoint;

Wish getWish(OpResult result) {
  std::optional<Label> label = getLabel(result);
  if (!label)
    return Wish::None;
  switch (*label) {
  case Label::must_save:
    return Wish::MustSave;
  case Label::must_recompute:
    return Wish::MustRecompute;
  case Label::prefer_recompute:
    return Wish::PreferRecompute;
  case Label::prefer_save:
  // Offload labels do not pass assign-labels; keeping the value is what they come closest to.
  case Label::must_offload:
  case Label::prefer_offload:
    return Wish::PreferSave;
  }
  llvm_unreachable("unknown label");
}

Kind getKind(mlir::Operation *op) {
  if (isa<ViewOpInterface>(op))
    return Kind::View;
  if (isa<AttentionOpInterface>(op))
    return Kind::Other;
  if (isa<ContractionOpInterface, ConvolutionOpInterface>(op))
    return Kind::Contraction;
  // Draws, and ops without operands, compute each element by itself.
  if (isa<ElementwiseOpInterface, RandomOpInterface>(op) || op->getNumOperands() == 0)
    return Kind::Elementwise;
  return isa<ReductionOpInterface, NormalizationOpInterface>(op) ? Kind::Reduction : Kind::Other;
}

/// Turns one scope into numbers.
class Translation {
public:
  explicit Translation(const Scope &scope) {
    problem.containers.emplace_back();
    for (mlir::Operation *op : scope)
      members.insert(op);
    for (mlir::Operation *op : scope)
      add(op);
  }

  Problem problem;

private:
  int findContainer(mlir::Operation *op);
  void add(mlir::Operation *op);
  void addResult(OpResult result, int operation);

  DenseSet<mlir::Operation *> members;
  DenseMap<mlir::Value, int> ids;
  std::map<std::pair<int, int64_t>, int> containers;
  Aliases aliases;
};

/// Ops outside all blocks share one container, which no id can name.
int Translation::findContainer(mlir::Operation *op) {
  int at = 0;
  SmallVector<int64_t> path = {-1};
  if (auto block = op->getAttrOfType<DenseI64ArrayAttr>(kBlockAttr); block && !block.empty())
    path.assign(block.asArrayRef().begin(), block.asArrayRef().end());
  for (int64_t id : path) {
    auto [found, isNew] = containers.try_emplace({at, id}, problem.containers.size());
    if (isNew)
      problem.containers.push_back({at});
    at = found->second;
  }
  return at;
}

void Translation::addResult(OpResult result, int operation) {
  int id = problem.values.size();
  ids[result] = id;
  checkpoint::Value value;
  value.operation = operation;
  value.bytes = getByteSize(result.getType());
  mlir::Value root = aliases.getRoot(result);
  auto known = ids.find(root);
  value.root = known == ids.end() ? kAvailable : known->second;
  value.wish = getWish(result);
  value.outlives = llvm::any_of(result.getUsers(),
                                [&](mlir::Operation *user) { return !members.contains(user); });
  problem.values.push_back(value);
}

void Translation::add(mlir::Operation *op) {
  checkpoint::Operation entry;
  entry.container = findContainer(op);
  entry.order = getOrder(op);
  entry.primal = isPrimal(op);
  entry.kind = getKind(op);
  if (auto cost = dyn_cast<CostOpInterface>(op))
    entry.flops = cost.getFlops();
  for (mlir::Value operand : op->getOperands()) {
    auto found = ids.find(operand);
    entry.operands.push_back(found == ids.end() ? kAvailable : found->second);
  }
  entry.firstResult = problem.values.size();
  entry.numResults = op->getNumResults();
  int index = problem.operations.size();
  problem.operations.push_back(std::move(entry));
  for (OpResult result : op->getOpResults())
    addResult(result, index);
}

StringRef getText(Decision decision) {
  switch (decision) {
  case Decision::Saved:
    return "saved";
  case Decision::Kept:
    return "kept";
  case Decision::Replayed:
    return "replayed";
  case Decision::NotNeeded:
    return "not needed";
  }
  llvm_unreachable("unknown decision");
}

StringRef getText(Reason reason, OpResult result) {
  switch (reason) {
  case Reason::Wish:
    return getRule(result);
  case Reason::Fastest:
    return "fastest";
  case Reason::NearlyFree:
    return "nearly free";
  case Reason::BlockInput:
    return "block input";
  case Reason::LastUnit:
    return "last unit";
  case Reason::Outlives:
    return "returned";
  case Reason::Moot:
    return "moot";
  case Reason::NotRead:
    return "not read";
  }
  llvm_unreachable("unknown reason");
}

/// Writes a solution into the graph.
class Application {
public:
  Application(const Scope &scope, const Problem &problem, const Solution &solution, int64_t &nextId)
      : scope(scope), problem(problem), solution(solution), nextId(nextId) {}

  /// Returns the number of replays.
  int64_t run() {
    SmallVector<const Execution *> waiting;
    int64_t replays = 0;
    for (const Execution &execution : solution.executions) {
      if (execution.replay > 0) {
        waiting.push_back(&execution);
        ++replays;
        continue;
      }
      // Replays stand before the op that they are for; its operands change only at the end, so
      // that every later replay is a clone of what the user wrote.
      OpBuilder builder(scope[execution.operation]);
      for (const Execution *replay : waiting)
        insert(builder, *replay);
      waiting.clear();
      for (auto [i, source] : llvm::enumerate(execution.sources))
        if (source > 0)
          rewrites.push_back({&scope[execution.operation]->getOpOperand(i), find(execution, i)});
    }
    for (auto [operand, value] : rewrites)
      operand->set(value);
    annotate();
    return replays;
  }

private:
  mlir::Value find(const Execution &execution, size_t operand) {
    const checkpoint::Operation &op = problem.operations[execution.operation];
    const checkpoint::Value &value = problem.values[op.operands[operand]];
    const checkpoint::Operation &definition = problem.operations[value.operation];
    return clones.at({value.operation, execution.sources[operand]})
        ->getResult(op.operands[operand] - definition.firstResult);
  }
  void insert(OpBuilder &builder, const Execution &replay);
  void annotate();

  const Scope &scope;
  const Problem &problem;
  const Solution &solution;
  int64_t &nextId;
  std::map<std::pair<int, int>, mlir::Operation *> clones;
  SmallVector<std::pair<OpOperand *, mlir::Value>> rewrites;
};

void Application::insert(OpBuilder &builder, const Execution &replay) {
  mlir::Operation *original = scope[replay.operation];
  if (!original->hasAttr(kIdAttr))
    original->setDiscardableAttr(kIdAttr, builder.getI64IntegerAttr(nextId++));
  mlir::Operation *clone = builder.clone(*original);
  for (auto [i, source] : llvm::enumerate(replay.sources))
    if (source > 0)
      clone->setOperand(i, find(replay, i));
  clone->setAttr("replay", builder.getI64IntegerAttr(replay.replay));
  clone->setDiscardableAttr(kOriginalAttr, original->getDiscardableAttr(kIdAttr));
  for (StringRef own : {kIdAttr, kPrimalAttr, kNamesAttr})
    clone->removeDiscardableAttr(own);
  clones[{replay.operation, replay.replay}] = clone;
}

void Application::annotate() {
  for (auto [i, op] : llvm::enumerate(scope)) {
    if (!isPrimal(op))
      continue;
    SmallVector<StringRef> decisions, reasons;
    for (OpResult result : op->getOpResults()) {
      int id = problem.operations[i].firstResult + result.getResultNumber();
      decisions.push_back(getText(solution.decisions[id]));
      reasons.push_back(getText(solution.reasons[id], result));
    }
    Builder builder(op->getContext());
    op->setDiscardableAttr(kDecisionsAttr, builder.getStrArrayAttr(decisions));
    op->setDiscardableAttr(kReasonsAttr, builder.getStrArrayAttr(reasons));
  }
}

/// What the translation takes for granted.
LogicalResult checkInput(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("expected a function of one block");
  for (mlir::Operation &op : function.getBody().front()) {
    if (getReplay(&op) != 0)
      return op.emitError("expected a graph without replays");
    if (!isPrimal(&op) && !isCotangent(&op))
      continue;
    if (op.getNumRegions() != 0)
      return op.emitError("expected flat ops: run reprise-differentiate first");
    if (!isMemoryEffectFree(&op))
      return op.emitError("expected a pure op: run reprise-thread-random first");
  }
  return success();
}

struct CheckpointPass : impl::CheckpointPassBase<CheckpointPass> {
  using Base::Base;

  void runOnOperation() override {
    int64_t savedBytes = 0, replayedOps = 0;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      if (failed(plan(function, replayedOps)))
        return signalPassFailure();
      savedBytes += countSavedBytes(function);
    }
    Builder builder(&getContext());
    getOperation()->setAttr(kSavedBytesAttr, builder.getI64IntegerAttr(savedBytes));
    getOperation()->setAttr(kReplayedOpsAttr, builder.getI64IntegerAttr(replayedOps));
  }

  LogicalResult plan(func::FuncOp function, int64_t &replayedOps) {
    if (failed(checkInput(function)))
      return failure();
    int64_t nextId = 0;
    int nextReplay = 1;
    for (const Scope &scope : findScopes(function)) {
      Translation translation(scope);
      Solution solution = followWishes(translation.problem, nextReplay);
      if (auto defect = validate(translation.problem, solution)) {
        mlir::Operation *at = defect->operation < 0 ? function : scope[defect->operation];
        return at->emitError("the plan is wrong: ") << defect->message;
      }
      replayedOps += Application(scope, translation.problem, solution, nextId).run();
      for (const Execution &execution : solution.executions)
        nextReplay = std::max(nextReplay, execution.replay + 1);
    }
    return success();
  }
};

} // namespace
} // namespace reprise
