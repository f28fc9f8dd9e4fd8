// reprise: pause of a step
#ifndef REPRISE_PAUSE_OPS
#define REPRISE_PAUSE_OPS

include "reprise/Dialect/Reprise/IR/RepriseBase.td"

// Pause of a step. The op counts as a write, so that it stays if no op reads a late value, and is never merged.
def PauseOp : Reprise_Op<"pause", (ins Variadic<Reprise_Tensor>:$early, Variadic<Reprise_Tensor>:$late),
    [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Stops a step until the caller resumes it";
  let description = [{
    The results are the late operands: inputs that the caller has only after the step has stopped here, such as
    cotangents that it computes from the early values. No other op may read these inputs, so every op that depends on
    them comes behind the pause. The early values are complete before it. All other values that the step has kept stay
    in the arena meanwhile.

    A step has at most one pause, and none in a loop. It is differentiated as the identity of its late operands.

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
