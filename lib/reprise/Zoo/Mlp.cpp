// reprise: a multi-layer perceptron with relu and dropout
#include "Layers.h"

#include <cmath>

using namespace mlir;

namespace reprise::zoo {

Model buildMlp(MLIRContext &context, const Options &options) {
  ModelBuilder m(context);
  m.input("x", {options.batch, options.width});
  m.tokens("labels", {options.batch}, options.classes);
  m.model.logits = [options](Forward &f) {
    double fanIn = static_cast<double>(options.width);
    Value x = stackLayers(f, options.layers, f.input("x"), [&](const Scope &s, Value x) {
      return f.drop(f.g.unary<ReluOp>(linear(s, x, {1}, {options.width}, std::sqrt(2.0 / fanIn))));
    });
    f.g.scope("head");
    return linear({f, "head"}, x, {1}, {options.classes}, std::sqrt(1.0 / fanIn));
  };
  return m.model;
}

} // namespace reprise::zoo
