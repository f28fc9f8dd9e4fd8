// reprise: random draws.
#ifndef REPRISE_RANDOM_OPS
#define REPRISE_RANDOM_OPS

include "reprise/Dialect/Reprise/IR/RepriseBase.td"

// Base of random ops. seed, offset and origin stand last among the operands; stream and global_shape last among the
// attributes.
class Reprise_RandomOp<string mnemonic, dag leading, dag attributes, list<Trait> traits = []>
    : Reprise_Op<mnemonic, !con(leading, (ins Optional<Reprise_I64Scalar>:$seed, Optional<Reprise_I64Scalar>:$offset,
        Optional<Reprise_I64Tensor>:$origin), attributes,
        (ins OptionalAttr<I64Attr>:$stream, OptionalAttr<DenseI64ArrayAttr>:$global_shape)),
      !listconcat([AttrSizedOperandSegments, LoopOpInterface, DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, DeclareOpInterfaceMethods<RandomOpInterface, []>], traits)> {
  let hasVerifier = 1;
  let extraClassDefinition = [{
    int64_t $cppClass::getFlops() { return 10 * countResultElements(*this); }
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<::mlir::MemoryEffects::Effect>> &effects) {
      addDrawEffects(*this, effects);
    }
    ::llvm::LogicalResult $cppClass::verify() { return verifyDraw(*this); }
  }];
}

class Reprise_DrawOp<string mnemonic, TypeConstraint type, dag attributes> : Reprise_RandomOp<mnemonic, (ins), attributes> {
  let results = (outs type:$result);
  let assemblyFormat = [{
    (`seed` $seed^ `offset` $offset)? (`origin` $origin^ `:` type($origin))? attr-dict `:` type($result)
  }];
}

def RandomUniformOp : Reprise_DrawOp<"random_uniform", Reprise_FloatTensor,
    (ins DefaultValuedAttr<Reprise_RateAttr, "0.0">:$low, DefaultValuedAttr<Reprise_RateAttr, "1.0">:$high)> {
  let summary = "Uniform draws in [low, high)";
  let description = [{
    `u` is computed from one word w: f32 `(w >> 8) * 2^-24`, f16 `(w >> 21) * 2^-11`, bf16 `(w >> 24) * 2^-8`, f64 `w *
    2^-32`; then `low + (high - low) * u`, which is u itself for [0, 1).
  }];
}
def RandomUniformIntOp : Reprise_DrawOp<"random_uniform_int", Reprise_IntegerTensor, (ins I64Attr:$low, I64Attr:$high)> {
  let summary = "Uniform integers in [low, high)";
  let description = "`low + ((u64)w * (high - low) >> 32)`.";
}
def RandomNormalOp : Reprise_DrawOp<"random_normal", Reprise_FloatTensor,
    (ins DefaultValuedAttr<Reprise_RateAttr, "0.0">:$mean, DefaultValuedAttr<Reprise_RateAttr, "1.0">:$std)> {
  let summary = "Normal draws by Box-Muller";
  let description = [{
    Elements 2k and 2k+1 come from words 2k and 2k+1: `u1 = ((w0 >> 8) + 1) * 2^-24`, `u2 = (w1 >> 8) * 2^-24`,
    `r = sqrt(-2 * log u1)`; `r * cos(2 pi u2)` and `r * sin(2 pi u2)`; then `mean + (std * z)` in f32, converted.
  }];
}
def RandomBernoulliOp : Reprise_DrawOp<"random_bernoulli", Reprise_BoolTensor, (ins Reprise_RateAttr:$probability)> {
  let summary = "1 with a probability";
  let description = "1 iff `(u64)w < floor(probability * 2^32)`.";
}

def DropoutOp : Reprise_RandomOp<"dropout", (ins Reprise_FloatTensor:$operand), (ins Reprise_RateAttr:$rate),
    [AllTypesMatch<["operand", "result"]>]> {
  let summary = "Drops elements at a rate and scales the rest";
  let description = [{
    The result is +0 iff `(u64)w < floor(rate * 2^32)`, otherwise `x * (1 / (1 - rate))`; the factor is computed in f64
    and rounded to the compute type. A rate of 1 gives zeros.
  }];
  let results = (outs Reprise_FloatTensor:$result);
  let assemblyFormat = [{
    $operand (`seed` $seed^ `offset` $offset)? (`origin` $origin^ `:` type($origin))? attr-dict `:` type($result)
  }];
}

#endif
