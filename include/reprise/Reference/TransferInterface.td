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
    InterfaceMethod<"Sends and receives of two devices meet by key.", "int64_t", "getKey">
  ];
}

#endif
