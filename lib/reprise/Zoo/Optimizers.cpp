// reprise: parameter updates as ops: SGD, momentum (as PyTorch writes it), AdamW (Loshchilov and
// Hutter 2019, alg. 2)
#include "Optimizers.h"

using namespace mlir;

namespace reprise::zoo {

static constexpr double momentum = 0.9, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8,
                        weightDecay = 0.01;

double defaultRate(Optimizer optimizer) {
  switch (optimizer) {
  case Optimizer::Sgd:
    return 0.1;
  case Optimizer::Momentum:
    return 0.01;
  case Optimizer::AdamW:
    return 0.001;
  }
  return 0.0;
}

std::vector<Tensor> optimizerState(GraphBuilder &g, Optimizer optimizer,
                                   const std::vector<Tensor> &parameters) {
  std::vector<Tensor> state;
  if (optimizer == Optimizer::Momentum)
    for (const Tensor &parameter : parameters)
      state.push_back({"momentum/" + parameter.name, parameter.type, fillInit(g.b, 0.0)});
  if (optimizer == Optimizer::AdamW) {
    auto scalar = RankedTensorType::get({}, g.b.getF32Type());
    state.push_back({"beta1_power", scalar, fillInit(g.b, 1.0)});
    state.push_back({"beta2_power", scalar, fillInit(g.b, 1.0)});
    for (const Tensor &parameter : parameters) {
      state.push_back({"mean/" + parameter.name, parameter.type, fillInit(g.b, 0.0)});
      state.push_back({"variance/" + parameter.name, parameter.type, fillInit(g.b, 0.0)});
    }
  }
  return state;
}

Value clipNorm(GraphBuilder &g, MutableArrayRef<Value> gradients, double largest) {
  Value squares;
  for (Value gradient : gradients) {
    Value own = g.sum(g.mul(gradient, gradient));
    squares = squares ? g.add(squares, own) : own;
  }
  Value norm = g.unary<SqrtOp>(squares);
  Value share = g.binary<DivOp>(g.scalar(largest), g.add(norm, g.scalar(1e-6)));
  Value factor = g.binary<MinimumOp>(share, g.scalar(1.0));
  for (Value &gradient : gradients)
    gradient = g.mul(gradient, factor);
  return norm;
}

namespace {
/// Common values of the AdamW updates of one step.
struct AdamW {
  GraphBuilder &g;
  Value rate, power1, power2;
  Value decay = g.binary<SubOp>(g.scalar(1.0), g.mul(rate, g.scalar(weightDecay)));
  Value correction1 = g.binary<SubOp>(g.scalar(1.0), power1),
        correction2 = g.binary<SubOp>(g.scalar(1.0), power2);

  /// Returns b·old + (1 − b)·fresh.
  Value average(double b, Value old, Value fresh) const {
    return g.add(g.mul(old, g.scalar(b)), g.mul(fresh, g.scalar(1.0 - b)));
  }

  Value update(Value parameter, Value mean, Value variance) const {
    Value step = g.binary<DivOp>(
        g.binary<DivOp>(mean, correction1),
        g.add(g.unary<SqrtOp>(g.binary<DivOp>(variance, correction2)), g.scalar(epsilon)));
    return g.binary<SubOp>(g.mul(parameter, decay), g.mul(step, rate));
  }
};
} // namespace

static void appendAdamW(GraphBuilder &g, const std::vector<Tensor> &parameters,
                        const Values &values, ArrayRef<Value> gradients, NamedValues &results) {
  AdamW adam{g, values.lookup("learning_rate"),
             g.mul(values.lookup("beta1_power"), g.scalar(beta1)),
             g.mul(values.lookup("beta2_power"), g.scalar(beta2))};
  results.push_back({"beta1_power", adam.power1});
  results.push_back({"beta2_power", adam.power2});
  for (auto [parameter, gradient] : llvm::zip(parameters, gradients)) {
    const std::string &name = parameter.name;
    Value mean = adam.average(beta1, values.lookup("mean/" + name), gradient);
    Value variance =
        adam.average(beta2, values.lookup("variance/" + name), g.mul(gradient, gradient));
    results.push_back({name, adam.update(values.lookup(name), mean, variance)});
    results.push_back({"mean/" + name, mean});
    results.push_back({"variance/" + name, variance});
  }
}

void appendUpdates(GraphBuilder &g, Optimizer optimizer, const std::vector<Tensor> &parameters,
                   const Values &values, ArrayRef<Value> gradients, NamedValues &results) {
  if (optimizer == Optimizer::AdamW)
    return appendAdamW(g, parameters, values, gradients, results);
  Value rate = values.lookup("learning_rate");
  for (auto [parameter, gradient] : llvm::zip(parameters, gradients)) {
    Value step = gradient;
    if (optimizer == Optimizer::Momentum) {
      step =
          g.add(g.mul(values.lookup("momentum/" + parameter.name), g.scalar(momentum)), gradient);
      results.push_back({"momentum/" + parameter.name, step});
    }
    results.push_back(
        {parameter.name, g.binary<SubOp>(values.lookup(parameter.name), g.mul(step, rate))});
  }
}

} // namespace reprise::zoo
