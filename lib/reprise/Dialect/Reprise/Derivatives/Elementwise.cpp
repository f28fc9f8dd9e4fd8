// reprise: derivatives of the elementwise ops, names and dropout.
#include "Pullback.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

//===-- Linear --------------------------------------------------------------------------------===//

template <> void differentiate(NameOp, Pullback &p) { p.give(0, p.getRaw()); }
template <> void differentiate(OffloadOp, Pullback &p) { p.give(0, p.getRaw()); }

/// Copies the body, whose results are the cotangents of the inputs.
template <> void differentiate(CustomVjpOp op, Pullback &p) {
  IRMapping mapping;
  Block &body = op.getBody().front();
  unsigned argument = 0;
  for (OpResult result : op->getOpResults())
    if (isa<FloatType>(getElementTypeOrSelf(result.getType()))) {
      Value cotangent = p.getRaw(result.getResultNumber());
      mapping.map(body.getArgument(argument++),
                  cotangent ? cotangent : p.splat(result.getType(), 0));
    }
  for (Operation &inner : body.without_terminator())
    p.b.clone(inner, mapping);
  for (auto [i, cotangent] : llvm::enumerate(body.getTerminator()->getOperands()))
    p.give(op.getPrimals().size() + i, mapping.lookupOrDefault(cotangent));
}
template <> void differentiate(CastOp, Pullback &p) { p.give(0, p.getRaw()); }
template <> void differentiate(NegOp, Pullback &p) { p.give(0, p.neg(p.getRaw())); }

template <> void differentiate(AddOp, Pullback &p) {
  p.give(0, p.getRaw());
  p.give(1, p.getRaw());
}

template <> void differentiate(SubOp, Pullback &p) {
  p.give(0, p.getRaw());
  p.give(1, p.neg(p.getRaw()));
}

template <> void differentiate(SelectOp op, Pullback &p) {
  Value g = p.getRaw(), zero = p.like(g, 0);
  p.give(1, p.select(op.getCondition(), g, zero));
  p.give(2, p.select(op.getCondition(), zero, g));
}

/// Draws the same words again: the cotangent is dropped and scaled as the operand was.
template <> void differentiate(DropoutOp op, Pullback &p) {
  if (!p.wants(0))
    return;
  Value g = p.convert(p.getRaw(), p.getWanted(0).getElementType());
  p.give(0, DropoutOp::create(p.b, g.getType(), g, op.getSeed(), op.getOffset(), op.getOrigin(),
                              op.getRateAttr(), op.getStreamAttr(), op.getGlobalShapeAttr()));
}

//===-- Products ------------------------------------------------------------------------------===//

template <> void differentiate(MulOp op, Pullback &p) {
  Value g = p.get();
  if (p.wants(0))
    p.give(0, p.mul(g, p.widen(op.getRhs())));
  if (p.wants(1))
    p.give(1, p.mul(g, p.widen(op.getLhs())));
}

/// d(x/y) = dx/y - (dx/y)·(x/y).
template <> void differentiate(DivOp op, Pullback &p) {
  Value quotient = p.div(p.get(), p.widen(op.getRhs()));
  p.give(0, quotient);
  if (p.wants(1))
    p.give(1, p.neg(p.mul(quotient, p.widen(op.getResult()))));
}

//===-- Choices: the first operand wins ties --------------------------------------------------===//

static void chooseFirst(Pullback &p, ComparePredicate predicate, Value lhs, Value rhs) {
  Value g = p.getRaw(), zero = p.like(g, 0), first = p.compare(predicate, lhs, rhs);
  p.give(0, p.select(first, g, zero));
  p.give(1, p.select(first, zero, g));
}

template <> void differentiate(MaximumOp op, Pullback &p) {
  chooseFirst(p, ComparePredicate::ge, op.getLhs(), op.getRhs());
}
template <> void differentiate(MinimumOp op, Pullback &p) {
  chooseFirst(p, ComparePredicate::le, op.getLhs(), op.getRhs());
}

/// 0 at 0. The result tells as much as the operand and is what the next op reads, too.
template <> void differentiate(ReluOp op, Pullback &p) {
  Value g = p.getRaw(), y = op.getResult();
  p.give(0, p.select(p.compare(ComparePredicate::gt, y, p.like(y, 0)), g, p.like(g, 0)));
}

/// The sign of x, 0 at 0.
template <> void differentiate(AbsOp op, Pullback &p) {
  Value g = p.getRaw(), x = op.getOperand(), zero = p.like(x, 0);
  Value positive = p.select(p.compare(ComparePredicate::gt, x, zero), g, p.like(g, 0));
  p.give(0, p.select(p.compare(ComparePredicate::lt, x, zero), p.neg(g), positive));
}

/// 1 at the bounds, too, which are rounded as in the op.
template <> void differentiate(ClampOp op, Pullback &p) {
  Value g = p.getRaw(), x = op.getOperand();
  Value above = p.compare(ComparePredicate::ge, x, p.like(x, op.getLow()));
  Value below = p.compare(ComparePredicate::le, x, p.like(x, op.getHigh()));
  p.give(0, p.select(AndOp::create(p.b, above, below), g, p.like(g, 0)));
}

//===-- Elementary functions ------------------------------------------------------------------===//

template <> void differentiate(ExpOp op, Pullback &p) {
  p.give(0, p.mul(p.get(), p.widen(op.getResult())));
}

template <> void differentiate(LogOp op, Pullback &p) {
  p.give(0, p.div(p.get(), p.widen(op.getOperand())));
}

template <> void differentiate(SqrtOp op, Pullback &p) {
  p.give(0, p.div(p.scale(p.get(), 0.5), p.widen(op.getResult())));
}

/// y' = -y³/2.
template <> void differentiate(RsqrtOp op, Pullback &p) {
  Value y = p.widen(op.getResult());
  p.give(0, p.mul(p.scale(p.get(), -0.5), p.mul(p.mul(y, y), y)));
}

template <> void differentiate(SinOp op, Pullback &p) {
  Value x = p.widen(op.getOperand());
  p.give(0, p.mul(p.get(), CosOp::create(p.b, x.getType(), x)));
}

template <> void differentiate(CosOp op, Pullback &p) {
  Value x = p.widen(op.getOperand());
  p.give(0, p.neg(p.mul(p.get(), SinOp::create(p.b, x.getType(), x))));
}

/// dx = y·x^(y-1), dy = x^y·log x; 0 for the first where y = 0, for the second where x = 0 and
/// y >= 0. What would be infinite there is kept from being computed, so that no further derivative
/// meets 0·inf.
template <> void differentiate(PowOp op, Pullback &p) {
  Value g = p.get(), x = p.widen(op.getLhs()), y = p.widen(op.getRhs());
  Value zero = p.like(x, 0), one = p.like(x, 1);
  if (p.wants(0)) {
    // For some subnormal x, 1/x is infinite as well.
    double least = tensorTypeOf(x).getElementType().isF64() ? 0x1p-1022 : 0x1p-126;
    Value tiny =
        p.compare(ComparePredicate::lt, AbsOp::create(p.b, x.getType(), x), p.like(x, least));
    Value guarded = AndOp::create(p.b, tiny, p.compare(ComparePredicate::eq, y, zero));
    Value power = PowOp::create(p.b, p.select(guarded, one, x), p.sub(y, one));
    p.give(0, p.mul(g, p.mul(y, power)));
  }
  if (p.wants(1)) {
    Value guarded = AndOp::create(p.b, p.compare(ComparePredicate::eq, x, zero),
                                  p.compare(ComparePredicate::ge, y, zero));
    Value safe = p.select(guarded, one, x);
    Value logarithm = LogOp::create(p.b, x.getType(), safe);
    p.give(1, p.mul(g, p.mul(PowOp::create(p.b, safe, y), logarithm)));
  }
}

/// y' = 1 - y².
template <> void differentiate(TanhOp op, Pullback &p) {
  Value y = p.widen(op.getResult());
  p.give(0, p.mul(p.get(), p.sub(p.like(y, 1), p.mul(y, y))));
}

/// y' = 2/√π · exp(-x²).
template <> void differentiate(ErfOp op, Pullback &p) {
  Value x = p.widen(op.getOperand());
  Value bell = p.exp(p.neg(p.mul(x, x)));
  p.give(0, p.mul(p.get(), p.scale(bell, 2 * llvm::numbers::inv_sqrtpi)));
}

/// y' = y·(1 - y).
template <> void differentiate(SigmoidOp op, Pullback &p) {
  Value y = p.widen(op.getResult());
  p.give(0, p.mul(p.get(), p.mul(y, p.sub(p.like(y, 1), y))));
}

/// y' = s·(1 + x·(1 - s)) with s = sigmoid(x).
template <> void differentiate(SiluOp op, Pullback &p) {
  Value x = p.widen(op.getOperand()), one = p.like(x, 1);
  Value s = SigmoidOp::create(p.b, x.getType(), x);
  Value slope = p.mul(s, p.add(one, p.mul(x, p.sub(one, s))));
  p.give(0, p.mul(p.get(), slope));
}

/// Returns y' = Φ(x) + x·φ(x): Φ(x) = (1 + erf(x/√2))/2, φ(x) = exp(-x²/2)/√(2π).
static Value geluSlope(Pullback &p, Value x) {
  Value error = ErfOp::create(p.b, x.getType(), p.scale(x, 1 / llvm::numbers::sqrt2));
  Value cumulative = p.scale(p.add(p.like(x, 1), error), 0.5);
  Value bell = p.exp(p.mul(p.scale(x, -0.5), x));
  double norm = llvm::numbers::inv_sqrtpi / llvm::numbers::sqrt2;
  return p.add(cumulative, p.mul(x, p.scale(bell, norm)));
}

/// Returns y' = (1 + t)/2 + x/2·(1 - t²)·u' with u = c·(x + a·x³), t = tanh(u), u' = c·(1 + 3a·x²).
static Value geluTanhSlope(Pullback &p, Value x) {
  const double a = 0.044715, c = llvm::numbers::sqrt2 * llvm::numbers::inv_sqrtpi;
  Value square = p.mul(x, x), one = p.like(x, 1);
  Value u = p.scale(p.add(x, p.scale(p.mul(square, x), a)), c);
  Value t = TanhOp::create(p.b, x.getType(), u);
  Value inner = p.scale(p.add(one, p.scale(square, 3 * a)), c);
  Value bend = p.mul(p.mul(p.scale(x, 0.5), p.sub(one, p.mul(t, t))), inner);
  return p.add(p.scale(p.add(one, t), 0.5), bend);
}

template <> void differentiate(GeluOp op, Pullback &p) {
  Value x = p.widen(op.getOperand());
  Value slope = op.getForm() == GeluForm::erf ? geluSlope(p, x) : geluTanhSlope(p, x);
  p.give(0, p.mul(p.get(), slope));
}

} // namespace reprise
