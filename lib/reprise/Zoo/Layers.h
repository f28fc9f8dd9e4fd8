// reprise: the layers that models share; the parameters of a layer are named after its scope
#ifndef REPRISE_ZOO_LAYERS_H
#define REPRISE_ZOO_LAYERS_H

#include "Model.h"

namespace reprise::zoo {

/// A place in a model under construction.
struct Scope {
  Forward &f;
  std::string name;

  Scope operator/(const llvm::Twine &part) const {
    return {f, name.empty() ? part.str() : (name + "/" + part).str()};
  }
  mlir::Value parameter(llvm::StringRef part, llvm::ArrayRef<int64_t> shape,
                        mlir::Attribute init) const {
    return f.parameter((*this / part).name, shape, init);
  }
  mlir::Value normal(llvm::StringRef part, llvm::ArrayRef<int64_t> shape, double std) const {
    return parameter(part, shape, normalInit(f.g.b, std));
  }
  mlir::Value fill(llvm::StringRef part, llvm::ArrayRef<int64_t> shape, double value) const {
    return parameter(part, shape, fillInit(f.g.b, value));
  }
};

/// Contracts the dimensions `dims` of x with a weight [dims…, out…], and adds a bias [out…].
mlir::Value linear(const Scope &s, mlir::Value x, llvm::ArrayRef<int64_t> dims,
                   llvm::ArrayRef<int64_t> out, double std, bool hasBias = true);

mlir::Value layerNorm(const Scope &s, mlir::Value x, double epsilon = 1e-5);
mlir::Value rmsNorm(const Scope &s, mlir::Value x);
mlir::Value groupNorm(const Scope &s, mlir::Value x, int64_t groups);
/// Normalizes by the batch's statistics in training, and blends them into the states
/// running_mean/SCOPE and running_variance/SCOPE; otherwise normalizes by those states.
mlir::Value batchNorm(const Scope &s, mlir::Value x);

/// Convolves without bias, with He's initialization for a following relu (2015, fan out).
mlir::Value convolution(const Scope &s, mlir::Value image, int64_t channels, int64_t window,
                        int64_t stride = 1);

struct Attention {
  int64_t heads = 1;
  int64_t keyHeads = 0; ///< heads of key and value; 0: as many as of query
  double std = 0.02, residualStd = 0.02;
  bool hasBias = true, isCausal = false;
  mlir::Value mask;         ///< null: none
  mlir::Value cosine, sine; ///< rotary tables [t, d / 2]; null: none
};
/// Self-attention of x [b, t, width], projected back to the width; dropout on the scores.
mlir::Value selfAttention(const Scope &s, mlir::Value x, const Attention &a);

/// Returns down(gelu(up(x))), with four times the width in between.
mlir::Value feedForward(const Scope &s, mlir::Value x, GeluForm form, double std,
                        double residualStd);

/// Returns x + dropout(attention(norm(x))) of a pre-norm transformer.
mlir::Value preNormAttention(const Scope &s, mlir::Value x, const Attention &a);
/// The whole layer of one, with `form` in its feed-forward half.
mlir::Value preNormLayer(const Scope &s, mlir::Value x, const Attention &a, GeluForm form);

/// The standard deviation of projections onto the residual stream: 0.02 over the square root of
/// their number (Radford et al. 2019, section 2.3).
double residualStd(int64_t layers);

/// Runs `body` on the layers 0, 1, …, each a replay unit; the scope is layer/i, or layers for a
/// loop.
mlir::Value stackLayers(Forward &f, int64_t count, mlir::Value x,
                        llvm::function_ref<mlir::Value(const Scope &, mlir::Value)> body);

/// The layer of a pre-norm transformer: x and the attention that all layers have.
using TransformerLayer =
    llvm::function_ref<mlir::Value(const Scope &, mlir::Value, const Attention &)>;

/// Logits of a causal language model on the input `tokens`, with learned positions, a norm at the
/// end and the embedding as head.
mlir::Value gptLogits(Forward &f, const Options &options, TransformerLayer layer);

} // namespace reprise::zoo

#endif // REPRISE_ZOO_LAYERS_H
