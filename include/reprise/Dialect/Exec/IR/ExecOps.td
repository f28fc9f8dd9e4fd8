// reprise: the command list of one device.
#ifndef EXEC_OPS
#define EXEC_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::reprise::exec";
  let summary = "The command list of one device";
  let description = [{
    A command list is the program of one device after the `kernels` phase: a flat list of launches, still on tensors.
    Every launch result is one buffer. After the `memory` phase every result has a place, and `exec.copy` writes next
    values that no launch could store over their argument.

    Other commands are library calls, sends to and receives from other programs, and events. Stream 0 of the device runs
    launches and copies in their order. Calls, transfers, records and waits name their stream, as in `on 1`; the default
    is stream 0.

    The page of [attributes](Attributes.md) lists the attributes `exec.…` of functions, launches and loops.
  }];
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

def PartEnum : I64EnumAttr<"Part", "the part of a step that an op belongs to", [
  I64EnumAttrCase<"Forward", 0, "forward">, I64EnumAttrCase<"Backward", 1, "backward">,
  I64EnumAttrCase<"Replay", 2, "replay">]> {
  let cppNamespace = "::reprise::exec";
  let genSpecializedAttr = 0;
}

def EventType : TypeDef<Exec_Dialect, "Event"> {
  let mnemonic = "event";
  let summary = "A point in time: the end of a transfer, or of the commands that a stream was given";
}

def HostType : TypeDef<Exec_Dialect, "Host"> {
  let mnemonic = "host";
  let summary = "The elements of a tensor in the memory of the host";
  let parameters = (ins "::mlir::RankedTensorType":$tensor);
  let assemblyFormat = "`<` $tensor `>`";
}

def StoringOpInterface : OpInterface<"StoringOpInterface"> {
  let cppNamespace = "::reprise::exec";
  let description = [{
    A command whose results are buffers. Once the memory phase has run, `arguments` and `offsets` hold one entry per
    stored result: the number of the function argument that the result overwrites in place, or -1 and the byte offset in
    the arena.
  }];
  let methods = [
    InterfaceMethod<"", "std::optional<::llvm::ArrayRef<int64_t>>", "getArguments">,
    InterfaceMethod<"", "std::optional<::llvm::ArrayRef<int64_t>>", "getOffsets">,
    InterfaceMethod<"", "void", "setArgumentsAttr", (ins "::mlir::DenseI64ArrayAttr":$value)>,
    InterfaceMethod<"", "void", "setOffsetsAttr", (ins "::mlir::DenseI64ArrayAttr":$value)>,
    InterfaceMethod<"The results that are buffers.", "::mlir::ResultRange", "getStoredResults", (ins), "",
                    "return $_op->getResults();">
  ];
  let verify = "return ::reprise::exec::detail::verifyPlaces($_op);";
}

def StreamAttr : DefaultValuedOptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<15>]>, "0">;
def TagAttr : ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<32767>]>;

def LaunchOp : Op<Exec_Dialect, "launch", [IsolatedFromAbove, SingleBlock, Pure, StoringOpInterface]> {
  let summary = "One kernel, or the few commands of a library-sized op";
  let description = [{
    The body holds reprise ops on its arguments and ends in `exec.return` of the values that the launch stores. Equal
    bodies are compiled once. Once the memory phase has run, `arguments` and `offsets` hold one entry per result: the
    number of the function argument that the result overwrites in place, or -1 and the byte offset in the arena.
    `scratch` is the memory that the launch's commands share, such as packed operands: its byte offset in the arena, and
    its bytes.

    `streams` are the streams of the random ops in the body. Inside the body the attribute `stream` of a random op is a
    position in this list, so bodies that differ only in their streams are equal.

    ```mlir
    %g = exec.launch (%a = %x, %b = %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
      %s = reprise.add %a, %b : tensor<8xf32>
      exec.return %s : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, OptionalAttr<DenseI64ArrayAttr>:$arguments,
      OptionalAttr<DenseI64ArrayAttr>:$offsets, OptionalAttr<DenseI64ArrayAttr>:$scratch,
      OptionalAttr<DenseI64ArrayAttr>:$streams);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the values that the body stores, one per result.
    ::mlir::OperandRange getStored() { return getBody().front().getTerminator()->getOperands(); }
  }];
}

def ReturnOp : Op<Exec_Dialect, "return", [Pure, Terminator, ReturnLike, HasParent<"LaunchOp">]> {
  let summary = "The values that a launch stores";
  let arguments = (ins Variadic<AnyRankedTensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def JoinOp : Op<Exec_Dialect, "join", [Pure, StoringOpInterface]> {
  let summary = "A buffer whose parts other commands store, one behind the other";
  let description = [{
    No command runs: the commands that make the operands store them into the result's buffer. The buffer is in use from
    the first of these commands on. The join is the only reader of each operand.

    ```mlir
    %w0, %arrived = exec.receive from @update_1 tag 0 : tensor<4x16xf32>
    exec.wait %arrived
    %w1 = exec.launch (%a = %own) : (tensor<4x16xf32>) -> tensor<4x16xf32> {
      exec.return %a : tensor<4x16xf32>
    }
    %w = exec.join %w0, %w1 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$parts, OptionalAttr<DenseI64ArrayAttr>:$arguments,
      OptionalAttr<DenseI64ArrayAttr>:$offsets);
  let results = (outs AnyRankedTensor:$whole);
  let assemblyFormat = "$parts attr-dict `:` functional-type($parts, $whole)";
  let hasVerifier = 1;
}

def CopyOp : Op<Exec_Dialect, "copy", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes a value into the buffer of an argument";
  let description = [{
    The memory phase adds a copy for each next value that lies outside of its argument. The copy stands at the end of
    the device program, behind every reader of the argument: only commands write state.

    ```mlir
    exec.copy %next into 3 : tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, ConfinedAttr<I64Attr, [IntNonNegative]>:$argument);
  let assemblyFormat = "$value `into` $argument attr-dict `:` type($value)";
}

def CallOp : Op<Exec_Dialect, "call", [MemoryEffects<[MemWrite]>, StoringOpInterface]> {
  let summary = "Calls a function of a library that the device has";
  let description = [{
    The function reads the operands and writes the results. It owns `workspace` bytes of the arena during the call;
    `scratch` is their byte offset and number. A device without this function refuses the program.

    ```mlir
    %y = exec.call "cublasLtMatmul"(%a, %b) workspace 4096 on 1 : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
    ```
  }];
  let arguments = (ins StrAttr:$function, Variadic<AnyRankedTensor>:$inputs,
      DefaultValuedOptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$workspace, StreamAttr:$stream,
      OptionalAttr<DenseI64ArrayAttr>:$arguments, OptionalAttr<DenseI64ArrayAttr>:$offsets,
      OptionalAttr<DenseI64ArrayAttr>:$scratch);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $function `(` $inputs `)` (`workspace` $workspace^)? (`on` $stream^)? attr-dict `:`
    functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

def SendOp : Op<Exec_Dialect, "send", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Begins to send a buffer to another program";
  let description = [{
    `peer` names a device program of this module or of another bundle. The sends of a tag meet the peer's receives of
    the same tag in program order. The buffer is in use until a wait for the event.

    ```mlir
    %sent = exec.send %x to @stage1 tag 3 : tensor<8xf32>
    exec.wait %sent
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, FlatSymbolRefAttr:$peer, TagAttr:$tag, StreamAttr:$stream);
  let results = (outs EventType:$event);
  let assemblyFormat = "$value `to` $peer `tag` $tag (`on` $stream^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def ReceiveOp : Op<Exec_Dialect, "receive", [MemoryEffects<[MemWrite]>,
    DeclareOpInterfaceMethods<StoringOpInterface, ["getStoredResults"]>]> {
  let summary = "Begins to receive a buffer from another program";
  let description = [{
    The value may be read only after a wait for the event. Its place is in the arena, or the argument whose next value
    it is.

    ```mlir
    %x, %arrived = exec.receive from @stage0 tag 3 : tensor<8xf32>
    exec.wait %arrived
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$peer, TagAttr:$tag, StreamAttr:$stream,
      OptionalAttr<DenseI64ArrayAttr>:$arguments, OptionalAttr<DenseI64ArrayAttr>:$offsets);
  let results = (outs AnyRankedTensor:$value, EventType:$event);
  let assemblyFormat = "`from` $peer `tag` $tag (`on` $stream^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

class ValueOnHost<string value, string host> : TypesMatchWith<"host holds the value's type", value, host,
    "HostType::get($_ctxt, ::llvm::cast<::mlir::RankedTensorType>($_self))">;

def HostOffloadOp : Op<Exec_Dialect, "offload", [MemoryEffects<[MemRead, MemWrite]>, ValueOnHost<"value", "host">]> {
  let summary = "Begins to copy a buffer to the memory of the host";
  let description = [{
    The buffer is in use until a wait for the event. Once the memory phase has run, `place` is the byte offset in the
    host's memory.

    ```mlir
    %h, %left = exec.offload %x : tensor<8xf32>
    exec.wait %left
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, StreamAttr:$stream, OptionalAttr<I64Attr>:$place);
  let results = (outs HostType:$host, EventType:$event);
  let assemblyFormat = "$value (`on` $stream^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def HostFetchOp : Op<Exec_Dialect, "fetch", [MemoryEffects<[MemRead, MemWrite]>, ValueOnHost<"value", "host">,
    DeclareOpInterfaceMethods<StoringOpInterface, ["getStoredResults"]>]> {
  let summary = "Begins to copy a value back from the memory of the host";
  let description = [{
    The value may be read only after a wait for the event.

    ```mlir
    %y, %there = exec.fetch %h : tensor<8xf32>
    exec.wait %there
    ```
  }];
  let arguments = (ins HostType:$host, StreamAttr:$stream, OptionalAttr<DenseI64ArrayAttr>:$arguments,
      OptionalAttr<DenseI64ArrayAttr>:$offsets);
  let results = (outs AnyRankedTensor:$value, EventType:$event);
  let assemblyFormat = "$host (`on` $stream^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def RecordOp : Op<Exec_Dialect, "record", [MemoryEffects<[MemWrite]>]> {
  let summary = "An event at the end of all commands that a stream was given so far";
  let description = [{
    A record and an `exec.wait` on another stream order the two streams of a device.

    ```mlir
    %done = exec.record
    exec.wait %done on 1
    ```
  }];
  let arguments = (ins StreamAttr:$stream);
  let results = (outs EventType:$event);
  let assemblyFormat = "(`on` $stream^)? attr-dict";
}

def WaitOp : Op<Exec_Dialect, "wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Makes a stream wait for an event";
  let description = [{
    A wait stands in the same block as the op that gives the event: a transfer that begins in an iteration of a loop
    ends in this iteration.
  }];
  let arguments = (ins EventType:$event, StreamAttr:$stream);
  let assemblyFormat = "$event (`on` $stream^)? attr-dict";
  let hasVerifier = 1;
}

#endif
