// reprise: where a step stops.
#ifndef REPRISE_PAUSE_OPS
#define REPRISE_PAUSE_OPS

include "reprise/Dialect/Reprise/IR/RepriseBase.td"

// Counts as a write, so that it stays where nothing reads a late value, and is never merged.
def PauseOp : Reprise_Op<"pause", (ins Variadic<Reprise_Tensor>:$early, Variadic<Reprise_Tensor>:$late),
    [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Where a step stops until it is told to go on";
  let description = [{
    The results are the late operands: inputs that the caller has at the earliest when the step has stopped here, such as
    cotangents that it computes from the early values. Nothing else may read these inputs, so what depends on them comes
    behind. The early values are there before. All other values that the step has kept stay in the arena meanwhile.

    A step has at most one, and none in a loop. It is differentiated as the identity of its late operands.

    ```mlir
    %g = reprise.pause (%y) then (%dy) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let results = (outs Variadic<Reprise_Tensor>:$results);
  let assemblyFormat = "`(` $early `)` `then` `(` $late `)` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 0; }";
}

#endif
