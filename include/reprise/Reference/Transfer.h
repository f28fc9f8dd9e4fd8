// reprise: exchange of values between device programs in the interpreter.
#ifndef REPRISE_REFERENCE_TRANSFER_H
#define REPRISE_REFERENCE_TRANSFER_H

#include "mlir/IR/OpDefinition.h"

#include "reprise/Reference/TransferInterface.h.inc"

#endif
