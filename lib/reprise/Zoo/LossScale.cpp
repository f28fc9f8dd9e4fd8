// reprise: dynamic loss scaling as ops
#include "LossScale.h"

#include <limits>

using namespace mlir;

namespace reprise::zoo {

static constexpr double firstScale = 65536.0, smallestScale = 1.0, largestScale = 16777216.0,
                        stepsToGrow = 2000.0;

std::vector<Tensor> lossScaleState(GraphBuilder &g) {
  auto type = RankedTensorType::get({}, g.b.getF32Type());
  return {{"loss_scale", type, fillInit(g.b, firstScale)},
          {"finite_steps", type, fillInit(g.b, 0.0)}};
}

void unscale(GraphBuilder &g, const Values &values, MutableArrayRef<Value> gradients) {
  // Scales are powers of two: the inverse and the product are exact.
  Value inverse = g.binary<DivOp>(g.scalar(1.0), values.lookup("loss_scale"));
  for (Value &gradient : gradients)
    gradient = g.mul(gradient, inverse);
}

Value areFinite(GraphBuilder &g, ArrayRef<Value> gradients) {
  Value all;
  for (Value gradient : gradients) {
    // A NaN wins in a maximum, and every comparison with it is false.
    Value largest = MaxOp::create(g.b, g.unary<AbsOp>(gradient), allDimsOf(gradient));
    Value finite =
        g.compare(ComparePredicate::le, largest, g.scalar(std::numeric_limits<float>::max()));
    all = all ? g.binary<AndOp>(all, finite) : finite;
  }
  return all;
}

void skipUnless(GraphBuilder &g, Value finite, const Values &values, NamedValues &next) {
  for (auto &[name, value] : next)
    value = g.select(g.broadcast(finite, shapeOf(value), {}), value, values.lookup(name));
}

void appendLossScale(GraphBuilder &g, Value finite, const Values &values, NamedValues &next) {
  Value scale = values.lookup("loss_scale"), zero = g.scalar(0.0);
  Value steps = g.add(values.lookup("finite_steps"), g.scalar(1.0));
  Value isDue = g.compare(ComparePredicate::ge, steps, g.scalar(stepsToGrow));
  Value grown = g.binary<MinimumOp>(g.mul(scale, g.scalar(2.0)), g.scalar(largestScale));
  Value shrunk = g.binary<MaximumOp>(g.mul(scale, g.scalar(0.5)), g.scalar(smallestScale));
  next.push_back({"loss_scale", g.select(finite, g.select(isDue, grown, scale), shrunk)});
  next.push_back({"finite_steps", g.select(finite, g.select(isDue, zero, steps), zero)});
}

} // namespace reprise::zoo
