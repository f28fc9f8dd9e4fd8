// reprise: interfaces for kinds of ops; policies, grouping and kernels use them instead of names of ops
#ifndef REPRISE_INTERFACES_KINDINTERFACES
#define REPRISE_INTERFACES_KINDINTERFACES

include "mlir/IR/OpBase.td"

def LoopOpInterface : OpInterface<"LoopOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{Loop nests compute the op: each result element follows from elements of the operands.}];
}

def AloneOpInterface : OpInterface<"AloneOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{
    An op that no loop nest computes, since elements wait for others or go to computed places. It has kernels of its own
    on every target, which read its operands from buffers.
  }];
  let methods = [
    InterfaceMethod<[{
      True if the result may lie where operand 0 lies: every element of that is read for the last time before the same
      element of the result is written, by the same worker.
    }], "bool", "overwritesFirstOperand", (ins), [{}], [{ return false; }]>
  ];
}

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface", [LoopOpInterface]> {
  let cppNamespace = "::reprise";
  let description = [{
    An op whose result elements depend on the operands' elements at the same index only. All operands and results have
    one shape once `import` has made broadcasts explicit.
  }];
}

def ViewOpInterface : OpInterface<"ViewOpInterface", [LoopOpInterface]> {
  let cppNamespace = "::reprise";
  let description = [{
    An op whose result elements are elements of operand 0 at other indices, without arithmetic. A strided view of the
    operand may therefore stand for the result.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns the view of the result, given the view of operand 0; none if no strides express it (some reshapes).
    }], "::std::optional<::reprise::StridedView>", "composeView", (ins "const ::reprise::StridedView &":$source)>
  ];
}

def ReductionOpInterface : OpInterface<"ReductionOpInterface", [LoopOpInterface]> {
  let cppNamespace = "::reprise";
  let description = [{
    An op that reduces operand 0 over some dimensions in the canonical order (docs/explanation/Bits.md).
  }];
  let methods = [
    InterfaceMethod<"Returns the reduced dimensions, ascending.", "::llvm::SmallVector<int64_t>", "getReducedDims">,
    InterfaceMethod<"Returns how two partial results combine.", "::reprise::ReductionKind", "getReductionKind">
  ];
}

def ContractionOpInterface : OpInterface<"ContractionOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{A sum of products of operands 0 and 1 over contracted dimensions, one fma chain per result.}];
  let methods = [
    InterfaceMethod<"Returns true if the contraction has batch dimensions.", "bool", "hasBatchDims">,
    InterfaceMethod<"Returns true if its chains continue sums, in whose place the result may lie.", "bool",
      "continuesSums", (ins), [{}], [{ return false; }]>
  ];
}

def NormalizationOpInterface : OpInterface<"NormalizationOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{
    An op that reduces parts of operand 0, mostly rows, and often rewrites them (softmax, layer norm).
  }];
}

def AttentionOpInterface : OpInterface<"AttentionOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{Scaled dot-product attention, forward or backward.}];
}

def ConvolutionOpInterface : OpInterface<"ConvolutionOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{A convolution or one of its two gradients: a sum of products over windows of an image.}];
}

def PoolOpInterface : OpInterface<"PoolOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{An op that reduces windows of an image, or spreads values over them.}];
}

def IndexingOpInterface : OpInterface<"IndexingOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{An op that reads positions from an integer operand; positions out of range are clamped.}];
  let methods = [
    InterfaceMethod<"Returns the operand that holds the positions.", "::mlir::Value", "getPositions">,
    InterfaceMethod<"Returns the exclusive limit of valid positions, which start at 0.", "int64_t", "getPositionLimit">
  ];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface", [LoopOpInterface]> {
  let cppNamespace = "::reprise";
  let description = [{
    An op whose arithmetic is defined as a chain of simpler reprise ops. The kernels phase expands it inside its kernel;
    16-bit operands are widened first and each result is rounded once.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the chain on `operands` (already widened to the compute type) and returns one value per result.
    }], "::llvm::SmallVector<::mlir::Value>", "decompose",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::ValueRange":$operands)>
  ];
}

#endif
