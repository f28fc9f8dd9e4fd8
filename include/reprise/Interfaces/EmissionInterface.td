// reprise: interface that emits one element, or one vector of elements, of an elementwise op
#ifndef REPRISE_INTERFACES_EMISSIONINTERFACE
#define REPRISE_INTERFACES_EMISSIONINTERFACE

include "mlir/IR/OpBase.td"

def EmissionOpInterface : OpInterface<"EmissionOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{
    Emits the arithmetic of an elementwise op on scalars or vectors: arith, math.fma and the functions of
    reprise/Conversion/Elementary.h only, so that every target computes the same bits. 16-bit floats arrive widened to
    f32; the caller rounds the result. Implementations are external models in lib/reprise/Conversion/Emission.
  }];
  let methods = [
    InterfaceMethod<"Emits the result's element(s) from the operands' element(s).", "::mlir::Value", "emitElement",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::ValueRange":$operands)>
  ];
}

#endif
