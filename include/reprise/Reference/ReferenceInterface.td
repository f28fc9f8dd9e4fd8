// reprise: interface of ops that the reference interpreter executes
#ifndef REPRISE_REFERENCE_REFERENCEINTERFACE
#define REPRISE_REFERENCE_REFERENCEINTERFACE

include "mlir/IR/OpBase.td"

def ReferenceOpInterface : OpInterface<"ReferenceOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{
    Executes one op on whole tensors, slowly and obviously. Implementations are external models in lib/reprise/Reference
    and share only kernels/common/Philox.h with the code generator.
  }];
  let methods = [
    InterfaceMethod<"Computes the results from the operands.", "::llvm::SmallVector<::reprise::Tensor>", "evaluate",
      (ins "::llvm::ArrayRef<const ::reprise::Tensor *>":$operands)>
  ];
}

#endif
