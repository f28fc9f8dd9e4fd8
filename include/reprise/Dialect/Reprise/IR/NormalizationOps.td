// reprise: softmax, losses and normalizations.
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
    Reduces the last dimension of the logits: `m = max x; s = x - m; result = log Σexp(s) - s[label]`. Labels are
    clamped to [0, classes - 1].
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

def RmsNormOp : Reprise_RowOp<"rms_norm", (ins Reprise_FloatTensor:$operand, Reprise_FloatTensor:$weight,
    Reprise_RateAttr:$epsilon), [InferTypeOpAdaptor]> {
  let summary = "Division by the root of the mean square over the last dimension, with weight";
  let description = [{
    `rstd = 1 / sqrt(Σ(x * x) / n + epsilon); result = (x * rstd) * weight`. rstd is a result in the compute type,
    without the last dimension.
  }];
  let results = (outs Reprise_FloatTensor:$result, Reprise_FloatTensor:$rstd);
  let assemblyFormat = "$operand `,` $weight attr-dict `:` functional-type(operands, results)";
}

def GroupNormOp : Reprise_RowOp<"group_norm", (ins Reprise_FloatTensor:$operand, Reprise_FloatTensor:$weight,
    Reprise_FloatTensor:$bias, I64Attr:$groups, Reprise_RateAttr:$epsilon), [InferTypeOpAdaptor]> {
  let summary = "Normalization over groups of channels of one sample, with weight and bias per channel";
  let description = [{
    operand [n, c, spatial…], weight and bias [c], `groups` divides c. The formula is that of `layer_norm`, over the c /
    groups channels of a group and all spatial dimensions. The statistics are results [n, groups] in the compute type.
  }];
  let results = (outs Reprise_FloatTensor:$result, Reprise_FloatTensor:$mean, Reprise_FloatTensor:$rstd);
  let assemblyFormat = "$operand `,` $weight `,` $bias `groups` $groups attr-dict `:` functional-type(operands, results)";
}

def BatchNormOp : Reprise_RowOp<"batch_norm", (ins Reprise_FloatTensor:$operand, Reprise_FloatTensor:$weight,
    Reprise_FloatTensor:$bias, Reprise_RateAttr:$epsilon), [InferTypeOpAdaptor]> {
  let summary = "Normalization of each channel over samples and positions (training)";
  let description = [{
    operand [n, c, spatial…], weight and bias [c]. Reduces n and all spatial dimensions, m elements per channel: `mean =
    Σx / m; d = x - mean; variance = Σ(d * d) / m; rstd = 1 / sqrt(variance + epsilon); result = (d * rstd) * weight +
    bias`. The statistics are results [c] in the compute type. Running statistics are state: the model reads the old
    value once and returns one new value computed from `batch_statistics` of mean and variance, so that no replay
    updates it.
  }];
  let results = (outs Reprise_FloatTensor:$result, Reprise_FloatTensor:$mean, Reprise_FloatTensor:$variance);
  let assemblyFormat = "$operand `,` $weight `,` $bias attr-dict `:` functional-type(operands, results)";
}

def BatchStatisticsOp : Reprise_RowOp<"batch_statistics", (ins Reprise_FloatTensor:$mean, Reprise_FloatTensor:$variance,
    I64Attr:$count, UnitAttr:$deferred), [AllTypesMatch<["mean", "variance", "wholeMean", "unbiasedVariance"]>]> {
  let summary = "The share of a batch norm in running statistics: the mean and the unbiased variance";
  let description = [{
    Converts the mean and the variance of `count` elements per channel, at least two: `unbiased = (variance * count) /
    (count - 1)`; the mean is unchanged. If the batch is cut into micro-batches, each micro-batch has its own statistics
    and its own count, and passes its running statistics to the next. With `deferred`, the statistics of all
    micro-batches are combined into those of the whole batch, in their order (Chan et al. 1979), and their readers run
    once, behind the last micro-batch. In both cases samples are normalized by the statistics of their micro-batch.
  }];
  let results = (outs Reprise_FloatTensor:$wholeMean, Reprise_FloatTensor:$unbiasedVariance);
  let assemblyFormat = [{
    $mean `,` $variance `count` $count (`deferred` $deferred^)? attr-dict `:` type($mean)
  }];
  let hasVerifier = 1;
}

def BatchNormInferenceOp : Reprise_PureOp<"batch_norm_inference", (ins Reprise_FloatTensor:$operand,
    Reprise_FloatTensor:$weight, Reprise_FloatTensor:$bias, Reprise_FloatTensor:$mean, Reprise_FloatTensor:$variance,
    Reprise_RateAttr:$epsilon), [InferTypeOpAdaptor, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Normalization of each channel by given statistics";
  let description = [{
    operand [n, c, spatial…], all others [c], mean and variance in the compute type: `rstd = 1 / sqrt(variance + epsilon);
    result = ((x - mean) * rstd) * weight + bias`.
  }];
  let results = (outs Reprise_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `,` $weight `,` $bias `,` $mean `,` $variance attr-dict `:` functional-type(operands, $result)
  }];
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 4 * countResultElements(*this); }";
}

#endif
