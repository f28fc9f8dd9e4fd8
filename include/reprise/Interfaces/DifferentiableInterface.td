// reprise: an op's own derivative rule.
#ifndef REPRISE_INTERFACES_DIFFERENTIABLEINTERFACE
#define REPRISE_INTERFACES_DIFFERENTIABLEINTERFACE

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{
    Builds the vector-Jacobian product of an op from dialect ops, so that it can be differentiated again. The backward
    pass must keep the values that the rule reads. Implementations are external models in
    lib/reprise/Dialect/Reprise/Derivatives.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the cotangents of the operands at the builder's insertion point. `resultCotangents` holds one value per
      result, null for a zero cotangent (never all null). `wanted` holds the type of the cotangent that each operand
      asks for, null if none is needed: the operand's own type, or its shape in f32 for a use of a 16-bit parameter,
      whose cotangent must not be rounded yet. `operandCotangents` has one null entry per operand; the rule fills the
      wanted entries, or leaves them null for a zero.
    }], "void", "buildPullback",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::ValueRange":$resultCotangents,
           "::llvm::ArrayRef<::mlir::RankedTensorType>":$wanted,
           "::llvm::MutableArrayRef<::mlir::Value>":$operandCotangents)>
  ];
}

#endif
