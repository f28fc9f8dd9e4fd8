// reprise: GPT-2 with a mixture of experts in place of each feed-forward half: top-2 routing with a
// fixed capacity (GShard, Lepikhin et al. 2021) and a balance penalty (Switch, Fedus et al. 2022)
#include "Layers.h"

using namespace mlir;

namespace reprise::zoo {

static constexpr int64_t numExperts = 8, choices = 2;
static constexpr double balanceWeight = 0.01;

/// Returns the rows of an expert: 5/4 of an even share of all choices.
static int64_t expertCapacity(int64_t tokens) {
  return std::min(tokens, llvm::divideCeilSigned(5 * choices * tokens, 4 * numExperts));
}

namespace {
/// Destination of each choice of each token. Choice c of token t stands at c · tokens + t, so that
/// all first choices come before the second ones.
struct Routing {
  Value place;  ///< i32 [choices · tokens]: row among the experts' rows
  Value weight; ///< f32 [choices · tokens]: 0 if the expert was full
  Value source; ///< i32 [experts · capacity]: the token in each row; 0 in empty rows
};
} // namespace

/// Returns i32 [choices · tokens]: the number of earlier choices of the same expert.
static Value countEarlier(GraphBuilder &g, Value hot) {
  Value running = CumsumOp::create(g.b, hot.getType(), hot, 0);
  return g.binary<SubOp>(g.sum(g.mul(running, hot), {1}), g.integer(1));
}

/// Adds experts · Σ share of the first choices · mean probability.
static void addBalancePenalty(Forward &f, Value hot, Value probabilities) {
  GraphBuilder &g = f.g;
  Value first = g.slice(hot, 0, 0, sizeOf(probabilities, 0));
  Value share = g.mean(g.cast(first, g.b.getF32Type()), {0});
  Value product = g.sum(g.mul(share, g.mean(probabilities, {0})));
  f.penalties.push_back(g.mul(product, g.scalar(balanceWeight * numExperts)));
}

/// Routes x [tokens, width].
static Routing route(const Scope &s, Value x) {
  GraphBuilder &g = s.f.g;
  int64_t tokens = sizeOf(x, 0), capacity = expertCapacity(tokens), rows = numExperts * capacity;
  Type i32 = g.b.getI32Type();
  // The choice of an expert is made in full precision.
  Type contracted = std::exchange(g.contracted, Type());
  Value scores = linear(s / "router", x, {1}, {numExperts}, 0.02, /*hasBias=*/false);
  g.contracted = contracted;
  Value probabilities = g.unary<SoftmaxOp>(scores);
  auto top = TopKOp::create(g.b, RankedTensorType::get({tokens, choices}, g.b.getF32Type()),
                            RankedTensorType::get({tokens, choices}, i32), probabilities);
  auto flatten = [&](Value each) {
    return g.reshape(g.transpose(each, {1, 0}), {choices * tokens});
  };
  Value total = g.broadcast(g.sum(top.getValues(), {1}), {tokens, choices}, {0});
  Value expert = flatten(top.getIndices()),
        weight = flatten(g.binary<DivOp>(top.getValues(), total));
  Value hot =
      OneHotOp::create(g.b, RankedTensorType::get({choices * tokens, numExperts}, i32), expert);
  addBalancePenalty(s.f, hot, probabilities);
  Value slot = countEarlier(g, hot);
  Value fits = g.compare(ComparePredicate::lt, slot, g.integer(capacity));
  Value place =
      g.add(g.mul(expert, g.integer(capacity)), g.binary<MinimumOp>(slot, g.integer(capacity - 1)));
  // Choices that do not fit are sent to a row behind the last, which is cut off.
  Value target = g.select(fits, place, g.splat({choices * tokens}, rows, i32));
  Value token = g.reshape(g.iota({choices, tokens}, 1, i32), {choices * tokens});
  Value table = g.splat({rows + 1}, 0, i32);
  Value source = ScatterOp::create(g.b, table.getType(), table, target, token);
  return {place, g.select(fits, weight, g.splat({choices * tokens}, 0.0)),
          g.slice(source, 0, 0, rows)};
}

/// Runs each expert on its rows [experts, capacity, width].
static Value runExperts(const Scope &s, Value x, double residualStd) {
  GraphBuilder &g = s.f.g;
  int64_t width = sizeOf(x, 2);
  auto layer = [&](const char *name, Value x, int64_t out, double std) {
    Value weight = (s / name).normal("weight", {numExperts, sizeOf(x, 2), out}, std);
    Value bias = (s / name).fill("bias", {numExperts, 1, out}, 0.0);
    return g.add(g.batchedDot(x, weight, 1, {2}, {1}), bias);
  };
  Value up = layer("up", x, 4 * width, 0.02);
  return layer("down", g.gelu(up, GeluForm::tanh), width, residualStd);
}

static Value mixtureOfExperts(const Scope &s, Value x, double residualStd) {
  GraphBuilder &g = s.f.g;
  int64_t width = shapeOf(x).back();
  int64_t tokens = cast<RankedTensorType>(x.getType()).getNumElements() / width;
  Value flat = g.reshape(x, {tokens, width});
  Routing routing = route(s, flat);
  int64_t rows = sizeOf(routing.source, 0);
  Value sent = g.reshape(g.gather(flat, routing.source), {numExperts, rows / numExperts, width});
  Value done = g.reshape(runExperts(s, sent, residualStd), {rows, width});
  Value weight = g.broadcast(routing.weight, {choices * tokens, width}, {0});
  Value each = g.mul(g.gather(done, routing.place), weight);
  Value mixed = g.sum(g.reshape(each, {choices, tokens, width}), {0});
  return g.reshape(mixed, shapeOf(x));
}

/// Runs the mixture for each sample separately: experts have a capacity per sample, and penalties
/// are averaged.
static Value mixtureOfEach(const Scope &s, Value x, double residualStd) {
  GraphBuilder &g = s.f.g;
  ImplicitLocOpBuilder &b = g.b;
  auto penalties = RankedTensorType::get({sizeOf(x, 0)}, b.getF32Type());
  auto loop = LoopOp::create(b, sizeOf(x, 0), ValueRange(), x, TypeRange{x.getType(), penalties});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&loop.getBlock());
    Value mixed = mixtureOfExperts(s, loop.getSliceArguments().front(), residualStd);
    YieldOp::create(b, ValueRange{mixed, s.f.penalties.back()});
  }
  s.f.penalties.back() = g.mean(loop.getResult(1), {0});
  return loop.getResult(0);
}

Model buildMoe(MLIRContext &context, const Options &options) {
  ModelBuilder m(context);
  m.addText(options);
  m.model.logits = [options](Forward &f) {
    return gptLogits(f, options, [&](const Scope &s, Value x, const Attention &attention) {
      x = preNormAttention(s, x, attention);
      f.g.scope(s.name + "/experts");
      auto mixture = options.routesSamples ? mixtureOfEach : mixtureOfExperts;
      Value mixed = mixture(s, layerNorm(s / "norm2", x), attention.residualStd);
      return f.g.residual(x, f.drop(mixed));
    });
  };
  return m.model;
}

} // namespace reprise::zoo
