// reprise: interfaces of ops that exchange values with other device programs
#ifndef REPRISE_REFERENCE_TRANSFERINTERFACE
#define REPRISE_REFERENCE_TRANSFERINTERFACE

include "mlir/IR/OpBase.td"

def TransferOpInterface : OpInterface<"TransferOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{
    An op of a device program that sends its operands to the program of another device, or waits for values of another
    program, which become its results. Values with the same key from one device to another arrive in the order in which
    they were sent, so an op in a loop needs only one key. A send does not wait for its receiver: mailboxes hold the
    values.
  }];
  let methods = [
    InterfaceMethod<"Returns true if the op sends its operands; otherwise it receives its results.", "bool",
      "isSend">,
    InterfaceMethod<"Returns the number of the other device.", "int64_t", "getPeer">,
    InterfaceMethod<"Returns the key by which sends and receives of two devices meet.", "int64_t", "getKey">,
    InterfaceMethod<"Returns the values that the op sends or receives.", "::llvm::SmallVector<::mlir::Value>",
      "getValues", (ins), "", [{
      ::mlir::Operation *op = $_op;
      if ($_op.isSend())
        return ::llvm::SmallVector<::mlir::Value>(op->getOperands());
      return ::llvm::SmallVector<::mlir::Value>(op->getResults());
    }]>,
    InterfaceMethod<"Returns true if a receive begins here and ends at an op with EventOpInterface.", "bool",
      "endsLater", (ins), "", "return false;">
  ];
}

def EventOpInterface : OpInterface<"EventOpInterface"> {
  let cppNamespace = "::reprise";
  let description = [{
    An op that orders the commands of a device, such as a wait. The interpreter executes the ops one after the other,
    and needs only the transfer that ends here.
  }];
  let methods = [
    InterfaceMethod<"Returns the op that began the transfer; null if no transfer ends here.", "::mlir::Operation *",
      "getEnded">
  ];
}

#endif
