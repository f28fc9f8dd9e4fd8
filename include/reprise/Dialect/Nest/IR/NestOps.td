// reprise: launches as loop nests over elements.
#ifndef NEST_OPS
#define NEST_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Nest_Dialect : Dialect {
  let name = "nest";
  let cppNamespace = "::reprise::nests";
  let summary = "Launches as loop nests over elements";
  let description = [{
    A `nest.program` is what a target makes of the body of a launch: `nest.kernel` after `nest.kernel`, and beside them
    ops that run alone. All workers finish a kernel before the next one begins.

    **A kernel** iterates over outer × rows × columns, each of which is a product of loops. Its body says what one
    iteration computes. Elements are tensors of rank 0, so that the ops of the model graph stand in a kernel as they
    are: `reprise.gelu %x : tensor<bf16>` is the arithmetic of one element. Each op computes in the type and rounds as
    the model's op does. Ops of this dialect are what moves elements: reads and stores, reductions in the
    [canonical order](../../explanation/Bits.md), draws.

    **A place** is a sum in brackets, `[%i * 3072 + %j + 5]`. Its terms are loops, positions that elements say
    (`nest.position`) and quotients (`nest.quotient`). A place in a buffer counts elements.

    **Values are lazy**: an op is computed where something that is stored asks for it, once per kernel, row or column,
    as what it varies with allows. Only one side of a `nest.choose` is computed, so that reads in the other side may lie
    outside of their buffer.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

def Nest_Buffer : TypeDef<Nest_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "A buffer that a kernel reads or writes";
}

def Nest_Element : Type<CPred<"::reprise::nests::isElement($_self)">, "tensor of rank 0", "::mlir::RankedTensorType">;
def Nest_Word : Type<CPred<"::reprise::isI64Scalar($_self)">, "tensor<i64>", "::mlir::RankedTensorType">,
    BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI64Type())">;
def Nest_Size : ConfinedAttr<I64Attr, [IntPositive]>;
def Nest_Sizes : ConfinedAttr<DenseI64ArrayAttr, [DenseArrayStrictlyPositive<DenseI64ArrayAttr>]>;

def Nest_Fold : I64EnumAttr<"Fold", "how elements combine", [
  I64EnumAttrCase<"Sum", 0, "sum">, I64EnumAttrCase<"Product", 1, "product">, I64EnumAttrCase<"Max", 2, "max">,
  I64EnumAttrCase<"Min", 3, "min">]> {
  let cppNamespace = "::reprise::nests";
}

def Nest_Stored : I64EnumAttr<"Stored", "what a kernel stores", [
  I64EnumAttrCase<"Elements", 0, "elements">, I64EnumAttrCase<"Rows", 1, "rows">,
  I64EnumAttrCase<"Single", 2, "single">, I64EnumAttrCase<"RowParts", 3, "row_parts">,
  I64EnumAttrCase<"ColumnParts", 4, "column_parts">]> {
  let cppNamespace = "::reprise::nests";
}

def Nest_RowMemory : I64EnumAttr<"RowMemory", "which elements of rows wait in shared memory", [
  I64EnumAttrCase<"None", 0, "none">, I64EnumAttrCase<"Shared", 1, "shared">, I64EnumAttrCase<"All", 2, "all">]> {
  let cppNamespace = "::reprise::nests";
}

def Nest_ScheduleAttr : AttrDef<Nest_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "How a target runs a kernel";
  let description = [{
    - `width` lanes run along the innermost columns; with `runs`, each run of the innermost loop ends in a masked vector.
    - An item of work has `rows` and `columns`.
    - On a GPU `threads` share an item, a block has `block` threads, and a multiprocessor has registers for `together`
      blocks at once; on a CPU all three are 0.
    - `memory` tells which elements of a row wait in shared memory: none, those that several passes read (`shared`), or
      all that are reduced (`all`).

    A target writes it once; passes over rows, scratch and instructions follow from it and the kernel.
  }];
  let parameters = (ins "int64_t":$width, DefaultValuedParameter<"bool", "false">:$runs, "int64_t":$rows,
      "int64_t":$columns, DefaultValuedParameter<"int64_t", "0">:$threads, DefaultValuedParameter<"int64_t", "0">:$block,
      DefaultValuedParameter<"int64_t", "0">:$together,
      DefaultValuedParameter<"::reprise::nests::RowMemory", "::reprise::nests::RowMemory::None">:$memory);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

class Nest_Op<string mnemonic, list<Trait> traits = []> : Op<Nest_Dialect, mnemonic, traits>;

/// A sum of indices: one coefficient per index, and last what is added.
class Nest_PlaceOp<string mnemonic, dag leading, dag rest = (ins), list<Trait> traits = []>
    : Nest_Op<mnemonic, !listconcat([Pure], traits)> {
  let arguments = !con(leading, (ins Variadic<Index>:$indices, DenseI64ArrayAttr:$coefficients), rest);
  let hasVerifier = 1;
  let extraClassDeclaration = "Place getPlace() { return Place(getIndices(), getCoefficients()); }";
  let extraClassDefinition = "::llvm::LogicalResult $cppClass::verify() { return verifyPlace(*this, getIndices(), getCoefficients()); }";
}

def NestProgramOp : Nest_Op<"program", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "Nests of the body of a launch";
  let description = [{
    `elements` is the number of elements of the largest value, and `shared` the bytes of scratch that its kernels share.

    ```mlir
    nest.program @softmax elements 96 shared 0 { … }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$elements, I64Attr:$shared);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `elements` $elements `shared` $shared attr-dict-with-keyword $body";
}

def KernelOp : Nest_Op<"kernel", [IsolatedFromAbove, SingleBlock, NoTerminator,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "A loop nest over elements";
  let description = [{
    Loops are the factors of outer, rows and columns, in this order. Reductions of last dimensions run along all columns
    of a row, the others along all rows of an outer entry. `strides` are the distances, in elements, along all loops in
    what `nest.store elements` writes; without them it is row-major.

    Buffers are arguments of the launch (`input`), what it stores (`output`), its scratch (`shared`, behind `+` the bytes
    from its start), and the numbers of its random streams (`stream`).

    A target that has decided how to run the kernel says so in `schedule`.

    ```mlir
    nest.kernel rows(%i = 8) columns(%j = 96) buffers(%x = input 0, %y = output 0) {
      %0 = nest.read %x[%i * 96 + %j] : tensor<f32>
      %1 = nest.reduce max %0 : tensor<f32>
      %2 = reprise.sub %0, %1 : tensor<f32>
      nest.store elements %2, %y : tensor<f32>
    }
    ```
  }];
  let arguments = (ins Nest_Sizes:$outer, Nest_Sizes:$rows, Nest_Sizes:$columns, DenseI64ArrayAttr:$strides,
      DenseI64ArrayAttr:$slots, OptionalAttr<Nest_ScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<Kernel>($outer, $rows, $columns, $strides, $slots, $schedule, $body) attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    Shape getShape();
    ::mlir::Block &getBlock() { return getBody().front(); }
    /// The buffers, one per argument behind those of the loops.
    ::llvm::SmallVector<BufferSlot> getBuffers();
    /// The number of a buffer among them.
    unsigned numberOf(::mlir::Value buffer);
  }];
}

def AloneOp : Nest_Op<"alone", [IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "An op of the model that has kernels of its own";
  let description = [{
    Buffers are those of the op's operands, and then of those of its results that are `stored`.

    ```mlir
    nest.alone buffers(input 0, output 0) stored [true] {
    ^bb0(%x: tensor<8x8xf32>):
      %0 = reprise.cumsum %x dim 1 : tensor<8x8xf32>
    }
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$slots, DenseBoolArrayAttr:$stored);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`buffers` `` custom<Slots>($slots) `stored` $stored attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Operation *getOp() { return &getBody().front().front(); }
    ::llvm::SmallVector<BufferSlot> getBuffers();
  }];
}

def ReadOp : Nest_PlaceOp<"read", (ins Nest_Buffer:$buffer)> {
  let summary = "The element at a place of a buffer";
  let results = (outs Nest_Element:$result);
  let assemblyFormat = "$buffer `` custom<Place>($indices, $coefficients) attr-dict `:` type($result)";
}

def NumberOp : Nest_PlaceOp<"number", (ins)> {
  let summary = "A place as a number, rounded once";
  let results = (outs Nest_Element:$result);
  let assemblyFormat = "`` custom<Place>($indices, $coefficients) attr-dict `:` type($result)";
}

def PositionOp : Nest_Op<"position", [Pure]> {
  let summary = "An index that an element says, clamped to [0, size - 1]";
  let arguments = (ins Nest_Element:$element, Nest_Size:$size);
  let results = (outs Index:$result);
  let assemblyFormat = "$element `below` $size attr-dict `:` type($element)";
}

def QuotientOp : Nest_PlaceOp<"quotient", (ins), (ins Nest_Size:$divisor, Nest_Size:$size)> {
  let summary = "A place divided by a number; the result is below `size` wherever it is used";
  let results = (outs Index:$result);
  let assemblyFormat = "`` custom<Place>($indices, $coefficients) `by` $divisor `below` $size attr-dict";
}

def DrawOp : Nest_PlaceOp<"draw", (ins Nest_Word:$stream, Nest_Word:$seed, Nest_Word:$offset,
    Variadic<Nest_Word>:$origin), (ins OptionalAttr<DenseI64ArrayAttr>:$global), [AttrSizedOperandSegments, SingleBlock, NoTerminator]> {
  let summary = "An op that draws, with the words of one element";
  let description = [{
    The element takes word `offset` + place, of the stream and the seed. An origin, one number per dimension of the
    tensor that is drawn, moves the place by its row-major position in `global`.

    ```mlir
    %1 = nest.draw[%i * 96 + %j] stream %s seed %k offset %o {
      %2 = reprise.dropout %0 {rate = 0.1 : f64} : tensor<f32>
    } : tensor<f32>
    ```
  }];
  let results = (outs Nest_Element:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `` custom<Place>($indices, $coefficients) `stream` $stream `seed` $seed `offset` $offset
    (`origin` $origin^ `in` $global)? $body attr-dict `:` type($result)
  }];
  let extraClassDeclaration = [{
    Place getPlace() { return Place(getIndices(), getCoefficients()); }
    RandomOpInterface getOp() { return ::llvm::cast<RandomOpInterface>(getBody().front().front()); }
    /// The element that the op changes; null if it only draws.
    ::mlir::Value getElement();
  }];
  let extraClassDefinition = "";
}

def ChooseOp : Nest_PlaceOp<"choose", (ins Nest_Element:$inside, Nest_Element:$outside),
    (ins I64Attr:$lower, I64Attr:$upper, DefaultValuedAttr<Nest_Size, "1">:$step),
    [AllTypesMatch<["inside", "outside", "result"]>]> {
  let summary = "Choice between two elements by a place";
  let description = [{
    `inside` where `lower` <= place < `upper` and place - `lower` is a multiple of `step`, else `outside`.

    ```mlir
    %2 = nest.choose %0 if[%j] in 1 to 8 else %1 : tensor<f32>
    ```
  }];
  let results = (outs Nest_Element:$result);
  let assemblyFormat = [{
    $inside `if` `` custom<Place>($indices, $coefficients) `in` $lower `to` $upper (`step` $step^)? `else` $outside attr-dict
    `:` type($result)
  }];
}

def SequenceOp : Nest_Op<"sequence", [Pure, SingleBlock,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "A reduction within an element, of few steps in order";
  let description = [{
    With `over`, a sum is divided by this number.

    ```mlir
    %1 = nest.sequence sum(%k = 5) {
      %0 = nest.read %x[%k * 70 + %j] : tensor<f32>
      nest.yield %0 : tensor<f32>
    } : tensor<f32>
    ```
  }];
  let arguments = (ins Nest_Fold:$fold, Nest_Sizes:$sizes, OptionalAttr<Nest_Size>:$over);
  let results = (outs Nest_Element:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$fold `` custom<Steps>($sizes, $over, $body) attr-dict `:` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getElement() { return getBody().front().getTerminator()->getOperand(0); }
  }];
}

def YieldOp : Nest_Op<"yield", [Pure, Terminator, HasParent<"SequenceOp">]> {
  let summary = "The element of a step";
  let arguments = (ins Nest_Element:$element);
  let assemblyFormat = "$element attr-dict `:` type($element)";
}

def ReduceOp : Nest_Op<"reduce", [Pure, SameOperandsAndResultType]> {
  let summary = "A reduction over all columns of a row, in the canonical order";
  let description = "With `over`, a sum is divided by this number.";
  let arguments = (ins Nest_Fold:$fold, Nest_Element:$element, OptionalAttr<Nest_Size>:$over);
  let results = (outs Nest_Element:$result);
  let assemblyFormat = "$fold $element (`over` $over^)? attr-dict `:` type($result)";
}

def MeetOp : Nest_PlaceOp<"meet", (ins Nest_Fold:$fold, Nest_Buffer:$buffer),
    (ins Nest_Size:$parts, Nest_Size:$stride, OptionalAttr<Nest_Size>:$over)> {
  let summary = "Combines the parts of a reduction by a tree, in their place";
  let description = [{
    The parts lie at place, place + stride, … of a buffer that an earlier kernel of the program has stored parts in. With
    `over`, a sum is divided by this number.

    ```mlir
    %0 = nest.meet sum %p[%j] parts 5 by 70 : tensor<f32>
    ```
  }];
  let results = (outs Nest_Element:$result);
  let assemblyFormat = [{
    $fold $buffer `` custom<Place>($indices, $coefficients) `parts` $parts `by` $stride (`over` $over^)? attr-dict `:`
    type($result)
  }];
}

def TileOp : Nest_Op<"tile", [Pure]> {
  let summary = "The element of a contraction whose blocks the kernel runs over, not yet rounded";
  let results = (outs Nest_Element:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def StoreOp : Nest_Op<"store"> {
  let summary = "Stores elements";
  let description = [{
    - `elements`: one per iteration, and `rows`: one per row, each at its place in the order of the loops.
    - `single`: one per kernel.
    - `row_parts`: the `by` of up to 64 rows, per outer entry and column, as [part][outer][column].
    - `column_parts`: the `by` of up to 4,096 columns, per row, as [part][outer][row].

    Parts are of the type of arithmetic, not yet rounded. Without a buffer nothing is stored: other stores read the
    element off the kernel.

    ```mlir
    nest.store elements %1, %y : tensor<bf16>
    nest.store row_parts by sum %1, %p : tensor<f32>
    ```
  }];
  let arguments = (ins Nest_Stored:$what, OptionalAttr<Nest_Fold>:$fold, Nest_Element:$element,
      Optional<Nest_Buffer>:$buffer);
  let assemblyFormat = "$what (`by` $fold^)? $element (`,` $buffer^)? attr-dict `:` type($element)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isParts() { return getWhat() == Stored::RowParts || getWhat() == Stored::ColumnParts; }
    /// Tells whether the op stores elements of all columns, or reduces them.
    bool isOfColumns() { return isParts() || getWhat() == Stored::Elements; }
    ::mlir::Type getElementType() { return getElement().getType().getElementType(); }
  }];
}

#endif
