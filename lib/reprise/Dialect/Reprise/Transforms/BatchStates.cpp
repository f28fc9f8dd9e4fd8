// reprise: states of the values of a step for micro-batches
#include "BatchStates.h"

#include "reprise/Dialect/Reprise/IR/Groups.h"

using namespace mlir;
using namespace reprise;

/// Warns if an op that computes with parameters reads a value computed from all samples.
static void warnOfJoined(const llvm::DenseMap<Value, Operation *> &joined,
                         Operation *joinedReader) {
  if (!joinedReader)
    return;
  for (Value operand : joinedReader->getOperands())
    if (Operation *joiner = joined.lookup(operand)) {
      InFlightDiagnostic warning =
          joiner->emitWarning("'")
          << joiner->getName()
          << "' cannot be cut along the batch, so every micro-batch computes its readers in full";
      warning.attachNote(joinedReader->getLoc()) << "this op runs on the whole batch";
      return;
    }
}

FailureOr<BatchStates> BatchStates::find(ProgramOp step) {
  BatchStates found(step);
  if (failed(found.setArguments()))
    return failure();
  // We repeat, because a state that passes from one micro-batch to the next changes its readers.
  bool changed = true;
  while (changed) {
    changed = false;
    found.cuts.clear();
    found.cutLoops.clear();
    found.batchLoops.clear();
    found.joined.clear();
    found.joinedReader = nullptr;
    if (failed(found.visitAll(step.getBody().front())) || !found.handOverStates(changed))
      return failure();
  }
  warnOfJoined(found.joined, found.joinedReader);
  return found;
}

const BatchCut *BatchStates::getCut(Operation *op) const {
  auto found = cuts.find(op);
  return found == cuts.end() ? nullptr : &found->second;
}

bool reprise::readsState(const BatchStates &states, Operation *op, BatchState::Kind kind) {
  return llvm::any_of(op->getOperands(),
                      [&](Value value) { return states.get(value).kind == kind; });
}

LogicalResult reprise::refuseCoupling(Operation *op) {
  return op->emitError("'") << op->getName()
                            << "' couples the samples of a batch, so that micro-batches cannot run "
                               "one by one";
}

LogicalResult reprise::refuseTotals(const BatchStates &states, Operation *op) {
  for (Value operand : op->getOperands())
    if (states.get(operand).kind == BatchState::Total ||
        states.get(operand).kind == BatchState::Part) {
      InFlightDiagnostic error =
          op->emitError("'") << op->getName()
                             << "' reads both a total over the batch and values of its micro-batch";
      error.attachNote(operand.getLoc()) << "the total is known after the last micro-batch only";
      return error;
    }
  return success();
}

bool reprise::isInBatchLoop(const BatchStates &states, Operation *op) {
  for (auto loop = op->getParentOfType<LoopOp>(); loop; loop = loop->getParentOfType<LoopOp>())
    if (states.isAlongBatch(loop))
      return true;
  return false;
}

LogicalResult BatchStates::setArguments() {
  Value first;
  for (BlockArgument argument : step.getArguments()) {
    unsigned number = argument.getArgNumber();
    StringRef role = signature.getRole(number);
    if (role != "parameter" && role != "state")
      ofInputs.insert(argument);
    std::optional<int64_t> dim = signature.getBatchDim(number);
    if (!dim)
      continue;
    int64_t size = cast<RankedTensorType>(argument.getType()).getDimSize(*dim);
    if (first && size != batch) {
      InFlightDiagnostic error = emitError(argument.getLoc());
      error << "inputs have different batches, " << batch << " and " << size << " samples";
      error.attachNote(first.getLoc()) << "the other input";
      return error;
    }
    first = argument;
    batch = size;
    states[argument] = {BatchState::Rows, *dim, 1};
  }
  if (!first)
    return step.emitError(
        "micro-batches need an input with `reprise.batch_dim`, and there is none");
  return success();
}

LogicalResult BatchStates::visitAll(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(isa<LoopOp>(op) ? visitLoop(cast<LoopOp>(op)) : visit(&op)))
      return failure();
  return success();
}

bool BatchStates::isOfInputs(Operation *op) const {
  return !isInLoop(op) &&
         llvm::all_of(op->getOperands(), [&](Value value) { return ofInputs.contains(value); });
}

/// Follows values computed from all samples of inputs, which may be small, such as a mask. An op
/// that combines parameters with such a value would run on the whole batch.
void BatchStates::followJoined(Operation *op) {
  for (Value operand : op->getOperands()) {
    Operation *joiner = joined.lookup(operand);
    if (!joiner)
      continue;
    if (!isOfInputs(op)) {
      joinedReader = joinedReader ? joinedReader : op;
      return;
    }
    for (Value result : op->getResults())
      joined[result] = joiner;
  }
}

/// Returns true for a sum over the batch divided by a count, if each micro-batch is its own group
/// (kPerGroupAttr).
static bool isGroupMean(Operation *op) {
  auto count = isa<DivOp>(op) ? op->getOperand(1).getDefiningOp<ConstantOp>() : nullptr;
  return count && op->hasAttr(kPerGroupAttr) && isa<SplatElementsAttr>(count.getValue());
}

/// A micro-batch divides its own summand of a sum, and does not wait for the others.
bool BatchStates::visitGroupMean(Operation *op) {
  Operation *sum = isGroupMean(op) ? op->getOperand(0).getDefiningOp() : nullptr;
  const BatchCut *cut = sum ? getCut(sum) : nullptr;
  if (!cut || !cut->isReduced())
    return false;
  cuts[op] = {cast<BatchableOpInterface>(op).getFactors(), -1, 0, /*isGroupMean=*/true};
  states[op->getResult(0)] = {BatchState::Own};
  return true;
}

/// Returns true for a sum into a carry of a loop along the batch.
static bool isSumOverSamples(const BatchStates &states, Operation *op) {
  return isa<AddOp>(op) && states.isAlongBatch(op->getParentOp()) &&
         readsState(states, op, BatchState::Part);
}

LogicalResult BatchStates::visit(Operation *op) {
  if (op->getNumRegions() != 0)
    return refuseCoupling(op);
  if (isInBatchLoop(*this, op) && readsState(*this, op, BatchState::Rows))
    return refuseCoupling(op); // an iteration that reads all samples
  if (isSumOverSamples(*this, op)) {
    cuts[op].factors = cast<BatchableOpInterface>(op).getFactors();
    states[op->getResult(0)] = {BatchState::Part};
    return success();
  }
  if (visitGroupMean(op))
    return success();
  if (isOfInputs(op))
    for (Value result : op->getResults())
      ofInputs.insert(result);
  auto setAll = [&](BatchState state) {
    for (Value result : op->getResults())
      states[result] = state;
    return success();
  };
  if (auto statistics = dyn_cast<BatchStatisticsOp>(op);
      statistics && (statistics.getDeferred() || readsState(*this, op, BatchState::Own)))
    return visitStatistics(statistics);
  if (!readsState(*this, op, BatchState::Rows) && !readsState(*this, op, BatchState::Own)) {
    if (readsState(*this, op, BatchState::Part))
      return visitParts(op);
    followJoined(op);
    return setAll(
        {readsState(*this, op, BatchState::Total) ? BatchState::Total : BatchState::Whole});
  }
  FailureOr<BatchCut> cut = findCut(op);
  // Values of inputs only can be computed from the whole batch before the first micro-batch.
  if ((failed(cut) || cut->isReduced()) && isOfInputs(op)) {
    if (failed(cut))
      for (Value result : op->getResults())
        joined[result] = op;
    return setAll({});
  }
  if (failed(cut))
    return refuseCoupling(op);
  if (failed(refuseTotals(*this, op)))
    return failure();
  return setResults(op, *cut);
}

/// Visits batch statistics: each micro-batch has its own, or merges its own into those of the
/// batch.
LogicalResult BatchStates::visitStatistics(BatchStatisticsOp op) {
  auto isOwn = [&](Value value) { return get(value).kind == BatchState::Own; };
  if (!llvm::all_of(op->getOperands(), isOwn))
    return op.emitError("'") << op->getName()
                             << "' expects a mean and a variance of each micro-batch";
  if (op.getDeferred() && isInLoop(op))
    return op.emitError("'") << op->getName() << "' in a loop cannot be deferred";
  if (static_cast<int64_t>(op.getCount()) % batch != 0)
    return op.emitError("'") << op->getName() << "' counts " << static_cast<int64_t>(op.getCount())
                             << " elements, which " << batch << " samples cannot share evenly";
  BatchCut cut;
  cut.factors = cast<BatchableOpInterface>(op.getOperation()).getFactors();
  cuts[op] = cut;
  for (Value result : op->getResults()) {
    states[result] = {op.getDeferred() ? BatchState::Total : BatchState::Own};
    ofInputs.erase(result);
  }
  return success();
}

/// Returns true for ops that are linear in sums: additions, and ops that change no value except its
/// sign, such as the cast of a 16-bit gradient to its weight's type. Casts that round are excluded.
static bool keepsSums(Operation *op) {
  if (auto cast = dyn_cast<CastOp>(op)) {
    auto from = dyn_cast<FloatType>(getElementTypeOrSelf(cast.getOperand()));
    auto to = dyn_cast<FloatType>(getElementTypeOrSelf(cast.getResult()));
    return from && to && from.getWidth() < to.getWidth();
  }
  return isa<AddOp, NegOp, ReshapeOp, TransposeOp>(op);
}

/// Visits an op on summands inside a loop. Summands may only be added, negated, widened and moved:
/// a sum of sums is a sum. A carry that begins at zero may become a summand (joinCarries).
LogicalResult BatchStates::visitParts(Operation *op) {
  auto mayBePart = [&](Value value) {
    return get(value).kind == BatchState::Part ||
           (get(value).kind == BatchState::Whole && isa<BlockArgument>(value) &&
            value.getParentBlock() == op->getBlock());
  };
  if (!keepsSums(op) || !llvm::all_of(op->getOperands(), mayBePart))
    return refuseTotals(*this, op);
  BatchCut cut;
  cut.factors = cast<BatchableOpInterface>(op).getFactors();
  cuts[op] = cut;
  states[op->getResult(0)] = {BatchState::Part};
  return success();
}

//===-- Cuts ----------------------------------------------------------------------------------===//

std::optional<BatchCut> reprise::findWindow(OpResult result, int64_t dim, int64_t rows) {
  auto batchable = dyn_cast<BatchableOpInterface>(result.getOwner());
  if (!batchable)
    return std::nullopt;
  BatchCut cut;
  cut.factors = batchable.getFactors();
  const OpFactors::Dim &dims = cut.factors.results[result.getResultNumber()][dim];
  int64_t inner = cut.factors.countRows(dims);
  cut.factor = dims.front();
  cut.each = rows / inner;
  if (!cut.factors.canCut(cut.factor) || rows % inner != 0 || !cut.is(FactorKind::Parallel))
    return std::nullopt;
  return cut;
}

static bool hasOwnWindows(const BatchStates &states, Operation *op, const BatchCut &cut) {
  return llvm::all_of(llvm::zip(op->getOperands(), cut.factors.operands), [&](auto operand) {
    auto &[value, dims] = operand;
    int64_t dim = OpFactors::findDim(dims, cut.factor);
    return dim < 0 || hasWindow(states, value, dim, cut.countRows(dims[dim]));
  });
}

bool reprise::hasWindow(const BatchStates &states, Value value, int64_t dim, int64_t rows) {
  if (states.get(value).kind != BatchState::Own)
    return true;
  auto result = dyn_cast<OpResult>(value);
  std::optional<BatchCut> cut = result ? findWindow(result, dim, rows) : std::nullopt;
  return cut && hasWindows(states, result.getOwner(), *cut);
}

bool reprise::hasWindows(const BatchStates &states, Operation *op, const BatchCut &cut) {
  return !readsState(states, op, BatchState::Rows) && hasOwnWindows(states, op, cut);
}

/// Returns the factor of the batch, if all operands with rows agree on it. Fails if the op cannot
/// be cut there.
FailureOr<BatchCut> BatchStates::findCut(Operation *op) {
  BatchCut cut;
  auto batchable = dyn_cast<BatchableOpInterface>(op);
  if (!batchable)
    return failure();
  cut.factors = batchable.getFactors();
  for (auto [operand, dims] : llvm::zip(op->getOperands(), cut.factors.operands)) {
    BatchState state = get(operand);
    if (state.kind != BatchState::Rows)
      continue;
    const OpFactors::Dim &dim = dims[state.dim];
    int64_t inner = cut.factors.countRows(dim);
    if (state.rows % inner != 0)
      return failure();
    if (cut.factor >= 0 && (cut.factor != dim.front() || cut.each != state.rows / inner))
      return failure();
    cut.factor = dim.front();
    cut.each = state.rows / inner;
  }
  if (cut.factor >= 0 && (!cut.factors.canCut(cut.factor) || !hasOwnWindows(*this, op, cut)))
    return failure();
  return cut;
}

LogicalResult BatchStates::setResults(Operation *op, const BatchCut &cut) {
  BatchState::Kind reduced = isInLoop(op) ? BatchState::Part : BatchState::Total;
  for (auto [result, dims] : llvm::zip(op->getResults(), cut.factors.results)) {
    int64_t dim = cut.factor < 0 ? -1 : OpFactors::findDim(dims, cut.factor);
    if (dim >= 0)
      states[result] = {BatchState::Rows, dim, cut.countRows(dims[dim])};
    else
      states[result] = {cut.isReduced() ? reduced : BatchState::Own};
  }
  cuts[op] = cut;
  return success();
}

/// Sets arguments whose next value every micro-batch computes to Own. Returns false after an error.
bool BatchStates::handOverStates(bool &changed) {
  Operation *terminator = step.getBody().front().getTerminator();
  for (auto [number, value] : llvm::enumerate(terminator->getOperands())) {
    if (get(value).kind != BatchState::Own)
      continue;
    int64_t argument = signature.getReplacedArguments()[number];
    if (argument < 0) {
      emitError(value.getLoc()) << "each micro-batch has its own value of result " << number
                                << ", which the step cannot return";
      return false;
    }
    BatchState &state = states[step.getArgument(argument)];
    changed |= state.kind != BatchState::Own;
    state = {BatchState::Own};
  }
  return true;
}
