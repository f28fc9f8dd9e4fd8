// reprise: emits loops and branches
#include "reprise/Conversion/ControlFlow.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace reprise {

Carried forLoop(KernelBuilder &k, Value lo, Value hi, Value step, ValueRange carried,
                LoopBody body) {
  lo = k.narrow(lo), hi = k.narrow(hi), step = k.narrow(step);
  auto loop = scf::ForOp::create(k.b, lo, hi, step, carried);
  OpBuilder::InsertionGuard guard(k.b);
  k.b.setInsertionPointToStart(loop.getBody());
  Carried next = body(k.widen(loop.getInductionVar()), loop.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(k.b, next);
  return Carried(loop.getResults());
}

void forLoop(KernelBuilder &k, Value lo, Value hi, Value step,
             llvm::function_ref<void(Value)> body) {
  forLoop(k, lo, hi, step, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return Carried();
  });
}

Carried where(ImplicitLocOpBuilder &b, Value condition, ValueRange otherwise,
              llvm::function_ref<Carried()> body) {
  auto branch = scf::IfOp::create(b, otherwise.getTypes(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, body());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, otherwise);
  return branch.getResults();
}

void ifThen(ImplicitLocOpBuilder &b, Value condition, llvm::function_ref<void()> body,
            llvm::function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(b, condition, static_cast<bool>(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
  if (!otherwise)
    return;
  b.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

} // namespace reprise
