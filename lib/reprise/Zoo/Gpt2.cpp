// reprise: GPT-2 (Radford et al. 2019): pre-norm transformer, learned positions, tied embedding
#include "Model.h"

#include <cmath>

using namespace mlir;

namespace reprise::zoo {

static void addLayerParameters(ModelBuilder &m, const std::string &layer, const Options &options) {
  int64_t width = options.width, heads = options.numHeads(), size = width / heads;
  // Projections onto the residual stream start smaller by the square root of their number
  // (section 2.3).
  double residual = 0.02 / std::sqrt(2.0 * static_cast<double>(options.layers));
  m.fill(layer + "/norm1/weight", {width}, 1.0);
  m.fill(layer + "/norm1/bias", {width}, 0.0);
  for (const char *projection : {"query", "key", "value"}) {
    m.normal(layer + "/" + projection + "/weight", {width, heads, size}, 0.02);
    m.fill(layer + "/" + projection + "/bias", {heads, size}, 0.0);
  }
  m.normal(layer + "/projection/weight", {heads, size, width}, residual);
  m.fill(layer + "/projection/bias", {width}, 0.0);
  m.fill(layer + "/norm2/weight", {width}, 1.0);
  m.fill(layer + "/norm2/bias", {width}, 0.0);
  m.normal(layer + "/up/weight", {width, 4 * width}, 0.02);
  m.fill(layer + "/up/bias", {4 * width}, 0.0);
  m.normal(layer + "/down/weight", {4 * width, width}, residual);
  m.fill(layer + "/down/bias", {width}, 0.0);
}

namespace {
/// One layer's forward pass.
struct Layer {
  GraphBuilder &g;
  const Values &values;
  std::string name;
  double dropout;

  Value parameter(const char *suffix) const { return values.lookup(name + "/" + suffix); }

  Value head(Value x, const std::string &projection) const {
    Value linear = g.dot(x, values.lookup(name + "/" + projection + "/weight"), {2}, {0});
    Value biased = g.add(linear, values.lookup(name + "/" + projection + "/bias"));
    return g.transpose(biased, {0, 2, 1, 3});
  }

  Value attention(Value x) const {
    g.scope(name + "/attention");
    Value normal = g.layerNorm(x, parameter("norm1/weight"), parameter("norm1/bias"));
    Value mixed =
        g.attention(head(normal, "query"), head(normal, "key"), head(normal, "value"), dropout);
    Value projected = g.add(g.dot(mixed, parameter("projection/weight"), {1, 3}, {0, 1}),
                            parameter("projection/bias"));
    return g.add(x, g.dropout(projected, dropout));
  }

  Value mlp(Value x) const {
    g.scope(name + "/mlp");
    Value normal = g.layerNorm(x, parameter("norm2/weight"), parameter("norm2/bias"));
    Value up = g.add(g.dot(normal, parameter("up/weight"), {2}, {0}), parameter("up/bias"));
    Value down = g.add(g.dot(g.gelu(up, GeluForm::tanh), parameter("down/weight"), {2}, {0}),
                       parameter("down/bias"));
    return g.add(x, g.dropout(down, dropout));
  }
};
} // namespace

static Value logits(GraphBuilder &g, const Values &v, const Options &options, double dropout) {
  g.scope("embedding");
  Value x = g.dropout(
      g.add(g.gather(v.lookup("embedding"), v.lookup("tokens")), v.lookup("position")), dropout);
  for (int64_t i = 0; i < options.layers; ++i) {
    Layer layer{g, v, "layer/" + std::to_string(i), dropout};
    g.scope(layer.name);
    x = g.layer(options.checkpointLayers, x.getType(),
                [&] { return layer.mlp(layer.attention(x)); });
  }
  g.scope("head");
  Value normal = g.layerNorm(x, v.lookup("norm/weight"), v.lookup("norm/bias"));
  return g.dot(normal, v.lookup("embedding"), {2}, {1});
}

Model buildGpt2(MLIRContext &context, const Options &options) {
  ModelBuilder m(context);
  m.tokens("tokens", {options.batch, options.seq}, options.vocab);
  m.tokens("labels", {options.batch, options.seq}, options.vocab);
  m.normal("embedding", {options.vocab, options.width}, 0.02);
  m.normal("position", {options.seq, options.width}, 0.02);
  for (int64_t i = 0; i < options.layers; ++i)
    addLayerParameters(m, "layer/" + std::to_string(i), options);
  m.fill("norm/weight", {options.width}, 1.0);
  m.fill("norm/bias", {options.width}, 0.0);
  m.model.logits = [options](GraphBuilder &g, const Values &v, double dropout) {
    return logits(g, v, options, dropout);
  };
  return m.model;
}

} // namespace reprise::zoo
