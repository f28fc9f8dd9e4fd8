// reprise: moves a large gradient that nothing reads for long behind others.
#include "reprise/Dialect/Reprise/Transforms/DeferGradient.h"

#include "Plan.h"
#include "reprise/Dialect/Reprise/Transforms/Passes.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_DEFERGRADIENTPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

int64_t deferGradient(func::FuncOp step) {
  static constexpr size_t part = 4;
  Block &block = step.getBody().front();
  SmallVector<Operation *> ops;
  DenseMap<Operation *, size_t> positions;
  size_t last = 0;
  for (Operation &op : block) {
    last = isCotangent(&op) ? ops.size() : last;
    positions[&op] = ops.size();
    ops.push_back(&op);
  }
  Operation *largest = nullptr;
  int64_t most = 0;
  for (Operation *op : ops) {
    size_t position = positions[op];
    if (!isCotangent(op) || op->getNumResults() != 1 || position >= last)
      continue;
    size_t behind = position + (last - position) / part;
    bool canWait = behind > position && llvm::all_of(op->getUsers(), [&](Operation *user) {
                     return positions.lookup(block.findAncestorOpInBlock(*user)) > behind;
                   });
    int64_t bytes = canWait ? getByteSize(op->getResult(0).getType()) : 0;
    if (bytes > most) {
      largest = op;
      most = bytes;
    }
  }
  if (largest)
    largest->moveAfter(ops[positions[largest] + (last - positions[largest]) / part]);
  return most;
}

namespace {

struct DeferGradientPass : impl::DeferGradientPassBase<DeferGradientPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!getOperation().isExternal())
      deferGradient(getOperation());
  }
};

} // namespace
} // namespace reprise
