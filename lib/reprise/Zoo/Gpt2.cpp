// reprise: GPT-2 (Radford et al. 2019): pre-norm transformer, learned positions, tied embedding
#include "Layers.h"

using namespace mlir;

namespace reprise::zoo {

Model buildGpt2(MLIRContext &context, const Options &options) {
  ModelBuilder m(context);
  m.addText(options);
  m.model.logits = [options](Forward &f) {
    return gptLogits(f, options, [](const Scope &s, Value x, const Attention &attention) {
      return preNormLayer(s, x, attention, GeluForm::tanh);
    });
  };
  return m.model;
}

} // namespace reprise::zoo
