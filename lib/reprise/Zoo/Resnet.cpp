// reprise: residual networks (He et al. 2016) of basic blocks and of bottlenecks, the stride of a
// bottleneck in its 3×3 convolution
#include "Layers.h"

using namespace mlir;

namespace reprise::zoo {

static Value convNorm(const Scope &s, Value x, int64_t channels, int64_t window, int64_t stride) {
  return batchNorm(s / "norm", convolution(s, x, channels, window, stride));
}

/// Returns x, or a pointwise projection of x if shapes differ.
static Value shortcut(const Scope &s, Value x, int64_t channels, int64_t stride) {
  if (stride == 1 && sizeOf(x, 1) == channels)
    return x;
  return convNorm(s / "shortcut", x, channels, 1, stride);
}

static Value basicBlock(const Scope &s, Value x, int64_t channels, int64_t stride) {
  GraphBuilder &g = s.f.g;
  Value inner = g.unary<ReluOp>(convNorm(s / "conv1", x, channels, 3, stride));
  inner = convNorm(s / "conv2", inner, channels, 3, 1);
  return g.round(g.unary<ReluOp>(g.add(inner, shortcut(s, x, channels, stride))));
}

static Value bottleneck(const Scope &s, Value x, int64_t channels, int64_t stride) {
  GraphBuilder &g = s.f.g;
  Value inner = g.unary<ReluOp>(convNorm(s / "conv1", x, channels, 1, 1));
  inner = g.unary<ReluOp>(convNorm(s / "conv2", inner, channels, 3, stride));
  inner = convNorm(s / "conv3", inner, 4 * channels, 1, 1);
  return g.round(g.unary<ReluOp>(g.add(inner, shortcut(s, x, 4 * channels, stride))));
}

namespace {
struct Architecture {
  int64_t blocks[4];
  Value (*block)(const Scope &, Value, int64_t channels, int64_t stride);
};
} // namespace

static Value resnetLogits(Forward &f, const Architecture &architecture, const Options &options) {
  GraphBuilder &g = f.g;
  g.scope("stem");
  Value x = g.round(g.unary<ReluOp>(convNorm({f, "stem"}, f.input("image"), options.width, 7, 2)));
  x = maxPool(g, x, 3, 2, 1);
  for (int64_t stage = 0; stage < 4; ++stage)
    for (int64_t i = 0; i < architecture.blocks[stage]; ++i) {
      Scope s{f, "stage/" + std::to_string(stage) + "/" + std::to_string(i)};
      int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      x = f.layer(s.name, [&] { return architecture.block(s, x, options.width << stage, stride); });
    }
  g.scope("head");
  return linear({f, "head"}, g.mean(x, {2, 3}), {1}, {options.classes}, 0.01);
}

static Model buildResnet(MLIRContext &context, const Options &options,
                         const Architecture &architecture) {
  ModelBuilder m(context);
  m.addImages(options);
  m.tokens("labels", {options.batch}, options.classes);
  m.model.logits = [=](Forward &f) { return resnetLogits(f, architecture, options); };
  return m.model;
}

Model buildResnet18(MLIRContext &context, const Options &options) {
  return buildResnet(context, options, {{2, 2, 2, 2}, basicBlock});
}

Model buildResnet50(MLIRContext &context, const Options &options) {
  return buildResnet(context, options, {{3, 4, 6, 3}, bottleneck});
}

} // namespace reprise::zoo
