// reprise: the passes that cut a step into stages
#ifndef REPRISE_DIALECT_PIPE_TRANSFORMS_PASSES_H
#define REPRISE_DIALECT_PIPE_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Pipe/IR/Pipe.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::pipe {

#define GEN_PASS_DECL
#include "reprise/Dialect/Pipe/Transforms/Passes.h.inc"

struct StageInputs;

/// Makes the pass for the devices of `inputs`; null means devices with built-in rates.
std::unique_ptr<mlir::Pass> createBalanceStagesPass(BalanceStagesPassOptions options,
                                                    std::shared_ptr<const StageInputs> inputs);

} // namespace reprise::pipe

#endif // REPRISE_DIALECT_PIPE_TRANSFORMS_PASSES_H
