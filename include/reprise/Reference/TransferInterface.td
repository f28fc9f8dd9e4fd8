// reprise: how an op exchanges a value with another device program.
#ifndef REPRISE_REFERENCE_TRANSFERINTERFACE
#define REPRISE_REFERENCE_TRANSFERINTERFACE

include "mlir/IR/OpBase.td"

def TransferOpInterface : OpInterface<"TransferOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{
    An op of a device program that sends its operands to the program of another device, or waits for values of one, which
    become its results. Values of one key from one device to another arrive in the order in which they were sent, so
    that an op in a loop needs one key. Nothing waits for a receiver: mailboxes hold what was sent.
  }];
  let methods = [
    InterfaceMethod<"Whether the operands go out; else the results come in.", "bool", "isSend">,
    InterfaceMethod<"The number of the other device.", "int64_t", "getPeer">,
    InterfaceMethod<"Sends and receives of two devices meet by key.", "int64_t", "getKey">,
    InterfaceMethod<"What is sent, or received.", "::llvm::SmallVector<::mlir::Value>", "getValues", (ins), "", [{
      ::mlir::Operation *op = $_op;
      if ($_op.isSend())
        return ::llvm::SmallVector<::mlir::Value>(op->getOperands());
      return ::llvm::SmallVector<::mlir::Value>(op->getResults());
    }]>,
    InterfaceMethod<"Whether a receive only begins here, and ends at an op with EventOpInterface.", "bool", "endsLater",
      (ins), "", "return false;">
  ];
}

def EventOpInterface : OpInterface<"EventOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{
    An op that orders what a device does at a time, such as a wait. The interpreter does one op after the other, and asks
    only which transfer ends here.
  }];
  let methods = [
    InterfaceMethod<"The op that began the transfer; null if none ends here.", "::mlir::Operation *", "getEnded">
  ];
}

#endif
