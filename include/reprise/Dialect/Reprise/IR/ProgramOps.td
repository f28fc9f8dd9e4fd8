// reprise: device programs.
#ifndef REPRISE_PROGRAM_OPS
#define REPRISE_PROGRAM_OPS

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "reprise/Dialect/Reprise/IR/RepriseBase.td"

def ProgramOp : Op<Reprise_Dialect, "program", [FunctionOpInterface, IsolatedFromAbove, HasParent<"::mlir::ModuleOp">]> {
  let summary = "The program of a device";
  let description = [{
    A step, or the part of a step that one device runs. `reprise-make-programs` turns functions into programs at the end
    of `autodiff`, and all phases behind `autodiff` work on programs. Arguments, results and attributes are those of an
    entry function.

    `devices` lists the devices that run the program, numbers from 0 to 1023. A module has at most one program for each
    device. All programs that the compiler creates have one device.

    ```mlir
    reprise.program @train devices [0] (%x: tensor<4xf32> {reprise.name = "x"}) -> (tensor<4xf32> {reprise.name = "y"}) {
      %y = reprise.exp %x : tensor<4xf32>
      reprise.return %y : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, DenseI64ArrayAttr:$devices,
      OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type,
      "::llvm::ArrayRef<int64_t>":$devices)>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ProgramOp clone() { return ::llvm::cast<ProgramOp>((*this)->clone()); }
    bool runsOn(int64_t device) { return ::llvm::is_contained(getDevices(), device); }

    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
  }];
}

def ReturnOp : Op<Reprise_Dialect, "return", [Pure, HasParent<"ProgramOp">, ReturnLike, Terminator]> {
  let summary = "The end of a device program";
  let description = [{
    The operands are the results of the program, and have their types.
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let hasVerifier = 1;
}

#endif
