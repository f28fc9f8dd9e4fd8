// reprise: the command list of one device.
#ifndef EXEC_OPS
#define EXEC_OPS

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
  }];
}

def LaunchOp : Op<Exec_Dialect, "launch", [IsolatedFromAbove, SingleBlock, Pure]> {
  let summary = "One kernel, or the few commands that a library-sized op needs";
  let description = [{
    The body holds reprise ops on its arguments and ends in `exec.return` of the values that the launch stores. Bodies
    that are alike are compiled once. `arguments` and `offsets` hold one entry per result once the memory phase has
    run: the number of the function argument that the result overwrites in place, or -1 and the byte offset in the
    arena. `scratch` is the place of what the launch's commands share, such as packed operands: the byte offset in the
    arena, and the bytes.

    ```mlir
    %g = exec.launch (%a = %x, %b = %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
      %s = reprise.add %a, %b : tensor<8xf32>
      exec.return %s : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, OptionalAttr<DenseI64ArrayAttr>:$arguments,
      OptionalAttr<DenseI64ArrayAttr>:$offsets, OptionalAttr<DenseI64ArrayAttr>:$scratch);
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

#endif
