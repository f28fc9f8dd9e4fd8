// reprise: the passes on command lists.
#ifndef REPRISE_DIALECT_EXEC_TRANSFORMS_PASSES_H
#define REPRISE_DIALECT_EXEC_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "reprise/Dialect/Exec/IR/Exec.h"

namespace reprise::exec {

#define GEN_PASS_DECL
#include "reprise/Dialect/Exec/Transforms/Passes.h.inc"

} // namespace reprise::exec

#endif
