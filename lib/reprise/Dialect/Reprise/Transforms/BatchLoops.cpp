// reprise: states of the values of loops for micro-batches
#include "BatchStates.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace reprise;

static bool startsAlongBatch(const BatchStates &states, LoopOp loop) {
  return llvm::any_of(loop.getXs(), [&](Value stack) {
    BatchState state = states.get(stack);
    return state.kind == BatchState::Rows && state.dim == 0;
  });
}

/// Visits a loop. Carries begin with the states of their inits; if the body gives a carry another
/// state, the body is visited again.
LogicalResult BatchStates::visitLoop(LoopOp loop) {
  if (isInBatchLoop(*this, loop) && readsState(*this, loop, BatchState::Rows))
    return refuseCoupling(loop);
  if (startsAlongBatch(*this, loop))
    return visitBatchLoop(loop);
  setSlices(loop);
  for (auto [carry, init] : llvm::zip(loop.getCarryArguments(), loop.getInits()))
    states[carry] = get(init);
  for (;;) {
    if (failed(visitAll(loop.getBlock())))
      return failure();
    FailureOr<bool> changed = joinCarries(loop);
    if (failed(changed))
      return failure();
    if (!*changed)
      break;
  }
  for (Operation &op : loop.getBlock().without_terminator())
    if (!isa<LoopOp>(op) && readsState(*this, &op, BatchState::Part) &&
        readsState(*this, &op, BatchState::Whole))
      return refuseTotals(*this, &op);
  return setLoopResults(loop);
}

void BatchStates::setSlices(LoopOp loop) {
  for (auto [slice, stack] : llvm::zip(loop.getSliceArguments(), loop.getXs())) {
    BatchState state = get(stack);
    if (state.kind == BatchState::Rows)
      --state.dim;
    states[slice] = state;
  }
}

/// Returns true if the next value is the carry plus an addend, and no other op reads the sums.
static bool addsUp(Value next, BlockArgument carry) {
  if (!next.hasOneUse())
    return false;
  if (next == carry)
    return true;
  auto add = next.getDefiningOp<AddOp>();
  return add && (addsUp(add.getLhs(), carry) || addsUp(add.getRhs(), carry));
}

/// Visits a loop along the batch, whose iterations have their own samples and are divided among
/// micro-batches. A sum over iterations continues from one micro-batch to the next. Any other carry
/// couples samples.
LogicalResult BatchStates::visitBatchLoop(LoopOp loop) {
  int64_t rows = static_cast<int64_t>(loop.getTrip()) / batch;
  BatchState cut{BatchState::Rows, 0, rows};
  for (auto [slice, stack] : llvm::zip(loop.getSliceArguments(), loop.getXs())) {
    BatchState state = get(stack);
    bool isOwn = state.kind == BatchState::Own && hasWindow(*this, stack, 0, rows);
    if (isInLoop(loop) || !(state == cut || state.kind == BatchState::Whole || isOwn))
      return refuseCoupling(loop);
    states[slice] = {BatchState::Own};
  }
  for (auto [carry, next, init] :
       llvm::zip(loop.getCarryArguments(), loop.getYield()->getOperands(), loop.getInits())) {
    if (get(init).kind != BatchState::Whole || !addsUp(next, carry))
      return refuseCoupling(loop);
    states[carry] = {BatchState::Part};
  }
  batchLoops.insert(loop);
  cutLoops.insert(loop);
  if (failed(visitAll(loop.getBlock())))
    return failure();
  for (Operation &op : loop.getBlock().without_terminator())
    if (readsState(*this, &op, BatchState::Total))
      return refuseTotals(*this, &op);
  for (auto [number, result] : llvm::enumerate(loop.getResults())) {
    bool isCarry = static_cast<int64_t>(number) < loop.getNumCarries();
    states[result] = isCarry ? BatchState{BatchState::Total} : cut;
  }
  return success();
}

/// Returns true if a carry gets another state than its init: the rows, or the summands, of a
/// micro-batch.
FailureOr<bool> BatchStates::joinCarries(LoopOp loop) {
  bool changed = false;
  for (auto [carry, next, init] :
       llvm::zip(loop.getCarryArguments(), loop.getYield()->getOperands(), loop.getInits())) {
    BatchState own = get(carry), made = get(next);
    if (made == own || (made.kind == BatchState::Whole &&
                        (own.kind == BatchState::Rows || own.kind == BatchState::Own)))
      continue;
    // A sum continues from the previous micro-batch, so it must begin at zero.
    bool fromZero = matchPattern(init, m_AnyZeroFloat()) || matchPattern(init, m_Zero());
    if (own.kind != BatchState::Whole || (made.kind == BatchState::Part && !fromZero))
      return refuseCoupling(loop);
    states[carry] = made;
    changed = true;
  }
  return changed;
}

LogicalResult BatchStates::setLoopResults(LoopOp loop) {
  bool runsOnParts = false, readsTotals = false;
  loop.getBody().walk([&](Operation *op) {
    runsOnParts |= isCut(op);
    readsTotals |= readsState(*this, op, BatchState::Total);
  });
  for (BlockArgument argument : loop.getBlock().getArguments()) {
    BatchState::Kind kind = get(argument).kind;
    runsOnParts |= kind != BatchState::Whole && kind != BatchState::Total;
    readsTotals |= kind == BatchState::Total;
  }
  if (runsOnParts && readsTotals)
    return refuseCoupling(loop);
  if (runsOnParts)
    cutLoops.insert(loop);
  for (auto [number, result] : llvm::enumerate(loop.getResults())) {
    bool isCarry = static_cast<int64_t>(number) < loop.getNumCarries();
    BatchState state = get(isCarry ? Value(loop.getCarryArguments()[number])
                                   : loop.getYield()->getOperand(number));
    if (!isCarry && state.kind == BatchState::Rows)
      ++state.dim;
    if (state.kind == BatchState::Part && !isInLoop(loop))
      state.kind = BatchState::Total;
    if (!runsOnParts)
      state = {readsTotals ? BatchState::Total : BatchState::Whole};
    else if (state.kind == BatchState::Whole)
      state = {BatchState::Own};
    states[result] = state;
  }
  return success();
}
