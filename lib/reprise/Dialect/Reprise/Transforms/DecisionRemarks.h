// reprise: the decisions of a plan as MLIR remarks.
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_DECISIONREMARKS_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_DECISIONREMARKS_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Emits one remark of category `checkpoint` per value of the forward pass, named after the
/// decision: passed, missed if it contradicts the value's label, or analysis if the backward pass
/// does not need the value. Does nothing without a remark engine.
void emitDecisionRemarks(ProgramOp function);

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_DECISIONREMARKS_H
