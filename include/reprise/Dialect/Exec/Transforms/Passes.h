// reprise: the passes on command lists.
#ifndef REPRISE_DIALECT_EXEC_TRANSFORMS_PASSES_H
#define REPRISE_DIALECT_EXEC_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {
class LaunchFacts;
} // namespace reprise

namespace reprise::exec {

#define GEN_PASS_DECL
#include "reprise/Dialect/Exec/Transforms/Passes.h.inc"

/// Make passes that share `facts` of the options' target.
std::unique_ptr<mlir::Pass> createOrderLaunchesPass(OrderLaunchesPassOptions options,
                                                    std::shared_ptr<LaunchFacts> facts);
std::unique_ptr<mlir::Pass> createPlaceBuffersPass(PlaceBuffersPassOptions options,
                                                   std::shared_ptr<LaunchFacts> facts);
std::unique_ptr<mlir::Pass> createVerifyBuffersPass(VerifyBuffersPassOptions options,
                                                    std::shared_ptr<LaunchFacts> facts);

} // namespace reprise::exec

#endif
