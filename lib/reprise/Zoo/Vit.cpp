// reprise: vision transformer (Dosovitskiy et al. 2021) with the mean over patches in place of a
// class token (Beyer et al. 2022)
#include "Layers.h"

#include <cmath>

using namespace mlir;

namespace reprise::zoo {

/// Square patches as rows: [b, 3, image, image] to [b, grid², 3 · patch²].
static Value cutPatches(GraphBuilder &g, Value image, int64_t grid) {
  int64_t batch = sizeOf(image, 0), patch = sizeOf(image, 2) / grid;
  Value cut = g.reshape(image, {batch, 3, grid, patch, grid, patch});
  return g.reshape(g.transpose(cut, {0, 2, 4, 1, 3, 5}), {batch, grid * grid, 3 * patch * patch});
}

Model buildVit(MLIRContext &context, const Options &options) {
  ModelBuilder m(context);
  m.addImages(options);
  m.tokens("labels", {options.batch}, options.classes);
  m.model.logits = [options](Forward &f) {
    GraphBuilder &g = f.g;
    Scope top{f, ""};
    g.scope("patches");
    Value patches = cutPatches(g, f.input("image"), std::lround(std::sqrt(options.seq)));
    double std = 1.0 / std::sqrt(static_cast<double>(sizeOf(patches, 2)));
    Value x = linear(top / "patch", patches, {2}, {options.width}, std);
    x = f.drop(g.add(x, top.normal("position", {options.seq, options.width}, 0.02)));
    Attention attention;
    attention.heads = options.numHeads();
    attention.residualStd = residualStd(options.layers);
    x = stackLayers(f, options.layers, x, [&](const Scope &s, Value x) {
      return preNormLayer(s, x, attention, GeluForm::erf);
    });
    g.scope("head");
    Value pooled = g.mean(layerNorm(top / "norm", x), {1});
    return linear(top / "head", pooled, {1}, {options.classes}, 0.02);
  };
  return m.model;
}

} // namespace reprise::zoo
