// reprise: factors of elementwise ops, names and random draws
#include "FactorRule.h"
#include "reprise/Dialect/Reprise/IR/OpList.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

/// All operands and results have one shape. Seed, offset and origin are no part of it.
template <typename OpT> static void findFactors(OpT op, FactorRule &rule) {
  SmallVector<int> dims = rule.addAll(rule.shapeOfResult(0));
  rule.setResult(0, dims);
  bool draws = isa<RandomOpInterface>(op.getOperation());
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (!draws || (isa<DropoutOp>(op.getOperation()) && number == 0))
      rule.setOperand(number, dims);
}

void attachElementwiseBatching(MLIRContext *context) {
  forEachOp<ElementwiseOpInterface>(
      [&](auto tag) { attachBatching<typename decltype(tag)::Op>(context); });
  attachBatching<NameOp, OffloadOp, DropoutOp, RandomUniformOp, RandomUniformIntOp, RandomNormalOp,
                 RandomBernoulliOp>(context);
}

} // namespace reprise
