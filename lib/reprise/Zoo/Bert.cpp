// reprise: BERT (Devlin et al. 2019): post-norm encoder, padding mask, masked-token loss
#include "Layers.h"

using namespace mlir;

namespace reprise::zoo {

static constexpr double epsilon = 1e-12;

/// 1 at tokens below the length of their sample: [batch, 1, 1, tokens].
static Value paddingMask(Forward &f, const Options &options) {
  Value lengths = f.g.reshape(f.input("lengths"), {options.batch, 1, 1, 1});
  Value positions = f.g.iota({1, 1, 1, options.seq}, 3, f.g.b.getI32Type());
  return f.g.compare(ComparePredicate::lt, positions, lengths);
}

static Value embed(Forward &f, const Options &options) {
  GraphBuilder &g = f.g;
  Scope top{f, ""};
  Value embedding = top.normal("embedding", {options.vocab, options.width}, 0.02);
  Value position = top.normal("position", {options.seq, options.width}, 0.02);
  Value segment = top.normal("segment", {2, options.width}, 0.02);
  Value x = g.add(g.add(g.gather(embedding, f.input("tokens")), position),
                  g.gather(segment, f.input("segments")));
  return f.drop(layerNorm(top / "embedding_norm", x, epsilon));
}

static Value encoderLayer(const Scope &s, Value x, const Attention &attention) {
  GraphBuilder &g = s.f.g;
  g.scope(s.name + "/attention");
  Value mixed = s.f.drop(selfAttention(s, x, attention));
  x = layerNorm(s / "norm1", g.add(x, mixed), epsilon);
  g.scope(s.name + "/mlp");
  Value fed = s.f.drop(feedForward(s, x, GeluForm::erf, 0.02, 0.02));
  return layerNorm(s / "norm2", g.add(x, fed), epsilon);
}

/// Returns the mean over the tokens with a label; labels below 0 mark tokens without one, such as
/// padding.
static Value maskedLoss(Forward &f, Value logits, const Options &options) {
  GraphBuilder &g = f.g;
  Value labels = f.input("labels");
  Value asked = g.compare(ComparePredicate::ge, labels, g.integer(0));
  Value present = g.reshape(paddingMask(f, options), {options.batch, options.seq});
  Value weights = g.cast(g.binary<AndOp>(asked, present), g.b.getF32Type());
  Value each = CrossEntropyOp::create(g.b, logits, g.binary<MaximumOp>(labels, g.integer(0)));
  return g.binary<DivOp>(g.sum(g.mul(each, weights)),
                         g.binary<MaximumOp>(g.sum(weights), g.scalar(1.0)));
}

Model buildBert(MLIRContext &context, const Options &options) {
  ModelBuilder m(context);
  m.tokens("tokens", {options.batch, options.seq}, options.vocab);
  m.tokens("segments", {options.batch, options.seq}, 2);
  m.integers("lengths", {options.batch}, (options.seq + 1) / 2, options.seq + 1);
  // 15 % of the drawn labels are tokens to predict.
  m.integers("labels", {options.batch, options.seq}, -(options.vocab * 17 / 3), options.vocab);
  m.model.logits = [options](Forward &f) {
    GraphBuilder &g = f.g;
    Scope head{f, "head"};
    Attention attention;
    attention.heads = options.numHeads();
    g.scope("mask");
    attention.mask = paddingMask(f, options);
    g.scope("embedding");
    Value x = stackLayers(f, options.layers, embed(f, options),
                          [&](const Scope &s, Value x) { return encoderLayer(s, x, attention); });
    g.scope("head");
    x = g.gelu(linear(head / "transform", x, {2}, {options.width}, 0.02), GeluForm::erf);
    Value embedding =
        f.parameter("embedding", {options.vocab, options.width}, normalInit(g.b, 0.02));
    Value product = g.dot(layerNorm(head / "norm", x, epsilon), embedding, {2}, {1});
    return g.add(product, head.fill("bias", {options.vocab}, 0.0));
  };
  m.model.loss = [options](Forward &f, Value logits) { return maskedLoss(f, logits, options); };
  return m.model;
}

} // namespace reprise::zoo
