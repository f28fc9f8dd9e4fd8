// reprise: delays a large gradient without early readers.
#include "reprise/Dialect/Reprise/Transforms/DeferGradient.h"

#include "Plan.h"
#include "reprise/Dialect/Reprise/Transforms/Passes.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_DEFERGRADIENTPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

/// Returns, per op, the position of the last cotangent that it may wait for, within its own scope:
/// a cotangent between the forward ops of another scope would split that scope.
static DenseMap<Operation *, size_t> findEnds(ProgramOp step,
                                              const DenseMap<Operation *, size_t> &positions) {
  DenseMap<Operation *, size_t> ends;
  for (const Scope &scope : findScopes(step)) {
    // We skip scopes of loops; a scope whose bodies have nothing to plan is empty.
    if (scope.empty() || !positions.contains(scope.front()))
      continue;
    size_t end = 0;
    for (Operation *op : scope)
      end = isCotangent(op) ? positions.at(op) : end;
    for (Operation *op : scope)
      ends[op] = end;
  }
  return ends;
}

int64_t deferGradient(ProgramOp step) {
  static constexpr size_t part = 4;
  Block &block = step.getBody().front();
  SmallVector<Operation *> ops;
  DenseMap<Operation *, size_t> positions;
  for (Operation &op : block) {
    positions[&op] = ops.size();
    ops.push_back(&op);
  }
  DenseMap<Operation *, size_t> ends = findEnds(step, positions);
  auto findPlace = [&](Operation *op) {
    size_t position = positions[op];
    return position + (std::max(ends.lookup(op), position) - position) / part;
  };
  Operation *largest = nullptr;
  int64_t most = 0;
  for (Operation *op : ops) {
    if (!isCotangent(op) || op->getNumResults() != 1)
      continue;
    size_t behind = findPlace(op);
    bool canWait = behind > positions[op] && llvm::all_of(op->getUsers(), [&](Operation *user) {
                     return positions.lookup(block.findAncestorOpInBlock(*user)) > behind;
                   });
    int64_t bytes = canWait ? getByteSize(op->getResult(0).getType()) : 0;
    if (bytes > most) {
      largest = op;
      most = bytes;
    }
  }
  if (largest)
    largest->moveAfter(ops[findPlace(largest)]);
  return most;
}

namespace {

struct DeferGradientPass : impl::DeferGradientPassBase<DeferGradientPass> {
  using Base::Base;

  void runOnOperation() override { deferGradient(getOperation()); }
};

} // namespace
} // namespace reprise
