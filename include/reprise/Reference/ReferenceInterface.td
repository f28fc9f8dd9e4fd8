// reprise: how the reference interpreter executes an op.
#ifndef REPRISE_REFERENCE_REFERENCEINTERFACE
#define REPRISE_REFERENCE_REFERENCEINTERFACE

include "mlir/IR/OpBase.td"

def ReferenceOpInterface : OpInterface<"ReferenceOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{
    The slow, obvious execution of one op on whole tensors. Implementations are external models in
    lib/reprise/Reference and share nothing with the code generator but kernels/common/Philox.h.
  }];
  let methods = [
    InterfaceMethod<"Computes the results from the operands.", "::llvm::SmallVector<::reprise::Tensor>", "evaluate",
      (ins "::llvm::ArrayRef<const ::reprise::Tensor *>":$operands)>
  ];
}

#endif
