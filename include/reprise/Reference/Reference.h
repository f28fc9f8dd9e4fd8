// reprise: execution of ops in the interpreter
#ifndef REPRISE_REFERENCE_REFERENCE_H
#define REPRISE_REFERENCE_REFERENCE_H

#include "mlir/IR/OpDefinition.h"
#include "reprise/Reference/Tensor.h"
#include "llvm/ADT/SmallVector.h"

#include "reprise/Reference/ReferenceInterface.h.inc"

#endif // REPRISE_REFERENCE_REFERENCE_H
