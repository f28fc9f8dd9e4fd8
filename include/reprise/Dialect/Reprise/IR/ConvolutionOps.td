// reprise: convolution, its gradients, and pooling.
#ifndef REPRISE_CONVOLUTION_OPS
#define REPRISE_CONVOLUTION_OPS

include "reprise/Dialect/Reprise/IR/RepriseBase.td"

// Base of convolutions. Window attributes, one number per spatial dimension: steps of the window, positions of zeros
// (or nothing) before and after the image, steps inside the window.
class Reprise_ConvolutionOp<string mnemonic, dag operands, list<Trait> traits = []>
    : Reprise_PureOp<mnemonic, !con(operands, (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$low,
        DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$dilation, DefaultValuedAttr<I64Attr, "1">:$groups)),
        !listconcat([ConvolutionOpInterface], traits)> {
  let results = (outs Reprise_FloatTensor:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the type of the image [n, c, y, x], the filter [o, c / groups, r, s] or the output [n, o, y', x'], one
    /// of which is the result. One or two spatial dimensions.
    ::mlir::RankedTensorType getImageType();
    ::mlir::RankedTensorType getFilterType();
    ::mlir::RankedTensorType getOutputType();
  }];
}

def ConvolutionOp : Reprise_ConvolutionOp<"convolution", (ins Reprise_FloatTensor:$image, Reprise_FloatTensor:$filter)> {
  let summary = "Convolution";
  let description = [{
    image [n, c, spatial…], filter [o, c / groups, window…], one or two spatial dimensions; output channels are split
    over the groups in order. `result[n, o, y, x] = Σ image[n, c, y·stride + r·dilation - low, …] · filter[o, c, r, …]`:
    one chain of fma over (channel of the group, window position), row-major, from +0, in blocks of 4,096 whose results
    meet in the tree of neighbours. Positions outside the image are zero terms. 16-bit operands are widened, the result
    is rounded once.
  }];
  let assemblyFormat = [{
    $image `,` $filter `strides` $strides `low` $low `high` $high `dilation` $dilation attr-dict
    `:` functional-type(operands, $result)
  }];
}

def ConvolutionTransposeOp : Reprise_ConvolutionOp<"convolution_transpose", (ins Reprise_FloatTensor:$output,
    Reprise_FloatTensor:$filter)> {
  let summary = "Transposed convolution: the gradient of a convolution's image";
  let description = [{
    output [n, o, spatial…], filter [o, c / groups, window…], result [n, c, spatial…]; attributes and shapes are those
    of the convolution from result to output. Each result is one chain of fma over (output channel of the group, window
    position), row-major, from +0. Window positions that fall between two steps of the stride are no terms; the others
    are counted in blocks of 4,096, positions outside of output among them as zero terms.
  }];
  let assemblyFormat = [{
    $output `,` $filter `strides` $strides `low` $low `high` $high `dilation` $dilation attr-dict
    `:` functional-type(operands, $result)
  }];
}

def ConvolutionFilterOp : Reprise_ConvolutionOp<"convolution_filter", (ins Reprise_FloatTensor:$image,
    Reprise_FloatTensor:$output)> {
  let summary = "The gradient of a convolution's filter";
  let description = [{
    image [n, c, spatial…], output [n, o, spatial…], result [o, c / groups, window…]; attributes and shapes are those of
    the convolution from image to output. Each result is one chain of fma over (sample, output position), row-major, in
    blocks of 4,096; positions outside the image are zero terms.
  }];
  let assemblyFormat = [{
    $image `,` $output `strides` $strides `low` $low `high` $high `dilation` $dilation attr-dict
    `:` functional-type(operands, $result)
  }];
}

// Base of poolings. `adaptive` splits the image evenly: output i of m covers [⌊i·n/m⌋, ⌈(i+1)·n/m⌉) of n.
class Reprise_PoolOp<string mnemonic, dag operands>
    : Reprise_PureOp<mnemonic, !con(operands, (ins DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
        DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, UnitAttr:$adaptive)), [PoolOpInterface]> {
  let hasVerifier = 1;
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return countWindowTerms(*this); }";
}

def MaxPoolOp : Reprise_PoolOp<"max_pool", (ins Reprise_FloatTensor:$operand)> {
  let summary = "The maximum of each window, and its position";
  let description = [{
    operand [n, c, spatial…], one or two spatial dimensions. Windows of `window` positions at steps of `strides`, from
    `low` before the image to `high` after it; positions outside are no terms, a window must hold at least one that is
    inside. `adaptive`: output i of m covers the positions [⌊i·n/m⌋, ⌈(i+1)·n/m⌉) of n; the four attributes are then
    empty. NaN wins, -0 < +0; the first position wins a tie. `positions` counts row-major in the image's spatial
    dimensions.
  }];
  let results = (outs Reprise_FloatTensor:$result, Reprise_IntegerTensor:$positions);
  let assemblyFormat = [{
    $operand (`adaptive` $adaptive^)? `window` $window `strides` $strides `low` $low `high` $high attr-dict
    `:` functional-type($operand, results)
  }];
}

def AveragePoolOp : Reprise_PoolOp<"average_pool", (ins Reprise_FloatTensor:$operand)> {
  let summary = "The mean of each window";
  let description = [{
    The windows are those of `max_pool`. The result is the sum over the positions inside the image, row-major, in order
    from +0, divided by their number; in the compute type, rounded once.
  }];
  let results = (outs Reprise_FloatTensor:$result);
  let assemblyFormat = [{
    $operand (`adaptive` $adaptive^)? `window` $window `strides` $strides `low` $low `high` $high attr-dict
    `:` functional-type($operand, $result)
  }];
}

def AveragePoolBackwardOp : Reprise_PoolOp<"average_pool_backward", (ins Reprise_FloatTensor:$output)> {
  let summary = "The adjoint of average_pool";
  let description = [{
    output is the cotangent of an average_pool's result, and result is the cotangent of its operand. Each element is the
    sum over the windows that hold its position, row-major, in order from +0, of the window's cotangent divided by its
    number of positions.
  }];
  let results = (outs Reprise_FloatTensor:$result);
  let assemblyFormat = [{
    $output (`adaptive` $adaptive^)? `window` $window `strides` $strides `low` $low `high` $high attr-dict
    `:` functional-type($output, $result)
  }];
}

#endif
