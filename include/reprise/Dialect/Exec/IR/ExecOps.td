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
    After the `kernels` phase a device program is a flat list of launches, still on tensors: every launch result is one
    buffer. After the `memory` phase every result has its place, and `exec.copy` brings next values to arguments that no
    launch could overwrite.

    Beside launches stand library calls, sends to and receives from other programs, and events. Stream 0 of the device
    does launches and copies in their order. Calls, transfers, records and waits name their stream, `on 1`; it is 0
    where they name none.

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
  let summary = "A point in time: a transfer is done, or a stream has done what it was given";
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
    A command whose results are buffers. `arguments` and `offsets` hold one entry per stored result once the memory
    phase has run: the number of the function argument that the result overwrites in place, or -1 and the byte offset in
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
  let summary = "One kernel, or the few commands that a library-sized op needs";
  let description = [{
    The body holds reprise ops on its arguments and ends in `exec.return` of the values that the launch stores. Bodies
    that are alike are compiled once. `arguments` and `offsets` hold one entry per result once the memory phase has
    run: the number of the function argument that the result overwrites in place, or -1 and the byte offset in the
    arena. `scratch` is the place of what the launch's commands share, such as packed operands: the byte offset in the
    arena, and the bytes.

    `streams` are the streams of the random ops in the body. Inside the body the attribute `stream` of a random op is a
    position in this list, so bodies that differ in their streams alone are alike.

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
    /// The values that the body stores, one per result.
    ::mlir::OperandRange getStored() { return getBody().front().getTerminator()->getOperands(); }
  }];
}

def ReturnOp : Op<Exec_Dialect, "return", [Pure, Terminator, ReturnLike, HasParent<"LaunchOp">]> {
  let summary = "The values that a launch stores";
  let arguments = (ins Variadic<AnyRankedTensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def CopyOp : Op<Exec_Dialect, "copy", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes a value into the buffer of an argument";
  let description = [{
    The memory phase puts it at the end of a device program, behind every reader of the argument, for each next value
    that lies elsewhere: state is written by commands only.

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
    The function reads the operands and writes the results, and has `workspace` bytes of the arena for itself, whose
    place is `scratch`: the byte offset, and the bytes. A device without such a function refuses the program.

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
    The peer is the device program of that name, of this module or of another bundle. Sends with one tag meet the peer's
    receives with that tag in their order. The buffer is in use until the event was waited for.

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
    The value may be read when the event was waited for, and by nobody before. Its place is one of the arena, or an
    argument whose next value it is.

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
    The buffer is in use until the event was waited for. `place` is the byte offset in the host's memory once the memory
    phase has run.

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
  let summary = "Begins to bring back what lies in the memory of the host";
  let description = [{
    The value may be read when the event was waited for, and by nobody before.

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
  let summary = "An event that happens when the stream has done what it was given so far";
  let description = [{
    With `exec.wait` on another stream it orders the two streams of a device.

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
  let summary = "The stream goes on when the event has happened";
  let description = [{
    It stands in the block of what gives the event: a transfer that begins in an iteration of a loop ends in it.
  }];
  let arguments = (ins EventType:$event, StreamAttr:$stream);
  let assemblyFormat = "$event (`on` $stream^)? attr-dict";
  let hasVerifier = 1;
}

#endif
