// reprise: reductions and contractions.
#ifndef REPRISE_REDUCTION_OPS
#define REPRISE_REDUCTION_OPS

include "reprise/Dialect/Reprise/IR/RepriseBase.td"

class Reprise_ReduceOp<string mnemonic, TypeConstraint type, string formula, string kind>
    : Reprise_PureOp<mnemonic, (ins type:$operand, DenseI64ArrayAttr:$dims),
        [InferTypeOpAdaptor, DeclareOpInterfaceMethods<ReductionOpInterface>]> {
  let summary = formula # " over some dimensions";
  let description = [{
    Reduces the dimensions `dims` (ascending), which vanish from the result. If the last dimension is reduced: blocks of
    4,096 elements in row-major order of the reduced index, 32 lanes in a block, lanes fold by a butterfly; otherwise
    blocks of 64 in order. Blocks meet in a tree of neighbours. 16-bit elements reduce in f32; the result is rounded
    once.
  }];
  let results = (outs type:$result);
  let assemblyFormat = "$operand `dims` $dims attr-dict `:` functional-type($operand, $result)";
  let extraClassDefinition = [{
    int64_t $cppClass::getFlops() { return getOperand().getType().getNumElements(); }
    ::llvm::SmallVector<int64_t> $cppClass::getReducedDims() { return ::llvm::to_vector(getDims()); }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, ::std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      return inferReducedType(location, adaptor.getOperand().getType(), adaptor.getDims(), results);
    }
  }] # "::reprise::ReductionKind $cppClass::getReductionKind() { return ReductionKind::" # kind # "; }";
}

def SumOp : Reprise_ReduceOp<"sum", Reprise_NumericTensor, "Sum", "Sum">;
def MeanOp : Reprise_ReduceOp<"mean", Reprise_FloatTensor, "Sum divided by the count,", "Sum">;
def MaxOp : Reprise_ReduceOp<"max", Reprise_NumericTensor, "IEEE maximum (NaN wins)", "Max">;
def MinOp : Reprise_ReduceOp<"min", Reprise_NumericTensor, "IEEE minimum (NaN wins)", "Min">;

def ProdOp : Reprise_ReduceOp<"prod", Reprise_NumericTensor, "Product", "Product">;

def LogSumExpOp : Reprise_PureOp<"logsumexp", (ins Reprise_FloatTensor:$operand, DenseI64ArrayAttr:$dims),
    [InferTypeOpAdaptor, NormalizationOpInterface, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Logarithm of the sum of exponentials over some dimensions";
  let description = [{
    `m = max x, or 0 if that is infinite; result = log Σexp(x - m) + m`, over the dimensions `dims` (ascending), in the
    order of `reprise.sum`.
  }];
  let results = (outs Reprise_FloatTensor:$result);
  let assemblyFormat = "$operand `dims` $dims attr-dict `:` functional-type($operand, $result)";
  let extraClassDefinition = [{
    int64_t $cppClass::getFlops() { return 14 * getOperand().getType().getNumElements(); }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, ::std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      return inferReducedType(location, adaptor.getOperand().getType(), adaptor.getDims(), results);
    }
  }];
}

def CumsumOp : Reprise_PureOp<"cumsum", (ins Reprise_NumericTensor:$operand, I64Attr:$dim, UnitAttr:$reverse),
    [SameOperandsAndResultType, DeclareOpInterfaceMethods<AloneOpInterface, ["overwritesFirstOperand"]>]> {
  let summary = "Running sum along a dimension";
  let description = [{
    `result[0] = x[0], result[i] = result[i - 1] + x[i]` along `dim`; with `reverse` from the last element down. 16-bit
    elements run in f32, each result is rounded once.
  }];
  let results = (outs Reprise_NumericTensor:$result);
  let assemblyFormat = "$operand `dim` $dim (`reverse` $reverse^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
  let extraClassDefinition = [{
    int64_t $cppClass::getFlops() { return countResultElements(*this); }
    bool $cppClass::overwritesFirstOperand() { return true; }
  }];
}

def TopKOp : Reprise_PureOp<"top_k", (ins Reprise_NumericTensor:$operand), [AloneOpInterface]> {
  let summary = "The largest elements of each row, and where they stand";
  let description = [{
    The k largest elements along the last dimension in descending order, and their indices; k is the last dimension of
    the results. Among equal elements the first index comes first; NaNs come before all numbers, the first NaN first; -0
    and +0 are equal.
  }];
  let results = (outs Reprise_NumericTensor:$values, Reprise_IntegerTensor:$indices);
  let assemblyFormat = "$operand attr-dict `:` functional-type($operand, results)";
  let hasVerifier = 1;
  let extraClassDefinition = [{
    int64_t $cppClass::getFlops() {
      return getOperand().getType().getNumElements() * getValues().getType().getShape().back();
    }
  }];
}

def ArgmaxOp : Reprise_PureOp<"argmax", (ins Reprise_NumericTensor:$operand, I64Attr:$dim), [LoopOpInterface]> {
  let summary = "Index of the first maximum along a dimension";
  let description = "The dimension vanishes. The first index wins a tie; the first NaN wins over all numbers.";
  let results = (outs Reprise_IntegerTensor:$result);
  let assemblyFormat = "$operand `dim` $dim attr-dict `:` functional-type($operand, $result)";
  let hasVerifier = 1;
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return getOperand().getType().getNumElements(); }";
}

// Base of contractions, with batch and contracting dimensions of two operands, listed in pairs.
class Reprise_DotOp<string mnemonic, dag own, string operands>
    : Reprise_PureOp<mnemonic, !con((ins Reprise_FloatTensor:$lhs, Reprise_FloatTensor:$rhs), own,
        (ins DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$lhs_batch, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$rhs_batch,
             DenseI64ArrayAttr:$lhs_contracting, DenseI64ArrayAttr:$rhs_contracting,
             OptionalAttr<TypeAttr>:$accumulation)),
        [DeclareOpInterfaceMethods<ContractionOpInterface>]> {
  let results = (outs Reprise_FloatTensor:$result);
  let assemblyFormat = operands # [{
    custom<DotDims>($lhs_batch, $rhs_batch, $lhs_contracting, $rhs_contracting) attr-dict
    `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Returns the free (neither batch nor contracting) dimensions of an operand, ascending.
    ::llvm::SmallVector<int64_t> getLhsFree();
    ::llvm::SmallVector<int64_t> getRhsFree();
    /// Returns the number of products summed into one result.
    int64_t getContractedSize();
  }];
}

def DotGeneralOp : Reprise_DotOp<"dot_general", (ins), "$lhs `,` $rhs"> {
  let summary = "General dot product";
  let description = [{
    `result[b…, m…, n…] = Σ_k lhs[b, m, k] · rhs[b, n, k]`: batch dimensions first, then the free dimensions of lhs, then
    those of rhs, each in operand order. Each result is one chain of fma over the contracted index (row-major over the
    contracting dimensions as listed), from +0, in blocks of 4,096 whose results meet in the tree of neighbours. The
    chain is in f64 for f64, otherwise in f32 (`accumulation` states it); the result is rounded once.
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "::llvm::ArrayRef<int64_t>":$lhsBatch,
      "::llvm::ArrayRef<int64_t>":$rhsBatch, "::llvm::ArrayRef<int64_t>":$lhsContracting,
      "::llvm::ArrayRef<int64_t>":$rhsContracting, "::mlir::Type":$elementType)>];
}

def DotBiasOp : Reprise_DotOp<"dot_bias", (ins Reprise_FloatTensor:$bias), "$lhs `,` $rhs `bias` $bias"> {
  let summary = "General dot product, and a bias for each column";
  let description = [{
    `dot_general` of lhs and rhs, rounded, plus the bias, rounded again: `result[b…, m…, n…] = dot[b, m, n] + bias[n]`.
    The bias has the free dimensions of rhs and the element type of the result. A library of a GPU adds the bias to the
    sum within its call, before the only rounding. All other targets compute the sum as two ops, into which `import`
    splits this op.
  }];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<int64_t> getLhsFree();
    ::llvm::SmallVector<int64_t> getRhsFree();
    int64_t getContractedSize();
    /// Builds the contraction without the bias.
    ::reprise::DotGeneralOp buildDot(::mlir::ImplicitLocOpBuilder &builder);
    /// Builds the sum of a contraction and a bias.
    static ::reprise::AddOp buildSum(::mlir::ImplicitLocOpBuilder &builder, ::mlir::Value dot, ::mlir::Value bias);
    /// Replaces this op by the two ops, which have its attributes; the sum has its label.
    void expand();
  }];
}

def DotAccumulateOp : Reprise_DotOp<"dot_accumulate", (ins Reprise_FloatTensor:$sums), "$lhs `,` $rhs `onto` $sums"> {
  let summary = "General dot product that continues sums";
  let description = [{
    Each result is the chain of fma of `dot_general` over at most 4,096 terms, which starts from the element of `sums`
    instead of +0. So a contraction of up to 4,096 terms has the same bits if its terms are divided: the first part is a
    `dot_general`, and each later part continues its sums. Sums and results are in the compute type, since rounding
    between two parts would change the chain. `reprise-slice-head` makes this op.
  }];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<int64_t> getLhsFree();
    ::llvm::SmallVector<int64_t> getRhsFree();
    int64_t getContractedSize();
    bool continuesSums() { return true; }
  }];
}

def DotLanesOp : Reprise_DotOp<"dot_lanes",
    (ins ConfinedAttr<I64Attr, [IntMinValue<2>]>:$lanes, ConfinedAttr<I64Attr, [IntMinValue<0>]>:$along),
    "$lhs `,` $rhs `lanes` $lanes `along` $along"> {
  let summary = "General dot product whose terms form lanes";
  let description = [{
    `dot_general` whose contracted dimension number `along`, in the order of the list, is cut into `lanes` consecutive
    parts of equal size. `lanes` is a power of two. Each lane is summed as a `dot_general` of its terms, without a
    rounding of its result. The sums of lanes meet in the tree of neighbours, in the compute type. The result is rounded
    once, at the root. So any 2^k devices that divide the lanes compute the same bits, if each of them adds its own
    lanes first. `reprise-shard-model` makes this op, and `reprise-expand-lanes` replaces it by contractions and adds.
  }];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<int64_t> getLhsFree();
    ::llvm::SmallVector<int64_t> getRhsFree();
    int64_t getContractedSize();
    /// Returns the dimension of each operand that the lanes cut.
    int64_t getLhsCut() { return getLhsContracting()[getAlong()]; }
    int64_t getRhsCut() { return getRhsContracting()[getAlong()]; }
  }];
}

#endif
