// reprise: the layers that models share
#include "Layers.h"

#include <cmath>

using namespace mlir;

namespace reprise::zoo {

Value linear(const Scope &s, Value x, ArrayRef<int64_t> dims, ArrayRef<int64_t> out, double std,
             bool hasBias) {
  GraphBuilder &g = s.f.g;
  SmallVector<int64_t> shape =
      llvm::map_to_vector(dims, [&](int64_t dim) { return sizeOf(x, dim); });
  shape.append(out.begin(), out.end());
  auto leading = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
  Value product = g.dot(x, s.normal("weight", shape, std), dims, leading);
  return hasBias ? g.add(product, s.fill("bias", out, 0.0)) : product;
}

Value layerNorm(const Scope &s, Value x, double epsilon) {
  int64_t width = shapeOf(x).back();
  Value weight = s.fill("weight", {width}, 1.0), bias = s.fill("bias", {width}, 0.0);
  ImplicitLocOpBuilder &b = s.f.g.b;
  return LayerNormOp::create(b, x, weight, bias, b.getF64FloatAttr(epsilon)).getResult();
}

Value rmsNorm(const Scope &s, Value x) {
  Value weight = s.fill("weight", {shapeOf(x).back()}, 1.0);
  ImplicitLocOpBuilder &b = s.f.g.b;
  return RmsNormOp::create(b, x, weight, b.getF64FloatAttr(1e-5)).getResult();
}

Value groupNorm(const Scope &s, Value x, int64_t groups) {
  int64_t channels = sizeOf(x, 1);
  Value weight = s.fill("weight", {channels}, 1.0), bias = s.fill("bias", {channels}, 0.0);
  ImplicitLocOpBuilder &b = s.f.g.b;
  return GroupNormOp::create(b, x, weight, bias, b.getI64IntegerAttr(groups),
                             b.getF64FloatAttr(1e-5))
      .getResult();
}

Value batchNorm(const Scope &s, Value x) {
  GraphBuilder &g = s.f.g;
  int64_t channels = sizeOf(x, 1);
  Value weight = s.fill("weight", {channels}, 1.0), bias = s.fill("bias", {channels}, 0.0);
  std::string meanName = "running_mean/" + s.name, varianceName = "running_variance/" + s.name;
  FloatAttr epsilon = g.b.getF64FloatAttr(1e-5);
  if (!s.f.isTraining) {
    Value mean = s.f.state(meanName, {channels}, fillInit(g.b, 0.0));
    Value variance = s.f.state(varianceName, {channels}, fillInit(g.b, 1.0));
    return BatchNormInferenceOp::create(g.b, x, weight, bias, mean, variance, epsilon);
  }
  auto op = BatchNormOp::create(g.b, x, weight, bias, epsilon);
  // As in PyTorch, the running variance is the unbiased one.
  int64_t count = cast<RankedTensorType>(x.getType()).getNumElements() / channels;
  auto statistics =
      BatchStatisticsOp::create(g.b, op.getMean(), op.getVariance(), count, s.f.defersStatistics);
  s.f.statistics.push_back({meanName, statistics.getWholeMean()});
  s.f.statistics.push_back({varianceName, statistics.getUnbiasedVariance()});
  return op.getResult();
}

Value convolution(const Scope &s, Value image, int64_t channels, int64_t window, int64_t stride) {
  double fanOut = static_cast<double>(channels * window * window);
  Value filter =
      s.normal("weight", {channels, sizeOf(image, 1), window, window}, std::sqrt(2.0 / fanOut));
  return convolution(s.f.g, image, filter, stride, window / 2);
}

Value selfAttention(const Scope &s, Value x, const Attention &a) {
  GraphBuilder &g = s.f.g;
  int64_t width = sizeOf(x, 2), depth = width / a.heads;
  auto project = [&](const char *name, int64_t heads) {
    Value each = linear(s / name, x, {2}, {heads, depth}, a.std, a.hasBias);
    return g.transpose(each, {0, 2, 1, 3});
  };
  auto rotate = [&](Value heads) -> Value {
    return a.cosine ? RotaryOp::create(g.b, heads, a.cosine, a.sine) : heads;
  };
  int64_t keyHeads = a.keyHeads ? a.keyHeads : a.heads;
  Value query = rotate(project("query", a.heads)), key = rotate(project("key", keyHeads));
  Value value = project("value", keyHeads);
  Value mixed = attention(g, query, key, value, a.mask, a.isCausal, s.f.dropout);
  return linear(s / "projection", mixed, {1, 3}, {width}, a.residualStd, a.hasBias);
}

Value feedForward(const Scope &s, Value x, GeluForm form, double std, double residualStd) {
  int64_t width = sizeOf(x, 2);
  Value up = linear(s / "up", x, {2}, {4 * width}, std);
  return linear(s / "down", s.f.g.gelu(up, form), {2}, {width}, residualStd);
}

Value preNormAttention(const Scope &s, Value x, const Attention &a) {
  s.f.g.scope(s.name + "/attention");
  return s.f.g.residual(x, s.f.drop(selfAttention(s, layerNorm(s / "norm1", x), a)));
}

Value preNormLayer(const Scope &s, Value x, const Attention &a, GeluForm form) {
  x = preNormAttention(s, x, a);
  s.f.g.scope(s.name + "/mlp");
  Value fed = feedForward(s, layerNorm(s / "norm2", x), form, a.std, a.residualStd);
  return s.f.g.residual(x, s.f.drop(fed));
}

double residualStd(int64_t layers) { return 0.02 / std::sqrt(2.0 * static_cast<double>(layers)); }

static Value loopLayers(Forward &f, int64_t count, Value x,
                        llvm::function_ref<Value(const Scope &, Value)> body) {
  Scope scope{f, "layers"};
  f.g.scope(scope.name);
  ImplicitLocOpBuilder &b = f.g.b;
  auto loop = LoopOp::create(b, count, x, ValueRange(), x.getType());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&loop.getBlock());
  f.loopBody = &loop.getBlock();
  Value next = f.layer(scope.name, [&] { return body(scope, loop.getCarryArguments().front()); });
  YieldOp::create(b, next);
  f.loopBody = nullptr;
  return loop.getResult(0);
}

Value stackLayers(Forward &f, int64_t count, Value x,
                  llvm::function_ref<Value(const Scope &, Value)> body) {
  if (f.loopLayers)
    return loopLayers(f, count, x, body);
  for (int64_t i = 0; i < count; ++i) {
    Scope scope{f, "layer/" + std::to_string(i)};
    x = f.layer(scope.name, [&] { return body(scope, x); });
  }
  return x;
}

Value gptLogits(Forward &f, const Options &options, TransformerLayer layer) {
  GraphBuilder &g = f.g;
  Scope top{f, ""};
  g.scope("embedding");
  Value embedding = top.normal("embedding", {options.vocab, options.width}, 0.02);
  Value position = top.normal("position", {options.seq, options.width}, 0.02);
  Value x = f.drop(g.add(g.gather(embedding, f.input("tokens")), position));
  Attention attention;
  attention.heads = options.numHeads();
  attention.residualStd = residualStd(options.layers);
  attention.isCausal = true;
  x = stackLayers(f, options.layers, x,
                  [&](const Scope &s, Value x) { return layer(s, x, attention); });
  g.scope("head");
  return g.dot(layerNorm(top / "norm", x), embedding, {2}, {1});
}

} // namespace reprise::zoo
