// reprise: LLaMA (Touvron et al. 2023, with the grouped-query attention of Llama 2): RMS norm,
// rotary positions, SwiGLU, no biases
#include "Layers.h"

using namespace mlir;

namespace reprise::zoo {

/// The hidden width of SwiGLU: 8/3 of the width, rounded up to a multiple of 256.
static int64_t hiddenWidth(int64_t width) {
  return llvm::alignTo(llvm::divideCeil(8 * width, 3), 256);
}

/// Returns the number of key heads: each serves four query heads, or the largest number below four
/// that divides theirs.
static int64_t countKeyHeads(int64_t heads) {
  int64_t served = 4;
  while (heads % served != 0)
    --served;
  return heads / served;
}

/// Cosine and sine [t, depth / 2] of position · 10000^(−2i / depth) (Su et al. 2021).
static void addRotaryTables(GraphBuilder &g, int64_t tokens, int64_t depth, Attention &attention) {
  g.scope("rotary");
  Value exponent = g.binary<DivOp>(g.mul(g.iota({depth / 2}, 0), g.scalar(-2.0)), g.scalar(depth));
  Value frequency = g.binary<PowOp>(g.scalar(10000.0), exponent);
  Value angle = g.mul(g.iota({tokens, depth / 2}, 0), frequency);
  attention.cosine = g.unary<CosOp>(angle);
  attention.sine = g.unary<SinOp>(angle);
}

/// Returns down(silu(gate(x)) · up(x)).
static Value swiGlu(const Scope &s, Value x, double residualStd) {
  GraphBuilder &g = s.f.g;
  int64_t width = sizeOf(x, 2), hidden = hiddenWidth(width);
  Value gate = linear(s / "gate", x, {2}, {hidden}, 0.02, /*hasBias=*/false);
  Value up = linear(s / "up", x, {2}, {hidden}, 0.02, /*hasBias=*/false);
  return linear(s / "down", g.mul(g.unary<SiluOp>(gate), up), {2}, {width}, residualStd,
                /*hasBias=*/false);
}

static Value llamaLayer(const Scope &s, Value x, const Attention &attention) {
  GraphBuilder &g = s.f.g;
  g.scope(s.name + "/attention");
  x = g.residual(x, s.f.drop(selfAttention(s, rmsNorm(s / "norm1", x), attention)));
  g.scope(s.name + "/mlp");
  return g.residual(x, s.f.drop(swiGlu(s, rmsNorm(s / "norm2", x), attention.residualStd)));
}

Model buildLlama(MLIRContext &context, const Options &options) {
  ModelBuilder m(context);
  m.addText(options);
  m.model.logits = [options](Forward &f) {
    GraphBuilder &g = f.g;
    Scope top{f, ""};
    Attention attention;
    attention.heads = options.numHeads();
    attention.keyHeads = countKeyHeads(attention.heads);
    attention.residualStd = residualStd(options.layers);
    attention.hasBias = false;
    attention.isCausal = true;
    addRotaryTables(g, options.seq, options.width / attention.heads, attention);
    g.scope("embedding");
    Value embedding = top.normal("embedding", {options.vocab, options.width}, 0.02);
    Value x = f.drop(g.gather(embedding, f.input("tokens")));
    x = stackLayers(f, options.layers, x,
                    [&](const Scope &s, Value x) { return llamaLayer(s, x, attention); });
    g.scope("head");
    return linear(top / "head", rmsNorm(top / "norm", x), {2}, {options.vocab}, 0.02,
                  /*hasBias=*/false);
  };
  return m.model;
}

} // namespace reprise::zoo
