// reprise: factors of elementwise ops, names and random draws
#include "FactorRule.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

/// Finds factors of ops whose operands and results have one shape. Seed, offset and origin are not
/// part of it.
template <typename OpT> static void findFactors(OpT op, FactorRule &rule) {
  SmallVector<int> dims = rule.addAll(rule.shapeOfResult(0));
  rule.setResult(0, dims);
  bool draws = isa<RandomOpInterface>(op.getOperation());
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (!draws || (isa<DropoutOp>(op.getOperation()) && number == 0))
      rule.setOperand(number, dims);
}

void attachElementwiseBatching(MLIRContext *context) {
  attachBatching<NegOp, AbsOp, ExpOp, LogOp, SqrtOp, RsqrtOp, TanhOp, ErfOp, SigmoidOp, SiluOp,
                 SinOp, CosOp, FloorOp, NotOp, ReluOp, ClampOp, GeluOp, AddOp, SubOp, MulOp, DivOp,
                 RemOp, MaximumOp, MinimumOp, PowOp, AndOp, OrOp, XorOp, CompareOp, SelectOp,
                 CastOp, ShiftLeftOp, ShiftRightOp, BitcastOp, NameOp, OffloadOp>(context);
  attachBatching<DropoutOp, RandomUniformOp, RandomUniformIntOp, RandomNormalOp, RandomBernoulliOp>(
      context);
}

} // namespace reprise
