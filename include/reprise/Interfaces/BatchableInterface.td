// reprise: interface of ops that a cut of the batch can slice
#ifndef REPRISE_INTERFACES_BATCHABLEINTERFACE
#define REPRISE_INTERFACES_BATCHABLEINTERFACE

include "mlir/IR/OpBase.td"

def BatchableOpInterface : OpInterface<"BatchableOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{
    Describes how an op slices or reduces along a dimension: its dimensions are products of factors. Micro-batches cut
    the factor of the batch. Implementations are external models in lib/reprise/Dialect/Reprise/Batching.
  }];
  let methods = [
    InterfaceMethod<"Returns the factors of the op's dimensions.", "::reprise::OpFactors", "getFactors">,
    InterfaceMethod<[{
      Adjusts attributes to operands and result types that are parts of the original ones.
    }], "void", "adjustToParts", (ins), [{}], [{}]>
  ];
}

#endif
