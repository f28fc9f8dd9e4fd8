// reprise: call of a function of the host
#ifndef REPRISE_CALL_OPS
#define REPRISE_CALL_OPS

include "reprise/Dialect/Reprise/IR/RepriseBase.td"

def CustomCallOp : Reprise_PureOp<"custom_call", (ins StrAttr:$callee, Variadic<Reprise_Tensor>:$operands,
    OptionalAttr<DenseF64ArrayAttr>:$seconds, OptionalAttr<DenseI64ArrayAttr>:$workspace), [AloneOpInterface]> {
  let summary = "Calls a function that the host registers";
  let description = [{
    `callee` is `library:function`. The program that runs the step registers a callback for each library
    (`reprise_register_calls`). The callback computes the results from the operands; equal operands must give equal
    results, since a plan may replay the call, and equal calls are merged.

    `seconds` are the price of a call, of its derivative, of the second derivative and so on; the last one holds for all
    further derivatives. `workspace` are the bytes that a call allocates beside operands and results, in the same way.

    The derivative is another call. Its callee is `library:function/vjp(wanted;given)` with the numbers of the operands
    whose cotangents are wanted, and of the results whose cotangents are given. Its operands are those of the call, and
    then the given cotangents. Its results are the wanted cotangents, in the types of the operands.

    Only CPUs run calls. A call is never folded, and the interpreter refuses it.

    ```mlir
    %y = reprise.custom_call "torch:solve"(%a, %b) {seconds = array<f64: 1.0e-5>} : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let results = (outs Variadic<Reprise_Tensor>:$results);
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the seconds of a call; 0 without a price.
    double getPrice();
    /// Returns the bytes that a call allocates.
    int64_t getWorkspaceBytes();
    /// Returns the name of the derivative for the wanted operands and the given cotangents of results.
    std::string getDerivativeCallee(::llvm::ArrayRef<int64_t> wanted, ::llvm::ArrayRef<int64_t> given);
  }];
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 0; }";
}

#endif
