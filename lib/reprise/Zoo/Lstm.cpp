// reprise: a language model of LSTM layers (Hochreiter and Schmidhuber 1997), gates in PyTorch's
// order: input, forget, cell, output
#include "Layers.h"

#include <cmath>

using namespace mlir;

namespace reprise::zoo {

namespace {
/// Values that a step passes to the next: both [batch, width].
struct Carry {
  Value hidden, cell;
};
} // namespace

/// Runs one step from the gates' input part [batch, 4 · width].
static Carry step(GraphBuilder &g, const Carry &carry, Value input, Value weight) {
  int64_t width = sizeOf(carry.hidden, 1);
  Value gates = g.add(input, g.dot(carry.hidden, weight, {1}, {0}));
  auto gate = [&](int64_t i) { return g.slice(gates, 1, i * width, (i + 1) * width); };
  Value kept = g.mul(g.unary<SigmoidOp>(gate(1)), carry.cell);
  Value fresh = g.mul(g.unary<SigmoidOp>(gate(0)), g.unary<TanhOp>(gate(2)));
  Value cell = g.add(kept, fresh);
  return {g.mul(g.unary<SigmoidOp>(gate(3)), g.unary<TanhOp>(cell)), cell};
}

/// A layer over all steps of x [tokens, batch, width]; the inputs of all gates are one product.
static Value lstmLayer(const Scope &s, Value x) {
  GraphBuilder &g = s.f.g;
  int64_t tokens = sizeOf(x, 0), batch = sizeOf(x, 1), width = sizeOf(x, 2);
  double std = 1.0 / std::sqrt(static_cast<double>(width));
  Value inputs = linear(s / "input", x, {2}, {4 * width}, std);
  Value weight = s.normal("hidden/weight", {width, 4 * width}, std);
  Value zeros = g.splat({batch, width}, 0.0);
  Type types[] = {zeros.getType(), zeros.getType(), x.getType()};
  auto loop = LoopOp::create(g.b, tokens, ValueRange{zeros, zeros}, inputs, types);
  OpBuilder::InsertionGuard guard(g.b);
  g.b.setInsertionPointToEnd(&loop.getBlock());
  auto arguments = loop.getBlock().getArguments();
  Carry next = step(g, {arguments[0], arguments[1]}, arguments[2], weight);
  YieldOp::create(g.b, ValueRange{next.hidden, next.cell, next.hidden});
  return loop.getStacks().front();
}

Model buildLstm(MLIRContext &context, const Options &options) {
  ModelBuilder m(context);
  m.addText(options);
  m.model.logits = [options](Forward &f) {
    GraphBuilder &g = f.g;
    Scope top{f, ""};
    g.scope("embedding");
    Value embedding = top.normal("embedding", {options.vocab, options.width}, 1.0);
    Value x = f.drop(g.gather(embedding, g.transpose(f.input("tokens"), {1, 0})));
    x = stackLayers(f, options.layers, x,
                    [&](const Scope &s, Value x) { return f.drop(lstmLayer(s, x)); });
    g.scope("head");
    double std = 1.0 / std::sqrt(static_cast<double>(options.width));
    return linear(top / "head", g.transpose(x, {1, 0, 2}), {2}, {options.vocab}, std);
  };
  return m.model;
}

} // namespace reprise::zoo
