// reprise: deferral of a large gradient to reduce peak memory
#ifndef REPRISE_DIALECT_REPRISE_TRANSFORMS_DEFERGRADIENT_H
#define REPRISE_DIALECT_REPRISE_TRANSFORMS_DEFERGRADIENT_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Delays the cotangent op with the largest result among ops without early readers. The op moves
/// behind a quarter of the ops that follow it in the backward pass of its scope. Returns the bytes
/// of that result; 0 if no op can wait so long.
int64_t deferGradient(ProgramOp step);

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_TRANSFORMS_DEFERGRADIENT_H
