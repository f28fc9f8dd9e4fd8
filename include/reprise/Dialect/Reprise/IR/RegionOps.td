// reprise: names, blocks, checkpoints and differentiation.
#ifndef REPRISE_REGION_OPS
#define REPRISE_REGION_OPS

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "reprise/Dialect/Reprise/IR/RepriseBase.td"

// Name of a value. The op counts as a write, so that no clean-up drops a name, and its label, before the label phase
// has read it.
def NameOp : Reprise_Op<"name", (ins Reprise_Tensor:$operand, StrAttr:$name),
    [AllTypesMatch<["operand", "result"]>, MemoryEffects<[MemWrite]>, LoopOpInterface,
     DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Names a value";
  let description = [{
    The result is the operand. A label on this op, or matched by its name, is the innermost label of the named value,
    even if no op reads the result.
  }];
  let results = (outs Reprise_Tensor:$result);
  let assemblyFormat = "$operand $name attr-dict `:` type($result)";
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 0; }";
}

def OffloadOp : Reprise_PureOp<"offload", (ins Reprise_Tensor:$operand), [AllTypesMatch<["operand", "result"]>]> {
  let summary = "A value that may wait in the memory of the host";
  let description = [{
    The result is the operand. If a plan replays this op, no value is computed again: the operand is copied to the
    memory of the host once it is complete, and the replay copies it back. `reprise-offload-values` puts the op behind
    the values that an offload label or a plan names.
  }];
  let results = (outs Reprise_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 0; }";
}

def PullOp : Reprise_PureOp<"pull", (ins FlatSymbolRefAttr:$peer, ConfinedAttr<I64Attr, [IntNonNegative]>:$tag)> {
  let summary = "An argument of another device program";
  let description = [{
    The result is the argument that `peer` sends with `tag`, before any program changes it. If a plan replays this op,
    the value is sent again, so that it need not stay in memory. `exec-repeat-sends` makes the other program send the
    value as often as this program has the op.

    ```mlir
    %part = reprise.pull from @train_1 tag 3 : tensor<16x512xf32>
    ```
  }];
  let results = (outs Reprise_Tensor:$result);
  let assemblyFormat = "`from` $peer `tag` $tag attr-dict `:` type($result)";
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 0; }";
}

def YieldOp : Op<Reprise_Dialect, "yield", [Pure, Terminator, ReturnLike]> {
  let summary = "Results of a region";
  let description = "Ends the body of a block, a checkpoint or a value_and_grad: its operands are the body's results.";
  let hasVerifier = 1;
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

class Reprise_RegionOp<string mnemonic, dag operands>
    : Op<Reprise_Dialect, mnemonic, [RecursiveMemoryEffects, SingleBlock, NoRegionArguments]> {
  let arguments = operands;
  let results = (outs Variadic<Reprise_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
}

def BlockOp : Reprise_RegionOp<"block", (ins)> {
  let summary = "A replay unit, such as a layer";
  let description = [{
    Marks its body as one unit of rematerialization and has no other effect. The body may read values from above.
  }];
  let assemblyFormat = "$body attr-dict (`:` type($results)^)?";
}

def CheckpointOp : Reprise_RegionOp<"checkpoint", (ins OptionalAttr<StrAttr>:$policy)> {
  let summary = "A block with a policy";
  let description = [{
    A block whose policy labels the ops inside: a built-in policy, a rule file or `@NAME` of a policy in the IR. Without
    a policy all ops are `prefer_recompute`.
  }];
  let assemblyFormat = "(`policy` $policy^)? $body attr-dict (`:` type($results)^)?";
}

def CustomVjpOp : Op<Reprise_Dialect, "custom_vjp", [AttrSizedOperandSegments, RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Values whose derivative is given";
  let description = [{
    The results are the primals. Autodiff does not differentiate the ops that compute them: the body receives one
    cotangent for each primal of floats and yields the cotangents of the inputs, as the rule of `jax.custom_vjp` does.
    Residuals are values from above that the body reads. A second derivative goes through the ops of the body and
    through the ops that compute the residuals. Behind autodiff the primals stand for the results.

    ```mlir
    %y = reprise.custom_vjp %p wrt %x {
    ^bb0(%dy: tensor<4xf32>):
      %dx = reprise.mul %dy, %mask : tensor<4xf32>
      reprise.yield %dx : tensor<4xf32>
    } : tensor<4xf32> wrt tensor<4xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<Reprise_Tensor>:$primals, Variadic<Reprise_FloatTensor>:$inputs);
  let results = (outs Variadic<Reprise_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $primals `wrt` $inputs $body attr-dict `:` type($primals) `wrt` type($inputs) `->` type($results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the primal that stands for `result`.
    ::mlir::Value getPrimalOf(::mlir::OpResult result) { return getPrimals()[result.getResultNumber()]; }
  }];
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 0; }";
}

def ValueAndGradOp : Op<Reprise_Dialect, "value_and_grad",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Results of a function and the gradients of scalar results";
  let description = [{
    Returns all results of the function, then, for every result listed in `of` (0 if none is listed), one gradient per
    argument listed in `wrt`. All other results have a zero cotangent. The body may read values from above, which count
    as constants. With a symbol the op is a call: `import` replaces the symbol by a region with its own copy of the
    body.

    ```mlir
    %loss, %g = reprise.value_and_grad @loss(%x, %w) wrt [1] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
    %loss, %g = reprise.value_and_grad (%a = %x, %b = %w) wrt [1] { … reprise.yield %l : tensor<f32> } : …
    ```
  }];
  let arguments = (ins OptionalAttr<FlatSymbolRefAttr>:$callee, Variadic<Reprise_Tensor>:$operands,
      DenseI64ArrayAttr:$wrt, DefaultValuedAttr<DenseI64ArrayAttr, "{0}">:$of);
  let results = (outs Variadic<Reprise_Tensor>:$results);
  let regions = (region MaxSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the number of results of the differentiated function itself.
    int64_t getNumPrimalResults() { return getNumResults() - getWrt().size() * getOf().size(); }
  }];
}

#endif
