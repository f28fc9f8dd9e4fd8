// reprise: constants and data movement.
#ifndef REPRISE_SHAPE_OPS
#define REPRISE_SHAPE_OPS

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "reprise/Dialect/Reprise/IR/RepriseBase.td"

def ConstantOp : Reprise_PureOp<"constant", (ins ElementsAttr:$value),
    [ConstantLike, LoopOpInterface, AllTypesMatch<["value", "result"]>]> {
  let summary = "A constant tensor";
  let description = [{
    The value is dense or dense_resource. A resource holds the elements as they lie in memory: little endian, one byte
    per i1.
  }];
  let results = (outs Reprise_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{
    build($_builder, $_state, value.getType(), value);
  }]>];
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 0; }";
}

def IotaOp : Reprise_PureOp<"iota", (ins I64Attr:$dim), [LoopOpInterface]> {
  let summary = "The index along one dimension";
  let description = "`result[i0, i1, …] = i_dim`, rounded once to the element type.";
  let results = (outs Reprise_NumericTensor:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 0; }";
}

class Reprise_ViewOp<string mnemonic, dag operands, list<Trait> traits = []>
    : Reprise_PureOp<mnemonic, operands, !listconcat([DeclareOpInterfaceMethods<ViewOpInterface>], traits)> {
  let results = (outs Reprise_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 0; }";
}

def BroadcastOp : Reprise_ViewOp<"broadcast", (ins Reprise_Tensor:$operand, DenseI64ArrayAttr:$dims)> {
  let summary = "Repeats a tensor along new dimensions";
  let description = [{
    Dimension d of the operand becomes dimension `dims[d]` of the result, of the same size; `dims` ascends. The operand
    repeats along all other dimensions.
  }];
  let assemblyFormat = "$operand `dims` $dims attr-dict `:` `(` type($operand) `)` `->` type($result)";
}

def ReshapeOp : Reprise_ViewOp<"reshape", (ins Reprise_Tensor:$operand)> {
  let summary = "Changes the shape; the elements keep their row-major order";
  let description = "Element n of the result, counted in row-major order, is element n of the operand.";
  let assemblyFormat = "$operand attr-dict `:` `(` type($operand) `)` `->` type($result)";
  let hasCanonicalizer = 1;
}

def TransposeOp : Reprise_ViewOp<"transpose", (ins Reprise_Tensor:$operand, DenseI64ArrayAttr:$permutation),
    [InferTypeOpAdaptor]> {
  let summary = "Permutes dimensions";
  let description = "Dimension d of the result is dimension `permutation[d]` of the operand.";
  let assemblyFormat = "$operand $permutation attr-dict `:` `(` type($operand) `)` `->` type($result)";
  let hasCanonicalizer = 1;
}

def SliceOp : Reprise_ViewOp<"slice", (ins Reprise_Tensor:$operand, DenseI64ArrayAttr:$starts,
    DenseI64ArrayAttr:$limits, DenseI64ArrayAttr:$strides), [InferTypeOpAdaptor]> {
  let summary = "A strided window";
  let description = "`result[i] = operand[starts + i * strides]`, for indices below `limits`.";
  let assemblyFormat = [{
    $operand `from` $starts `to` $limits `by` $strides attr-dict `:` `(` type($operand) `)` `->` type($result)
  }];
  let hasCanonicalizer = 1;
}

def PadOp : Reprise_PureOp<"pad", (ins Reprise_Tensor:$operand, TypedAttrInterface:$value, DenseI64ArrayAttr:$low,
    DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$interior), [InferTypeOpAdaptor, LoopOpInterface]> {
  let summary = "Surrounds and interleaves with a value";
  let description = [{
    Element i of the operand goes to index `low + i * (interior + 1)`; all other elements are `value`. The size of a
    dimension n is `low + n + max(n - 1, 0) * interior + high`.
  }];
  let results = (outs Reprise_Tensor:$result);
  let assemblyFormat = [{
    $operand `with` $value `low` $low `high` $high `interior` $interior attr-dict
    `:` `(` type($operand) `)` `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 0; }";
}

def ConcatenateOp : Reprise_PureOp<"concatenate", (ins Variadic<Reprise_Tensor>:$operands, I64Attr:$dim),
    [InferTypeOpAdaptor, LoopOpInterface]> {
  let summary = "Joins tensors along one dimension";
  let description = "Dimension `dim` holds the operands one after the other; all other dimensions are equal.";
  let results = (outs Reprise_Tensor:$result);
  let assemblyFormat = "$operands `dim` $dim attr-dict `:` functional-type($operands, $result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 0; }";
}

def GatherOp : Reprise_PureOp<"gather", (ins Reprise_Tensor:$table, Reprise_IntegerTensor:$indices),
    [InferTypeOpAdaptor, LoopOpInterface, DeclareOpInterfaceMethods<IndexingOpInterface>]> {
  let summary = "Rows of a table (embedding)";
  let description = [{
    `result[i…, d…] = table[indices[i…], d…]`. Indices are clamped to [0, rows of the table - 1].
  }];
  let results = (outs Reprise_Tensor:$result);
  let assemblyFormat = "$table `[` $indices `]` attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
  let extraClassDefinition = [{
    int64_t $cppClass::getFlops() { return 0; }
    ::mlir::Value $cppClass::getPositions() { return getIndices(); }
    int64_t $cppClass::getPositionLimit() { return getTable().getType().getDimSize(0); }
  }];
}

def ScatterAddOp : Reprise_PureOp<"scatter_add", (ins Reprise_IntegerTensor:$indices, Reprise_FloatTensor:$updates),
    [AloneOpInterface, DeclareOpInterfaceMethods<IndexingOpInterface>]> {
  let summary = "Adds rows into a table of zeros, in index order";
  let description = [{
    The adjoint of `gather`: `result[indices[i…], d…] += updates[i…, d…]`, from +0, i… ascending in row-major order.
    16-bit updates are added in f32 and rounded once. Indices are clamped to [0, rows - 1].
  }];
  let results = (outs Reprise_FloatTensor:$result);
  let assemblyFormat = "$updates `at` $indices attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
  let extraClassDefinition = [{
    int64_t $cppClass::getFlops() { return getUpdates().getType().getNumElements(); }
    ::mlir::Value $cppClass::getPositions() { return getIndices(); }
    int64_t $cppClass::getPositionLimit() { return getType().getDimSize(0); }
  }];
}

def ScatterOp : Reprise_PureOp<"scatter", (ins Reprise_Tensor:$table, Reprise_IntegerTensor:$indices,
    Reprise_Tensor:$updates), [AllTypesMatch<["table", "result"]>, DeclareOpInterfaceMethods<IndexingOpInterface>,
    DeclareOpInterfaceMethods<AloneOpInterface, ["overwritesFirstOperand"]>]> {
  let summary = "Replaces rows of a table, in index order";
  let description = [{
    `result = table`, then `result[indices[i…], d…] = updates[i…, d…]` for i… ascending in row-major order: the last
    update of a row stays. Indices are clamped to [0, rows - 1].
  }];
  let results = (outs Reprise_Tensor:$result);
  let assemblyFormat = "$updates `into` $table `at` $indices attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
  let extraClassDefinition = [{
    int64_t $cppClass::getFlops() { return 0; }
    bool $cppClass::overwritesFirstOperand() { return true; }
    ::mlir::Value $cppClass::getPositions() { return getIndices(); }
    int64_t $cppClass::getPositionLimit() { return getType().getDimSize(0); }
  }];
}

def TakeAlongOp : Reprise_PureOp<"take_along", (ins Reprise_Tensor:$operand, Reprise_IntegerTensor:$indices),
    [InferTypeOpAdaptor, LoopOpInterface, DeclareOpInterfaceMethods<IndexingOpInterface>]> {
  let summary = "Elements of each row by index";
  let description = [{
    operand [b…, n], indices [b…, k]: `result[b…, j] = operand[b…, indices[b…, j]]`. Indices are clamped to [0, n - 1].
  }];
  let results = (outs Reprise_Tensor:$result);
  let assemblyFormat = "$operand `[` $indices `]` attr-dict `:` functional-type(operands, $result)";
  let extraClassDefinition = [{
    int64_t $cppClass::getFlops() { return 0; }
    ::mlir::Value $cppClass::getPositions() { return getIndices(); }
    int64_t $cppClass::getPositionLimit() { return getOperand().getType().getShape().back(); }
  }];
}

def ScatterAddAlongOp : Reprise_PureOp<"scatter_add_along", (ins Reprise_IntegerTensor:$indices,
    Reprise_FloatTensor:$updates), [AloneOpInterface, DeclareOpInterfaceMethods<IndexingOpInterface>]> {
  let summary = "Adds elements into rows of zeros, in index order";
  let description = [{
    The adjoint of `take_along`: updates and indices [b…, k], result [b…, n]: `result[b…, indices[b…, j]] +=
    updates[b…, j]`, from +0, j ascending. 16-bit updates are added in f32 and rounded once. Indices are clamped to
    [0, n - 1].
  }];
  let results = (outs Reprise_FloatTensor:$result);
  let assemblyFormat = "$updates `at` $indices attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
  let extraClassDefinition = [{
    int64_t $cppClass::getFlops() { return getUpdates().getType().getNumElements(); }
    ::mlir::Value $cppClass::getPositions() { return getIndices(); }
    int64_t $cppClass::getPositionLimit() { return getType().getShape().back(); }
  }];
}

def OneHotOp : Reprise_PureOp<"one_hot", (ins Reprise_IntegerTensor:$indices),
    [DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Rows with a single one";
  let description = [{
    `result[i…, j] = indices[i…] == j ? 1 : 0`; an index outside of the last dimension gives a row of zeros.
  }];
  let results = (outs Reprise_NumericTensor:$result);
  let assemblyFormat = "$indices attr-dict `:` functional-type($indices, $result)";
  let hasVerifier = 1;
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 0; }";
}

def DynamicSliceOp : Reprise_PureOp<"dynamic_slice", (ins Reprise_Tensor:$operand, Reprise_IntegerTensor:$starts),
    [LoopOpInterface]> {
  let summary = "A window at a computed position";
  let description = [{
    starts [rank of the operand]; `result[i] = operand[start + i]`, where each start is clamped so that the window, which
    has the result's sizes, lies inside.
  }];
  let results = (outs Reprise_Tensor:$result);
  let assemblyFormat = "$operand `at` $starts attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
  let extraClassDefinition = "int64_t $cppClass::getFlops() { return 0; }";
}

def DynamicUpdateOp : Reprise_PureOp<"dynamic_update", (ins Reprise_Tensor:$operand, Reprise_Tensor:$update,
    Reprise_IntegerTensor:$starts), [AllTypesMatch<["operand", "result"]>,
    DeclareOpInterfaceMethods<AloneOpInterface, ["overwritesFirstOperand"]>]> {
  let summary = "Replaces a window at a computed position";
  let description = [{
    starts [rank of the operand]; the result is the operand, but for `result[start + i] = update[i]`, where each start is
    clamped so that the window, which has the update's sizes, lies inside.
  }];
  let results = (outs Reprise_Tensor:$result);
  let assemblyFormat = "$update `into` $operand `at` $starts attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
  let extraClassDefinition = [{
    int64_t $cppClass::getFlops() { return 0; }
    bool $cppClass::overwritesFirstOperand() { return true; }
  }];
}

#endif
