// reprise: ops of a step that is cut into pieces for a pipeline of devices
#ifndef PIPE_OPS
#define PIPE_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Pipe_Dialect : Dialect {
  let name = "pipe";
  let cppNamespace = "::reprise::pipe";
  let summary = "A step that is cut into pieces for a pipeline of devices";
  let description = [{
    The phase `partition` uses this dialect between the cut of the batch and the programs of the devices:

    - `reprise-slice-batch` cuts the batch with `pipe.slice` and adds the contributions of micro-batches with
      `pipe.accumulate` and `pipe.merge`; `pipe-lower-microbatches` turns them into ops of the model graph.
    - `pipe-form-pieces` turns marks of stages and micro-batches into `pipe.piece`, and writes the order of the pieces
      as `pipe.schedule`.
    - `pipe-split-stages` distributes the pieces to a program per device; `pipe.send` stands behind the producer of a
      value and `pipe.receive` before its reader.
    - `pipe-schedule-transfers` turns them into transfers that begin and end beside compute, `exec.send`, `exec.receive`
      and `exec.wait`, and `pipe-inline-pieces` flattens the programs. No op of this dialect is left then.

    **A device program** is a `reprise.program`. A program that is a part of a step names the step in `reprise.entry`.

    **A program in pieces** names its schedule, `pipe.schedule = @name`. Its pieces are the pieces of the schedule, each
    once. No piece reads a value of a later piece in the order that every schedule keeps: micro-batch after micro-batch,
    pass after pass, up the stages in a forward pass and down in a backward pass, weights last. The pieces of a device
    program stand in the order of the schedule's row. Ops beside the pieces belong to no device: each program that reads
    a result of such an op runs the op by itself. An argument with `pipe.home` lives on the device of that stage, in the
    replica `pipe.replica`; all other arguments may be on every device.

    **Replicas** run the same stages on other micro-batches. With R replicas of P devices, device r * P + p is rank p of
    replica r.

    **A step that is cut** by `pipe-balance-stages` has two attributes, which `pipe-split-stages` moves to the module of
    the device programs. Later phases keep them for reports and for searches over cuts:

    - `pipe.cuts` lists a `#pipe.cut` per schedule that was compared. The chosen cut comes first.
    - `pipe.timing` is the `#pipe.timing` of the chosen cut.

    The page of [attributes](Attributes.md) lists the attributes `pipe.…`.
  }];
  let hasOperationAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

def PieceKind : I64EnumAttr<"PieceKind", "what a piece is of a step", [
  I64EnumAttrCase<"Before", 0, "before">, I64EnumAttrCase<"Forward", 1, "forward">,
  I64EnumAttrCase<"Backward", 2, "backward">, I64EnumAttrCase<"Weight", 3, "weight">,
  I64EnumAttrCase<"After", 4, "after">]> {
  let cppNamespace = "::reprise::pipe";
}

def CutState : I64EnumAttr<"CutState", "whether the programs of a cut fit their devices", [
  I64EnumAttrCase<"Fits", 0, "fits">, I64EnumAttrCase<"Exceeds", 1, "exceeds">,
  I64EnumAttrCase<"Refused", 2, "refused">]> {
  let cppNamespace = "::reprise::pipe";
}

class Pipe_Attr<string name, string attrMnemonic> : AttrDef<Pipe_Dialect, name> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def CutAttr : Pipe_Attr<"Cut", "cut"> {
  let summary = "The stages of a step under one schedule";
  let description = [{
    `units` has the first unit of each stage, and then the number of units; units are the marks of `reprise-mark-stages`.
    `makespan` is the simulated time of a step in seconds. `state` is `fits` if the estimate of bytes fits every device,
    `exceeds` if the estimate does not fit, and `refused` if no cut of this schedule is left to try.

    ```mlir
    #pipe.cut<schedule = "1f1b", chunks = 1, units = [0, 3, 5], makespan = 2.5e-03, state = fits>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$schedule, "int64_t":$chunks, "::mlir::DenseI64ArrayAttr":$units,
      "::mlir::FloatAttr":$makespan, EnumParameter<CutState>:$state);
  let extraClassDeclaration = [{
    bool isRefused() const { return getState() == CutState::Refused; }
    /// Returns the units of each stage: [first, end).
    ::std::vector<::std::pair<int, int>> getRanges() const;
  }];
}

def TimingAttr : Pipe_Attr<"Timing", "timing"> {
  let summary = "A schedule with the estimated seconds of its stages and transfers";
  let description = [{
    `rows` and `microbatches` are those of `pipe.schedule`. `forward`, `backward`, `weight` and `replay` are seconds of
    each stage per micro-batch; `backward` contains `replay`. Transfer i goes from stage `from[i]` to stage `to[i]` in
    `there[i]` seconds, and its gradient comes back in `back[i]` seconds. Each direction has `buffers` buffers.
  }];
  let parameters = (ins "::mlir::ArrayAttr":$rows, "int64_t":$microbatches, "::mlir::DenseF64ArrayAttr":$forward,
      "::mlir::DenseF64ArrayAttr":$backward, "::mlir::DenseF64ArrayAttr":$weight, "::mlir::DenseF64ArrayAttr":$replay,
      "::mlir::DenseI64ArrayAttr":$from, "::mlir::DenseI64ArrayAttr":$to, "::mlir::DenseF64ArrayAttr":$there,
      "::mlir::DenseF64ArrayAttr":$back, "int64_t":$buffers);
  let extraClassDeclaration = [{
    static TimingAttr get(::mlir::MLIRContext *context, const ::reprise::pipeline::Schedule &schedule,
                          const ::reprise::pipeline::Pipeline &pipeline, ::llvm::ArrayRef<double> replay);
    ::reprise::pipeline::Schedule getSchedule() const;
    /// Returns stages and transfers with their seconds; all bytes are 0.
    ::reprise::pipeline::Pipeline getPipeline() const;
  }];
}

def NumberAttr : ConfinedAttr<I64Attr, [IntNonNegative]>;
def CountAttr : ConfinedAttr<I64Attr, [IntPositive]>;

def SliceOp : Op<Pipe_Dialect, "slice", [Pure]> {
  let summary = "The rows of a micro-batch in a value with rows of the whole batch";
  let description = [{
    M micro-batches share N samples in their order; if M does not divide N, the first micro-batches have one sample
    more. Each sample has `rows` rows of dimension `dim`.

    ```mlir
    %1 = pipe.slice %x microbatch 1 of 3 dim 0 : tensor<5x4xf32> -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, NumberAttr:$microbatch, CountAttr:$microbatches, NumberAttr:$dim,
      DefaultValuedOptionalAttr<CountAttr, "1">:$rows);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $value `microbatch` $microbatch `of` $microbatches `dim` $dim (`rows` $rows^)? attr-dict `:` type($value) `->`
    type($result)
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$value, "int64_t":$microbatch, "int64_t":$microbatches,
                                 "int64_t":$dim, "int64_t":$rows)>];
  let extraClassDeclaration = [{
    /// Returns the rows of the micro-batch: [first, end).
    std::pair<int64_t, int64_t> getRange();
  }];
}

def AccumulateOp : Op<Pipe_Dialect, "accumulate", [Pure, SameOperandsAndResultType]> {
  let summary = "Adds the contribution of a micro-batch to a sum over the batch";
  let description = [{
    `sum` holds the contributions of the micro-batches before. In each lane a sum is one chain of these ops, in the
    order of the micro-batches, so that no schedule changes its bits. `pipe.merge` adds the sums of lanes.

    ```mlir
    %2 = pipe.accumulate %0, %1 microbatch 1 : tensor<4x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$sum, AnyRankedTensor:$summand, CountAttr:$microbatch);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$sum `,` $summand `microbatch` $microbatch attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def MergeOp : Op<Pipe_Dialect, "merge", [Pure, SameOperandsAndResultType]> {
  let summary = "Adds the sums of two neighbouring blocks of lanes";
  let description = [{
    Sums of lanes meet in the tree of neighbours: of the blocks of one level each pair becomes a block of the next, and
    an odd last block moves up. `left` is the sum of the lanes [first, middle), `right` that of [middle, end). The size
    of the left block is a power of two; the left block begins at a multiple of twice its size, and the right block is
    not larger.

    ```mlir
    %2 = pipe.merge %0, %1 lanes 0 to 2 to 3 : tensor<4x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$left, AnyRankedTensor:$right, NumberAttr:$first, CountAttr:$middle,
      CountAttr:$end);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $left `,` $right `lanes` $first `to` $middle `to` $end attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def ScheduleOp : Op<Pipe_Dialect, "schedule", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The pieces that each device of a pipeline runs, in order";
  let description = [{
    The schedule has one row per device. A piece is STAGE, a letter and MICROBATCH, as torch.distributed.pipelining
    writes it: F forward, B backward, or I backward for inputs and W backward for weights. If the step is differentiated
    again, the rows run `rounds` times, one round after the other. In a step without a gradient only forward pieces run.
    The rows are those of one of R `replicas` with M/R micro-batches: replica r runs them over the micro-batches from
    r * M/R on.

    The verifier is the judge of schedules (Planning/Pipeline): each pass of each stage over each micro-batch stands
    once, on the device of its stage; passes of a micro-batch are in order, and so are the micro-batches of a pass; no
    devices wait for each other in a circle.

    ```mlir
    pipe.schedule @train_schedule stages 2 microbatches 2
      [0F0, 0F1, 0B0, 0B1]
      [1F0, 1B0, 1F1, 1B1]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, CountAttr:$stages, CountAttr:$microbatches,
      DefaultValuedOptionalAttr<CountAttr, "1">:$replicas,
      DefaultValuedOptionalAttr<ConfinedAttr<I64Attr, [IntPositive, IntMaxValue<65536>]>, "1">:$rounds,
      StrArrayAttr:$rows);
  let assemblyFormat = [{
    $sym_name `stages` $stages `microbatches` $microbatches (`replicas` $replicas^)? (`rounds` $rounds^)?
    `` custom<Rows>($rows) attr-dict
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "const ::reprise::pipeline::Schedule &":$schedule,
                                 "int64_t":$replicas, "int64_t":$rounds)>];
  let extraClassDeclaration = [{
    /// Reads the rows into `schedule` and returns the first defect, or an empty text. Some defects are found by the
    /// judge only.
    std::string read(::reprise::pipeline::Schedule &schedule);
    /// Returns the schedule of one replica of a verified op.
    ::reprise::pipeline::Schedule getSchedule();
    /// Returns the micro-batches of one replica.
    int64_t countOwnMicrobatches() { return static_cast<int64_t>(getMicrobatches() / getReplicas()); }
  }];
}

def PieceOp : Op<Pipe_Dialect, "piece", [SingleBlockImplicitTerminator<"::reprise::pipe::YieldOp">,
    RecursiveMemoryEffects, HasParent<"::reprise::ProgramOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A part of a step that a device runs without waiting in between";
  let description = [{
    A piece is a pass of one stage over one micro-batch: `forward`, `backward`, or `weight`, the gradients of weights
    alone. A piece of `round` r belongs to the r-th forward or backward pass, because a derivative of both goes through
    the stages twice more. A piece `before` or `after` all passes, such as an update, has no micro-batch. The piece runs
    on the device of its stage in `replica`. A value that other pieces read is a result.

    With replicas the last pass of a stage may stand in several pieces, its `segment` 0, 1 and so on. A piece `after` with
    `segment` s adds values of replicas; it runs behind segment s of its stage instead of behind all passes.

    ```mlir
    %h = pipe.piece forward stage 0 microbatch 1 -> tensor<2x4xf32> {
      %1 = reprise.exp %x : tensor<2x4xf32>
      pipe.yield %1 : tensor<2x4xf32>
    }
    ```
  }];
  let arguments = (ins PieceKind:$kind, NumberAttr:$stage, OptionalAttr<NumberAttr>:$microbatch,
      DefaultValuedOptionalAttr<NumberAttr, "0">:$round, DefaultValuedOptionalAttr<NumberAttr, "0">:$replica,
      OptionalAttr<NumberAttr>:$segment);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $kind `stage` $stage (`replica` $replica^)? (`microbatch` $microbatch^)? (`round` $round^)?
    (`segment` $segment^)? (`->` type($results)^)? $body attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns true for a pass over a micro-batch.
    bool isPass() { return getKind() != PieceKind::Before && getKind() != PieceKind::After; }
    /// Returns the sweep of a pass: 0 is the forward pass, 1 its derivative, 2 and 3 those of the next round.
    int64_t getSweep() { return 2 * static_cast<int64_t>(getRound()) + (getKind() == PieceKind::Forward ? 0 : 1); }
    YieldOp getYield();
    /// Returns the location of the op that computes a result.
    ::mlir::Location getLocOf(::mlir::OpResult result);
  }];
}

def YieldOp : Op<Pipe_Dialect, "yield", [Pure, Terminator, ReturnLike, HasParent<"PieceOp">]> {
  let summary = "The values of a piece that others read";
  let arguments = (ins Variadic<AnyRankedTensor>:$operands);
  let builders = [OpBuilder<(ins), "build($_builder, $_state, ::mlir::ValueRange());">];
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def SendOp : Op<Pipe_Dialect, "send", [HasParent<"::reprise::ProgramOp">, MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Gives a value to another device program";
  let description = [{
    A send stands behind the piece that computes the value, or before all pieces if the value is an argument. The other
    program receives the value once, under the same number. `pipe-schedule-transfers` decides when the value leaves and
    when this program waits for the transfer.

    ```mlir
    pipe.send %h as 3 to @train_1 : tensor<2x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, NumberAttr:$number, FlatSymbolRefAttr:$peer);
  let assemblyFormat = "$value `as` $number `to` $peer attr-dict `:` type($value)";
}

def ReceiveOp : Op<Pipe_Dialect, "receive", [HasParent<"::reprise::ProgramOp">, MemoryEffects<[MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Takes a value from another device program";
  let description = [{
    A receive stands before the first piece that reads the value, or before the return.

    ```mlir
    %h = pipe.receive 3 from @train_0 : tensor<2x4xf32>
    ```
  }];
  let arguments = (ins NumberAttr:$number, FlatSymbolRefAttr:$peer);
  let results = (outs AnyRankedTensor:$value);
  let assemblyFormat = "$number `from` $peer attr-dict `:` type($value)";
}

#endif // PIPE_OPS
