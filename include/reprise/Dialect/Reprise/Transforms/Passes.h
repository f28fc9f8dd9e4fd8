// reprise: the passes on the model graph.
#ifndef REPRISE_DIALECT_REPRISE_TRANSFORMS_PASSES_H
#define REPRISE_DIALECT_REPRISE_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

#define GEN_PASS_DECL
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

} // namespace reprise

#endif
