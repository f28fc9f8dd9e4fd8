// reprise: scaled dot-product attention and its backward.
#ifndef REPRISE_ATTENTION_OPS
#define REPRISE_ATTENTION_OPS

include "reprise/Dialect/Reprise/IR/RepriseBase.td"

def AttentionOp : Reprise_Op<"attention", (ins Reprise_FloatTensor:$query, Reprise_FloatTensor:$key,
    Reprise_FloatTensor:$value, Optional<Reprise_FloatTensor>:$bias, Optional<Reprise_BoolTensor>:$mask,
    Optional<Reprise_I64Scalar>:$seed, Optional<Reprise_I64Scalar>:$offset,
    Optional<Reprise_I64Tensor>:$origin, Reprise_RateAttr:$scale, UnitAttr:$causal,
    DefaultValuedAttr<Reprise_RateAttr, "0.0">:$rate, OptionalAttr<I64Attr>:$stream,
    OptionalAttr<DenseI64ArrayAttr>:$global_shape),
    [AttrSizedOperandSegments, AttentionOpInterface, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     DeclareOpInterfaceMethods<RandomOpInterface, ["draws", "getDrawnShape"]>]> {
  let summary = "Scaled dot-product attention, causal, masked, biased or plain, with dropout";
  let description = [{
    query [b, h, t, d], key [b, g, s, d], value [b, g, s, e]; g divides h, and query head i reads key head i / (h / g)
    (grouped-query attention). `score = (Σ_d q·k) * scale + bias; m = max score; p = exp(score - m); l = Σp; out = (Σ_s
    dropout(p)·v) / l; lse = m + log l`. bias, in the compute type, and mask are [b or 1, h or 1, t or 1, s]. Keys with
    mask 0 are masked, and with `causal` keys j > i + (s - t) of query i. A query without any key has out = 0 and lse =
    -inf. Dropout draws by index [b, h, i, j]. out is [b, h, t, e] in the element type of query, lse is [b, h, t] in the
    compute type; 16-bit operands are widened, and no intermediate result is rounded.

    Σ_d and Σ_s are the contraction's fma chains, and l has the order of a sum over the last dimension. Every order is
    the order of the whole row of s keys (in a sum over queries: of all t queries): a key stands in the lane and the
    block of its own index j. Masked keys are no terms: they are skipped at their position. Lanes and blocks without any
    term keep their identity (+0, for m -inf) and take part like all others. A dropped key is a term with p = +0.
  }];
  let results = (outs Reprise_FloatTensor:$out, Reprise_FloatTensor:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` $bias^ `:` type($bias))? (`mask` $mask^ `:` type($mask))? (`seed` $seed^ `offset` $offset)? (`origin` $origin^ `:` type($origin))? attr-dict
    `:` `(` type($query) `,` type($key) `,` type($value) `)` `->` `(` type($out) `,` type($lse) `)`
  }];
  let hasVerifier = 1;
}

def AttentionBackwardOp : Reprise_Op<"attention_backward", (ins Reprise_FloatTensor:$query, Reprise_FloatTensor:$key,
    Reprise_FloatTensor:$value, Reprise_FloatTensor:$out, Reprise_FloatTensor:$lse, Reprise_FloatTensor:$dout,
    Optional<Reprise_FloatTensor>:$dlse, Optional<Reprise_FloatTensor>:$bias, Optional<Reprise_BoolTensor>:$mask,
    Optional<Reprise_I64Scalar>:$seed, Optional<Reprise_I64Scalar>:$offset,
    Optional<Reprise_I64Tensor>:$origin, Reprise_RateAttr:$scale, UnitAttr:$causal,
    DefaultValuedAttr<Reprise_RateAttr, "0.0">:$rate, OptionalAttr<I64Attr>:$stream,
    OptionalAttr<DenseI64ArrayAttr>:$global_shape),
    [AttrSizedOperandSegments, AttentionOpInterface, DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     DeclareOpInterfaceMethods<RandomOpInterface, ["draws", "getDrawnShape"]>]> {
  let summary = "Gradients of attention";
  let description = [{
    With `p = exp(score - lse)`, `pd = dropout(p)`: `delta = Σ_e dout·out - dlse` (last-dimension sum order; dlse if
    given), `dp = dropout(Σ_e dout·v)`, `ds = p * (dp - delta)`; `dq = (Σ_s ds·k) * scale`, `dk = (Σ_t ds·q) * scale`,
    `dv = Σ_t pd·dout`. Each other Σ is the contraction's fma chain, in the order of `reprise.attention`: masked pairs are
    no terms, a block of queries without terms is +0. Dropout of p and of dp draws the same words. With grouped queries
    Σ_t runs over (query head of the group, query), row-major. `dscore`, if it is a result, is ds [b, h, t, s] in the
    compute type, 0 at masked pairs: the cotangent of a bias is its sum over the dimensions that the bias repeats.
  }];
  let results = (outs Reprise_FloatTensor:$dquery, Reprise_FloatTensor:$dkey, Reprise_FloatTensor:$dvalue,
      Optional<Reprise_FloatTensor>:$dscore);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $out `,` $lse `,` $dout (`dlse` $dlse^ `:` type($dlse))?
    (`bias` $bias^ `:` type($bias))? (`mask` $mask^ `:` type($mask))? (`seed` $seed^ `offset` $offset)? (`origin` $origin^ `:` type($origin))? attr-dict
    `:` `(` type($query) `,` type($key) `,` type($value) `,` type($out) `,` type($lse) `,` type($dout) `)` `->`
    `(` type($dquery) `,` type($dkey) `,` type($dvalue) (`,` type($dscore)^)? `)`
  }];
  let hasVerifier = 1;
}

def RotaryOp : Reprise_PureOp<"rotary", (ins Reprise_FloatTensor:$operand, Reprise_FloatTensor:$cosine,
    Reprise_FloatTensor:$sine), [AllTypesMatch<["operand", "result"]>,
    AllTypesMatch<["cosine", "sine"]>, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Rotary position embedding";
  let description = [{
    operand [b…, t, d] with an even d, cosine and sine [t, d / 2] in the compute type. With x1, x2 the halves of the last
    dimension, the halves of the result are `x1 * cosine - x2 * sine` and `x2 * cosine + x1 * sine`.
  }];
  let results = (outs Reprise_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $cosine `,` $sine attr-dict `:` type($operand) `,` type($cosine)";
  let hasVerifier = 1;
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 3 * countResultElements(*this); }";
}

#endif
