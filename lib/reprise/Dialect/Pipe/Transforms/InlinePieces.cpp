// reprise: flattens device programs, and drops the schedule
#include "reprise/Dialect/Pipe/Transforms/Passes.h"

#include "mlir/Transforms/RegionUtils.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/Transforms/PlanningScopes.h"

using namespace mlir;

namespace reprise::pipe {
#define GEN_PASS_DEF_INLINEPIECESPASS
#include "reprise/Dialect/Pipe/Transforms/Passes.h.inc"

namespace {

/// Returns true if a forward pass stands behind a backward pass.
bool isInterleaved(ArrayRef<PieceOp> pieces) {
  bool hasBackward = false;
  for (PieceOp piece : pieces) {
    if (!piece.isPass() || piece.getBody().front().without_terminator().empty())
      continue;
    if (hasBackward && piece.getSweep() == 0)
      return true;
    hasBackward |= piece.getSweep() > 0;
  }
  return false;
}

void inlinePiece(PieceOp piece) {
  YieldOp yield = piece.getYield();
  piece->replaceAllUsesWith(yield->getOperands());
  yield.erase();
  Block &body = piece.getBody().front();
  piece->getBlock()->getOperations().splice(piece->getIterator(), body.getOperations());
  piece.erase();
}

/// Mover of ops beside the pieces to their first reader, together with their own operands.
class Sinker {
public:
  explicit Sinker(ProgramOp program) : block(program.getBody().front()) {
    for (Operation &op : block.without_terminator())
      if (isMemoryEffectFree(&op) && !isa<PieceOp>(op))
        beside.insert(&op);
  }

  void run() {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (!beside.contains(&op))
        bring(op, &op);
  }

private:
  void bring(Operation &reader, Operation *place) {
    llvm::SetVector<Value> read(reader.operand_begin(), reader.operand_end());
    getUsedValuesDefinedAbove(reader.getRegions(), read);
    for (Value operand : read)
      if (Operation *op = operand.getDefiningOp(); op && beside.erase(op)) {
        bring(*op, place);
        op->moveBefore(place);
      }
  }

  Block &block;
  DenseSet<Operation *> beside;
};

struct InlinePiecesPass : impl::InlinePiecesPassBase<InlinePiecesPass> {
  using Base::Base;

  void runOnOperation() override {
    for (ProgramOp program : findPrograms(getOperation()))
      if (findSchedule(program)) {
        flatten(program);
        program->removeAttr(kScheduleRefAttr);
      }
    for (ScheduleOp schedule : llvm::to_vector(getOperation().getOps<ScheduleOp>()))
      schedule.erase();
  }

private:
  void flatten(ProgramOp program) {
    SmallVector<PieceOp> pieces = getPieces(program);
    if (isInterleaved(pieces))
      program->setAttr(kOneScopeAttr, UnitAttr::get(&getContext()));
    Sinker sinker(program);
    for (PieceOp piece : pieces)
      inlinePiece(piece);
    sinker.run();
  }
};

} // namespace
} // namespace reprise::pipe
