// reprise: replaces nests by their kernels
#include "reprise/Dialect/Exec/Transforms/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "reprise/Dialect/Nest/IR/Nest.h"
#include "reprise/Target/LaunchFacts.h"

using namespace mlir;

namespace reprise::exec {
#define GEN_PASS_DEF_EMITNESTSPASS
#include "reprise/Dialect/Exec/Transforms/Passes.h.inc"

namespace {

struct EmitNestsPass : impl::EmitNestsPassBase<EmitNestsPass> {
  using EmitNestsPassBase::EmitNestsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    LaunchFacts::addDialects(registry);
    registry.insert<cf::ControlFlowDialect, index::IndexDialect, ub::UBDialect>();
  }

  void runOnOperation() override {
    std::shared_ptr<const Target> target;
    OwningOpRef<ModuleOp> kernels = ModuleOp::create(getOperation().getLoc());
    if (failed(Target::get(targetName, getOperation().getLoc(), target)) ||
        failed(emitKernels(*target, *kernels)))
      return signalPassFailure();
    Block &body = *getOperation().getBody();
    body.clear();
    if (!lower)
      return append(*kernels, body);
    FailureOr<OwningOpRef<ModuleOp>> lowered = target->lowerKernels(*kernels);
    if (failed(lowered))
      return signalPassFailure();
    for (auto inner : (*lowered)->getOps<ModuleOp>())
      append(inner, body);
  }

  LogicalResult emitKernels(const Target &target, ModuleOp kernels) {
    for (auto program : getOperation().getOps<nests::NestProgramOp>()) {
      WalkResult result = program.walk([](nests::TileOp tile) {
        tile.emitError("is the element of a contraction, without which the nest has no kernel");
        return WalkResult::interrupt();
      });
      if (result.wasInterrupted() ||
          failed(target.emitNests(program, program.getSymName(), kernels)))
        return failure();
    }
    return success();
  }

  static void append(ModuleOp from, Block &to) {
    to.getOperations().splice(to.end(), from.getBody()->getOperations());
  }
};

} // namespace
} // namespace reprise::exec
