// reprise: the dialect, its attributes and the classes that its ops derive from.
#ifndef REPRISE_BASE
#define REPRISE_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "reprise/Dialect/Reprise/IR/PlanEnums.td"
include "reprise/Interfaces/CostInterface.td"
include "reprise/Interfaces/KindInterfaces.td"
include "reprise/Interfaces/RandomInterface.td"

def Reprise_Dialect : Dialect {
  let name = "reprise";
  let cppNamespace = "::reprise";
  let summary = "The graph of a training step on builtin tensors";
  let description = [{
    Ops of a model graph work on ranked, statically shaped builtin tensors of f32, f64, bf16, f16, i32, i64 and i1. Ops
    are pure, except for random draws before the `random` phase. Arithmetic is fixed by op, types and shapes: see
    docs/explanation/Bits.md.

    Arguments of an entry function carry `reprise.role`, `reprise.name`, `reprise.init` and `reprise.batch_dim`; its
    results carry `reprise.name`. Ops may carry `reprise.label`. The page of [attributes](Attributes.md) lists these
    attributes and all attributes that passes add.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

//===-- Enumerations and attributes ---------------------------------------------------------------------------===//

class Reprise_WordAttr<EnumInfo words, string name> : EnumAttr<Reprise_Dialect, words, name> {
  let assemblyFormat = "`<` $value `>`";
}
def Reprise_LabelAttr : Reprise_WordAttr<Reprise_Label, "label">;
def Reprise_DecisionAttr : Reprise_WordAttr<Reprise_Decision, "decision">;
def Reprise_ReasonAttr : Reprise_WordAttr<Reprise_Reason, "reason">;
def Reprise_ChoiceAttr : Reprise_WordAttr<Reprise_Choice, "choice">;
def Reprise_FormAttr : Reprise_WordAttr<Reprise_Form, "form">;

def Reprise_PlanAttr : AttrDef<Reprise_Dialect, "Plan"> {
  let mnemonic = "plan";
  let summary = "A plan of a device program";
  let description = [{
    A plan stands on its program as `reprise.plan`, and `reprise-apply-plan` applies it to the program. Every part may
    be missing, and none changes a bit of a result.

    - `form` lists the steps that change the program before values are chosen, and `bodies` the choices for the bodies
      of its loops, one list per scope of bodies. Without `bodies` the step `bodies_recomputed` recomputes every value.
    - `offloaded` lists the numbers of values that wait on the host, as `reprise-offload-values` counts them.
    - `order` lists the ops of the program in that form by their numbers, in the order in which they run.
    - `choices` has one choice per result of the ops of all gradients, forward and backward ones, in the order of the
      program in that form; those of backward ops mean nothing. Without `choices` the labels are followed.
    - `executions` names replays instead of choices, and the ops that read some of them. Each entry has the number of an
      op among those of the gradients, in the order of the program in that form; the number of the replay, or 0 for the
      op itself; the op of the program before which the replay stands, as `order` counts its places, or -1; and for each
      operand the number of the replay that is read.
    - `enough_arena` is an arena in bytes that need not be made smaller; 0 asks for the smallest one.

    ```mlir
    #reprise.plan<form = [#reprise.form<deferred>], choices = [#reprise.choice<save>, #reprise.choice<replay>]>
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::ArrayAttr">:$form, OptionalParameter<"::mlir::ArrayAttr">:$bodies,
      OptionalParameter<"::mlir::DenseI64ArrayAttr">:$offloaded, OptionalParameter<"::mlir::DenseI32ArrayAttr">:$order,
      OptionalParameter<"::mlir::ArrayAttr">:$choices, OptionalParameter<"::mlir::ArrayAttr">:$executions,
      DefaultValuedParameter<"int64_t", "0">:$enough_arena);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool has(::reprise::PlanFormStep step) const;
  }];
}

def Reprise_ComparePredicate : Reprise_Enum<"ComparePredicate", "a comparison; with NaN only ne holds", [
  I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>, I32EnumAttrCase<"le", 3>,
  I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]>;
def Reprise_ComparePredicateAttr : EnumAttr<Reprise_Dialect, Reprise_ComparePredicate, "predicate">;

def Reprise_GeluForm : Reprise_Enum<"GeluForm", "how gelu is computed", [
  I32EnumAttrCase<"erf", 0>, I32EnumAttrCase<"tanh", 1>]>;
def Reprise_GeluFormAttr : EnumAttr<Reprise_Dialect, Reprise_GeluForm, "gelu_form">;

class Reprise_Init<string name, string attrMnemonic, string text, dag fields> : AttrDef<Reprise_Dialect, name> {
  let mnemonic = attrMnemonic;
  let summary = text;
  let parameters = fields;
}
def Reprise_NormalInit : Reprise_Init<"NormalInit", "normal", "initial values mean + std·z",
    (ins "::mlir::FloatAttr":$mean, "::mlir::FloatAttr":$std)> { let hasCustomAssemblyFormat = 1; }
def Reprise_UniformInit : Reprise_Init<"UniformInit", "uniform", "initial values in [low, high)",
    (ins "::mlir::FloatAttr":$low, "::mlir::FloatAttr":$high)> { let hasCustomAssemblyFormat = 1; }
def Reprise_UniformIntInit : Reprise_Init<"UniformIntInit", "uniform_int", "initial integers in [low, high)",
    (ins "int64_t":$low, "int64_t":$high)> { let assemblyFormat = "`<` $low `,` $high `>`"; let genVerifyDecl = 1; }
def Reprise_FillInit : Reprise_Init<"FillInit", "fill", "one initial value everywhere", (ins "::mlir::FloatAttr":$value)> {
  let hasCustomAssemblyFormat = 1;
}

// Attribute for a rate or probability: any float attribute; its value is read as f64.
def Reprise_RateAttr : Attr<CPred<"::llvm::isa<::mlir::FloatAttr>($_self)">, "a float attribute"> {
  let storageType = "::mlir::FloatAttr";
  let returnType = "double";
  let convertFromStorage = "$_self.getValueAsDouble()";
  let constBuilderCall = "$_builder.getF64FloatAttr($0)";
}

//===-- Types --------------------------------------------------------------------------------------------------===//

def Reprise_Float : AnyTypeOf<[F32, F64, BF16, F16]>;
def Reprise_Integer : AnyTypeOf<[I32, I64]>;
def Reprise_Numeric : AnyTypeOf<[F32, F64, BF16, F16, I32, I64]>;
def Reprise_Element : AnyTypeOf<[F32, F64, BF16, F16, I32, I64, I1]>;

class Reprise_TensorOf<Type element, string text> : Type<
    And<[StaticShapeTensorOf<[element]>.predicate]>, "statically shaped tensor of " # text, "::mlir::RankedTensorType">;
def Reprise_Tensor : Reprise_TensorOf<Reprise_Element, "f32, f64, bf16, f16, i32, i64 or i1">;
def Reprise_FloatTensor : Reprise_TensorOf<Reprise_Float, "f32, f64, bf16 or f16">;
def Reprise_IntegerTensor : Reprise_TensorOf<Reprise_Integer, "i32 or i64">;
def Reprise_NumericTensor : Reprise_TensorOf<Reprise_Numeric, "f32, f64, bf16, f16, i32 or i64">;
def Reprise_BoolTensor : Reprise_TensorOf<I1, "i1">;
def Reprise_BitsTensor : Reprise_TensorOf<AnyTypeOf<[I1, I32, I64]>, "i1, i32 or i64">;
def Reprise_WordTensor : Reprise_TensorOf<AnyTypeOf<[F32, F64, I32, I64]>, "f32, f64, i32 or i64">;
def Reprise_I64Tensor : Reprise_TensorOf<I64, "i64">;
def Reprise_I64Scalar : Type<
    CPred<"::reprise::isI64Scalar($_self)">, "tensor<i64>", "::mlir::RankedTensorType">, BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI64Type())">;

//===-- Op classes ---------------------------------------------------------------------------------------------===//

// Base of all ops. Every op may be a replay (a number other than 0); the mark is an inherent attribute, so that CSE
// does not merge a replay with its original.
class Reprise_Op<string mnemonic, dag operands, list<Trait> traits = []>
    : Op<Reprise_Dialect, mnemonic, traits> {
  let arguments = !con(operands, (ins DefaultValuedAttr<I64Attr, "0">:$replay));
}

class Reprise_PureOp<string mnemonic, dag operands, list<Trait> traits = []>
    : Reprise_Op<mnemonic, operands, !listconcat([Pure, DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>], traits)>;

#endif
