// reprise: a multi-layer perceptron with relu and dropout
#include "Model.h"

#include <cmath>

using namespace mlir;

namespace reprise::zoo {

Model buildMlp(MLIRContext &context, const Options &options) {
  int64_t width = options.width;
  ModelBuilder m(context);
  m.input("x", {options.batch, width});
  m.tokens("labels", {options.batch}, options.classes);
  double std = std::sqrt(2.0 / static_cast<double>(width));
  for (int64_t i = 0; i < options.layers; ++i) {
    m.normal("layer/" + Twine(i) + "/weight", {width, width}, std);
    m.fill("layer/" + Twine(i) + "/bias", {width}, 0.0);
  }
  m.normal("head/weight", {width, options.classes}, std::sqrt(1.0 / static_cast<double>(width)));
  m.fill("head/bias", {options.classes}, 0.0);
  m.model.logits = [options](GraphBuilder &g, const Values &v, double dropout) {
    Value x = v.lookup("x");
    for (int64_t i = 0; i < options.layers; ++i) {
      std::string layer = "layer/" + std::to_string(i);
      g.scope(layer);
      x = g.layer(options.checkpointLayers, x.getType(), [&] {
        Value linear = g.dot(x, v.lookup(layer + "/weight"), {1}, {0});
        return g.dropout(g.relu(g.add(linear, v.lookup(layer + "/bias"))), dropout);
      });
    }
    g.scope("head");
    return g.add(g.dot(x, v.lookup("head/weight"), {1}, {0}), v.lookup("head/bias"));
  };
  return m.model;
}

} // namespace reprise::zoo
