// reprise: what becomes of an op when the batch is cut.
#ifndef REPRISE_INTERFACES_BATCHABLEINTERFACE
#define REPRISE_INTERFACES_BATCHABLEINTERFACE

include "mlir/IR/OpBase.td"

def BatchableOpInterface : OpInterface<"BatchableOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{
    How an op slices along a dimension, or reduces it: its dimensions as products of factors. Micro-batches cut the
    factor that the batch is. Implementations are external models in lib/reprise/Dialect/Reprise/Batching.
  }];
  let methods = [
    InterfaceMethod<"The factors of the op's dimensions.", "::reprise::OpFactors", "getFactors">,
    InterfaceMethod<[{
      Brings attributes into line with the op's operands and result types, which are parts of what they were.
    }], "void", "adjustToParts", (ins), [{}], [{}]>
  ];
}

#endif
