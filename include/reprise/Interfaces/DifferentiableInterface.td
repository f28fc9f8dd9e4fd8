// reprise: an op's own derivative rule.
#ifndef REPRISE_INTERFACES_DIFFERENTIABLEINTERFACE
#define REPRISE_INTERFACES_DIFFERENTIABLEINTERFACE

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{
    The vector-Jacobian product of an op, built from dialect ops, so that it can be differentiated again. What the
    backward pass must keep is what the rule reads. Implementations are external models in
    lib/reprise/Dialect/Reprise/Derivatives.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the cotangents of the operands at the builder's insertion point. `resultCotangents` holds one value per
      result, null where the cotangent is zero (never all null). `operandCotangents` comes with one null entry per
      operand; the rule fills the entries with `wanted[i]` set, or leaves them null for a zero.
    }], "void", "buildPullback",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::ValueRange":$resultCotangents,
           "::llvm::ArrayRef<bool>":$wanted, "::llvm::MutableArrayRef<::mlir::Value>":$operandCotangents)>
  ];
}

#endif
