// reprise: U-Net (Ronneberger et al. 2015): an encoder and a decoder with long skips, here padded
// and with group norm; one class per pixel
#include "Layers.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace reprise::zoo {

/// Applies two 3×3 convolutions, each with norm and relu.
static Value doubleConvolution(const Scope &s, Value x, int64_t channels) {
  int64_t groups = std::gcd<int64_t>(channels, 8);
  for (const char *part : {"conv1", "conv2"})
    x = s.f.g.unary<ReluOp>(
        groupNorm(s / part / "norm", convolution(s / part, x, channels, 3), groups));
  return x;
}

/// Twice the size, half the channels.
static Value upsample(const Scope &s, Value x) {
  GraphBuilder &g = s.f.g;
  int64_t channels = sizeOf(x, 1), half = channels / 2;
  double std = std::sqrt(1.0 / static_cast<double>(channels));
  Value image = upsample(g, x, s.normal("weight", {channels, half, 2, 2}, std));
  return g.add(image, g.reshape(s.fill("bias", {half}, 0.0), {half, 1, 1}));
}

static Value unetLogits(Forward &f, const Options &options) {
  GraphBuilder &g = f.g;
  Value x = f.input("image");
  SmallVector<Value> skips;
  auto level = [&](const Twine &name, function_ref<Value(const Scope &)> body) {
    Scope s{f, name.str()};
    x = f.layer(s.name, [&] { return body(s); });
  };
  for (int64_t i = 0; i < options.layers; ++i) {
    level("down/" + Twine(i), [&](const Scope &s) {
      return doubleConvolution(s, i ? maxPool(g, x, 2, 2, 0) : x, options.width << i);
    });
    skips.push_back(x);
  }
  level("bottom", [&](const Scope &s) {
    return f.drop(doubleConvolution(s, maxPool(g, x, 2, 2, 0), options.width << options.layers));
  });
  for (int64_t i = options.layers; i-- > 0;)
    level("up/" + Twine(i), [&](const Scope &s) {
      Value joined =
          ConcatenateOp::create(g.b, ValueRange{skips[i], upsample(s / "upsample", x)}, 1);
      return doubleConvolution(s, joined, options.width << i);
    });
  g.scope("head");
  return linear({f, "head"}, x, {1}, {options.classes}, 0.1);
}

Model buildUnet(MLIRContext &context, const Options &options) {
  ModelBuilder m(context);
  m.addImages(options);
  m.tokens("labels", {options.batch, options.image, options.image}, options.classes);
  m.model.logits = [options](Forward &f) { return unetLogits(f, options); };
  return m.model;
}

} // namespace reprise::zoo
