// reprise: softmax, losses and normalizations over the last dimension.
#ifndef REPRISE_NORMALIZATION_OPS
#define REPRISE_NORMALIZATION_OPS

include "reprise/Dialect/Reprise/IR/RepriseBase.td"

class Reprise_RowOp<string mnemonic, dag operands, list<Trait> traits = []>
    : Reprise_PureOp<mnemonic, operands, !listconcat(
        [NormalizationOpInterface, DeclareOpInterfaceMethods<DecomposableOpInterface>], traits)> {
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 20 * ::llvm::cast<::mlir::ShapedType>("
      "(*this)->getOperand(0).getType()).getNumElements(); }";
}

def SoftmaxOp : Reprise_RowOp<"softmax", (ins Reprise_FloatTensor:$operand), [SameOperandsAndResultType]> {
  let summary = "Softmax over the last dimension";
  let description = "`m = max x; e = exp(x - m); result = e / Σe`.";
  let results = (outs Reprise_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def LogSoftmaxOp : Reprise_RowOp<"log_softmax", (ins Reprise_FloatTensor:$operand), [SameOperandsAndResultType]> {
  let summary = "Logarithm of softmax over the last dimension";
  let description = "`m = max x; s = x - m; result = s - log Σexp(s)`.";
  let results = (outs Reprise_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def CrossEntropyOp : Reprise_RowOp<"cross_entropy", (ins Reprise_FloatTensor:$logits, Reprise_IntegerTensor:$labels),
    [InferTypeOpAdaptor, DeclareOpInterfaceMethods<IndexingOpInterface>]> {
  let summary = "Negative log likelihood of a label under softmax, per sample";
  let description = [{
    Over the last dimension of the logits: `m = max x; s = x - m; result = log Σexp(s) - s[label]`. Labels are clamped
    to [0, classes - 1].
  }];
  let results = (outs Reprise_FloatTensor:$result);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` functional-type(operands, $result)";
}

def LayerNormOp : Reprise_RowOp<"layer_norm", (ins Reprise_FloatTensor:$operand, Reprise_FloatTensor:$weight,
    Reprise_FloatTensor:$bias, Reprise_RateAttr:$epsilon), [InferTypeOpAdaptor]> {
  let summary = "Normalization over the last dimension, with weight and bias";
  let description = [{
    `mean = Σx / n; c = x - mean; var = Σ(c * c) / n; rstd = 1 / sqrt(var + epsilon); result = (c * rstd) * weight +
    bias`. The statistics are results in the compute type (f32 for 16-bit, else the element type), without the last
    dimension: the derivative reads them.
  }];
  let results = (outs Reprise_FloatTensor:$result, Reprise_FloatTensor:$mean, Reprise_FloatTensor:$rstd);
  let assemblyFormat = "$operand `,` $weight `,` $bias attr-dict `:` functional-type(operands, results)";
}

#endif
