// reprise: the interface of ops that can run on parts of their operands
#ifndef REPRISE_INTERFACES_BATCHABLE_H
#define REPRISE_INTERFACES_BATCHABLE_H

#include "mlir/IR/OpDefinition.h"
#include "reprise/Interfaces/Factors.h"

#include "reprise/Interfaces/BatchableInterface.h.inc"

#endif // REPRISE_INTERFACES_BATCHABLE_H
