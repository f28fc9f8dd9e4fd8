// reprise: loop with one body for many iterations
#ifndef REPRISE_LOOP_OPS
#define REPRISE_LOOP_OPS

include "reprise/Dialect/Reprise/IR/RepriseBase.td"

// The body's arguments are the carries and then the slices; the results are the carries and then the stacks. A new
// slice or stack at the end therefore moves no other value.
def LoopOp : Op<Reprise_Dialect, "loop", [AttrSizedOperandSegments, RecursiveMemoryEffects, SingleBlock]> {
  let summary = "A body that runs a fixed number of times, one iteration after the other";
  let description = [{
    A scan. Iteration k receives the carries, which start as `inits`, and row k of every tensor in `xs` (whose leading
    dimension is the trip count, at least 1); it yields the next carries and one row of every stack. The results are the
    last carries and the stacks. With `reverse` the iterations run from the last row to the first. The body may read
    values from above, which are the same in every iteration.

    ```mlir
    %h, %norms = reprise.loop 12 (%c = %x) over (%w = %weights)
        : (tensor<4x8xf32>, tensor<12x8x8xf32>) -> (tensor<4x8xf32>, tensor<12xf32>) { … reprise.yield %next, %norm : … }
    ```

    A loop is a replay unit, and so is each of its iterations: see docs/explanation/Loops.md.
  }];
  let arguments = (ins I64Attr:$trip, Variadic<Reprise_Tensor>:$inits, Variadic<Reprise_Tensor>:$xs, UnitAttr:$reverse,
      DefaultValuedAttr<I64Attr, "0">:$replay);
  let results = (outs Variadic<Reprise_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    // Creates the body with its block and arguments, but without ops.
    OpBuilder<(ins "int64_t":$trip, "::mlir::ValueRange":$inits, "::mlir::ValueRange":$xs,
        "::mlir::TypeRange":$results, CArg<"bool", "false">:$reverse)>
  ];
  let extraClassDeclaration = [{
    int64_t getNumCarries() { return getInits().size(); }
    ::mlir::Block &getBlock() { return getBody().front(); }
    ::mlir::Operation *getYield() { return &getBlock().back(); }
    ::mlir::MutableArrayRef<::mlir::BlockArgument> getCarryArguments() {
      return getBlock().getArguments().take_front(getNumCarries());
    }
    ::mlir::MutableArrayRef<::mlir::BlockArgument> getSliceArguments() {
      return getBlock().getArguments().drop_front(getNumCarries());
    }
    ::mlir::ResultRange getLastCarries() { return getResults().take_front(getNumCarries()); }
    ::mlir::ResultRange getStacks() { return getResults().drop_front(getNumCarries()); }
  }];
}

#endif
