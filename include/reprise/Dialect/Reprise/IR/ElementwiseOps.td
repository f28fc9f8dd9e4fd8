// reprise: elementwise ops.
#ifndef REPRISE_ELEMENTWISE_OPS
#define REPRISE_ELEMENTWISE_OPS

include "reprise/Dialect/Reprise/IR/RepriseBase.td"

class Reprise_UnaryOp<string mnemonic, TypeConstraint type, string formula, int weight = 1>
    : Reprise_PureOp<mnemonic, (ins type:$operand), [ElementwiseOpInterface, SameOperandsAndResultType]> {
  let summary = formula # ", elementwise";
  let description = "Computes `" # formula # "` at every index; rounds once.";
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return " # weight # " * countResultElements(*this); }";
}

def NegOp : Reprise_UnaryOp<"neg", Reprise_NumericTensor, "-x"> { let hasFolder = 1; }
def AbsOp : Reprise_UnaryOp<"abs", Reprise_NumericTensor, "|x|">;
def ExpOp : Reprise_UnaryOp<"exp", Reprise_FloatTensor, "exp(x)", 12>;
def LogOp : Reprise_UnaryOp<"log", Reprise_FloatTensor, "log(x)", 14>;
def SqrtOp : Reprise_UnaryOp<"sqrt", Reprise_FloatTensor, "sqrt(x)", 4>;
def RsqrtOp : Reprise_UnaryOp<"rsqrt", Reprise_FloatTensor, "1 / sqrt(x)", 8>;
def TanhOp : Reprise_UnaryOp<"tanh", Reprise_FloatTensor, "tanh(x)", 20>;
def ErfOp : Reprise_UnaryOp<"erf", Reprise_FloatTensor, "erf(x)", 22>;
def SigmoidOp : Reprise_UnaryOp<"sigmoid", Reprise_FloatTensor, "1 / (1 + exp(-x))", 15>;
def SiluOp : Reprise_UnaryOp<"silu", Reprise_FloatTensor, "x * sigmoid(x)", 16>;
def SinOp : Reprise_UnaryOp<"sin", Reprise_FloatTensor, "sin(x)", 20>;
def CosOp : Reprise_UnaryOp<"cos", Reprise_FloatTensor, "cos(x)", 20>;
def FloorOp : Reprise_UnaryOp<"floor", Reprise_FloatTensor, "the largest integer not above x">;
def NotOp : Reprise_UnaryOp<"not", Reprise_BoolTensor, "not x">;
def ReluOp : Reprise_UnaryOp<"relu", Reprise_NumericTensor, "x < 0 ? 0 : x"> { let hasFolder = 1; }

def ClampOp : Reprise_PureOp<"clamp", (ins Reprise_FloatTensor:$operand, Reprise_RateAttr:$low, Reprise_RateAttr:$high),
    [ElementwiseOpInterface, SameOperandsAndResultType]> {
  let summary = "Limits to an interval, elementwise";
  let description = [{
    `minimum(maximum(x, low), high)`, the bounds rounded to the element type; NaN stays NaN. The derivative is 1 where
    `low <= x <= high`, else 0.
  }];
  let results = (outs Reprise_FloatTensor:$result);
  let assemblyFormat = "$operand `in` `[` $low `,` $high `]` attr-dict `:` type($result)";
  let hasVerifier = 1;
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 2 * countResultElements(*this); }";
}

def GeluOp : Reprise_PureOp<"gelu",
    (ins Reprise_FloatTensor:$operand, DefaultValuedAttr<Reprise_GeluFormAttr, "::reprise::GeluForm::erf">:$form),
    [ElementwiseOpInterface, SameOperandsAndResultType]> {
  let summary = "Gaussian error linear unit, elementwise";
  let description = [{
    `form = erf` (the default): `(0.5 * x) * (1 + erf(x * sqrt(0.5)))`. `form = tanh`, as in GPT-2:
    `(0.5 * x) * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * ((x * x) * x))))`. Every named operation rounds in the compute
    type, the result is rounded once.
  }];
  let results = (outs Reprise_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 26 * countResultElements(*this); }";
}

class Reprise_BinaryOp<string mnemonic, TypeConstraint type, string formula, list<Trait> traits = []>
    : Reprise_PureOp<mnemonic, (ins type:$lhs, type:$rhs), !listconcat(traits,
        [ElementwiseOpInterface, InferTypeOpAdaptor])> {
  let summary = formula # ", elementwise with broadcasting";
  let description = "Computes `" # formula # [{` at every index. Shapes broadcast as in NumPy: aligned at the last
    dimension, a missing dimension or one of size 1 repeats. After `import` broadcasts are ops of their own.}];
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<BroadcastTypes>(type($lhs), type($rhs), type($result))";
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return countResultElements(*this); }" # [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, ::std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      return inferBroadcastType(location, adaptor.getOperands().getTypes(), results);
    }
  }];
}

def AddOp : Reprise_BinaryOp<"add", Reprise_NumericTensor, "x + y", [Commutative]> { let hasFolder = 1; }
def SubOp : Reprise_BinaryOp<"sub", Reprise_NumericTensor, "x - y"> { let hasFolder = 1; }
def MulOp : Reprise_BinaryOp<"mul", Reprise_NumericTensor, "x * y", [Commutative]> { let hasFolder = 1; }
def DivOp : Reprise_BinaryOp<"div", Reprise_NumericTensor, "x / y (integers: x / 0 = -1, towards zero)"> {
  let hasFolder = 1;
}
def RemOp : Reprise_BinaryOp<"rem", Reprise_IntegerTensor, "x % y (x % 0 = x, sign of x)">;
def MaximumOp : Reprise_BinaryOp<"maximum", Reprise_NumericTensor, "max(x, y) (IEEE maximum: NaN wins, -0 < +0)",
    [Commutative]>;
def MinimumOp : Reprise_BinaryOp<"minimum", Reprise_NumericTensor, "min(x, y) (IEEE minimum: NaN wins, -0 < +0)",
    [Commutative]>;

def PowOp : Reprise_BinaryOp<"pow", Reprise_FloatTensor, "x ^ y (special values of IEEE pow)">;
def AndOp : Reprise_BinaryOp<"and", Reprise_BitsTensor, "x and y (integers: of each bit)", [Commutative]>;
def OrOp : Reprise_BinaryOp<"or", Reprise_BitsTensor, "x or y (integers: of each bit)", [Commutative]>;
def XorOp : Reprise_BinaryOp<"xor", Reprise_BitsTensor, "x xor y (integers: of each bit)", [Commutative]>;

def ShiftLeftOp : Reprise_BinaryOp<"shift_left", Reprise_IntegerTensor, "x << y (0 where y < 0 or y >= bits of x)">;
def ShiftRightOp : Reprise_BinaryOp<"shift_right", Reprise_IntegerTensor,
    "x >> y, zeros from above (0 where y < 0 or y >= bits of x)">;

def CompareOp : Reprise_PureOp<"compare",
    (ins Reprise_ComparePredicateAttr:$predicate, Reprise_Tensor:$lhs, Reprise_Tensor:$rhs),
    [ElementwiseOpInterface, InferTypeOpAdaptor]> {
  let summary = "Comparison, elementwise with broadcasting";
  let description = "1 where `x predicate y` holds. With a NaN on either side only `ne` holds. Integers are signed; "
    "for i1, false is less than true.";
  let results = (outs Reprise_BoolTensor:$result);
  let assemblyFormat = [{
    $predicate $lhs `,` $rhs attr-dict `:` custom<CompareTypes>(type($lhs), type($rhs), type($result))
  }];
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return countResultElements(*this); }";
}

def SelectOp : Reprise_PureOp<"select", (ins Reprise_BoolTensor:$condition, Reprise_Tensor:$on_true,
    Reprise_Tensor:$on_false), [ElementwiseOpInterface, AllTypesMatch<["on_true", "on_false", "result"]>,
    AllShapesMatch<["condition", "result"]>]> {
  let summary = "Choice between two tensors, elementwise";
  let description = "`condition ? on_true : on_false` at every index, bits as they are; all three have one shape.";
  let results = (outs Reprise_Tensor:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($result)";
  let hasFolder = 1;
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return countResultElements(*this); }";
}

def CastOp : Reprise_PureOp<"cast", (ins Reprise_Tensor:$operand),
    [ElementwiseOpInterface, AllShapesMatch<["operand", "result"]>]> {
  let summary = "Conversion of the element type";
  let description = [{
    Float to float rounds to nearest even; float to integer truncates and saturates, NaN gives 0; to i1: x != 0; from
    i1: 0 or 1; integers extend by sign or wrap.
  }];
  let results = (outs Reprise_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return countResultElements(*this); }";
}

def BitcastOp : Reprise_PureOp<"bitcast", (ins Reprise_WordTensor:$operand),
    [ElementwiseOpInterface, AllShapesMatch<["operand", "result"]>]> {
  let summary = "The bits of an element as another type of its width";
  let description = "f32 as i32, f64 as i64, and back. The bits of a NaN are not promised.";
  let results = (outs Reprise_WordTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasVerifier = 1;
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 0; }";
}

#endif
