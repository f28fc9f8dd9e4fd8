// reprise: scaled dot-product attention and its backward.
#ifndef REPRISE_ATTENTION_OPS
#define REPRISE_ATTENTION_OPS

include "reprise/Dialect/Reprise/IR/RepriseBase.td"

def AttentionOp : Reprise_Op<"attention", (ins Reprise_FloatTensor:$query, Reprise_FloatTensor:$key,
    Reprise_FloatTensor:$value, Optional<Reprise_I64Scalar>:$seed, Optional<Reprise_I64Scalar>:$offset,
    Optional<Reprise_I64Tensor>:$origin, Reprise_RateAttr:$scale, UnitAttr:$causal,
    DefaultValuedAttr<Reprise_RateAttr, "0.0">:$rate, OptionalAttr<I64Attr>:$stream,
    OptionalAttr<DenseI64ArrayAttr>:$global_shape),
    [AttrSizedOperandSegments, AttentionOpInterface, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     DeclareOpInterfaceMethods<RandomOpInterface, ["draws", "getDrawnShape"]>]> {
  let summary = "Scaled dot-product attention, causal or not, with dropout";
  let description = [{
    query [b, h, t, d], key and value [b, h, s, d]. `score = (Σ_d q·k) * scale; m = max score; p = exp(score - m);
    l = Σp; out = (Σ_s dropout(p)·v) / l; lse = m + log l`. `causal`: query i sees keys j ≤ i + (s - t), the others are masked. Dropout draws by index
    [b, h, i, j]. out has the type of query, lse is [b, h, t] in the compute type; 16-bit operands are widened and
    nothing is rounded in between.

    Σ_d and Σ_s are the contraction's fma chains, l has the order of a sum over the last dimension. Every order is that
    of the whole row of s keys (in a sum over queries: of all t queries): a key stands in the lane and the block of its
    own index j. Masked keys are no terms: they are skipped where they stand; lanes and blocks without any term keep
    their identity (+0, for m -inf) and take part like all others. A dropped key is a term with p = +0.
  }];
  let results = (outs Reprise_FloatTensor:$out, Reprise_FloatTensor:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`seed` $seed^ `offset` $offset)? (`origin` $origin^ `:` type($origin))? attr-dict
    `:` `(` type($query) `,` type($key) `,` type($value) `)` `->` `(` type($out) `,` type($lse) `)`
  }];
  let hasVerifier = 1;
}

def AttentionBackwardOp : Reprise_Op<"attention_backward", (ins Reprise_FloatTensor:$query, Reprise_FloatTensor:$key,
    Reprise_FloatTensor:$value, Reprise_FloatTensor:$out, Reprise_FloatTensor:$lse, Reprise_FloatTensor:$dout,
    Optional<Reprise_FloatTensor>:$dlse, Optional<Reprise_I64Scalar>:$seed, Optional<Reprise_I64Scalar>:$offset,
    Optional<Reprise_I64Tensor>:$origin, Reprise_RateAttr:$scale, UnitAttr:$causal,
    DefaultValuedAttr<Reprise_RateAttr, "0.0">:$rate, OptionalAttr<I64Attr>:$stream,
    OptionalAttr<DenseI64ArrayAttr>:$global_shape),
    [AttrSizedOperandSegments, AttentionOpInterface, DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     DeclareOpInterfaceMethods<RandomOpInterface, ["draws", "getDrawnShape"]>]> {
  let summary = "Gradients of attention";
  let description = [{
    With `p = exp(score - lse)`, `pd = dropout(p)`: `delta = Σ_d dout·out - dlse` (last-dimension sum order; dlse if
    given), `dp = dropout(Σ_d dout·v)`, `ds = p * (dp - delta)`; `dq = (Σ_s ds·k) * scale`, `dk = (Σ_t ds·q) * scale`,
    `dv = Σ_t pd·dout`. Each other Σ is the contraction's fma chain, in the order of `reprise.attention`: masked pairs are
    no terms, a block of queries without terms is +0. Dropout of p and of dp draws the same words.
  }];
  let results = (outs Reprise_FloatTensor:$dquery, Reprise_FloatTensor:$dkey, Reprise_FloatTensor:$dvalue);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $out `,` $lse `,` $dout (`dlse` $dlse^ `:` type($dlse))?
    (`seed` $seed^ `offset` $offset)? (`origin` $origin^ `:` type($origin))? attr-dict
    `:` `(` type($query) `,` type($key) `,` type($value) `,` type($out) `,` type($lse) `,` type($dout) `)` `->`
    `(` type($dquery) `,` type($dkey) `,` type($dvalue) `)`
  }];
  let hasVerifier = 1;
}

#endif
