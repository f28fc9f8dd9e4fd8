// reprise: passes that run on the device programs of a module.
#include "OnPrograms.h"

#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"

using namespace mlir;

namespace reprise {
namespace {

struct OnPrograms : PassWrapper<OnPrograms, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OnPrograms)

  explicit OnPrograms(OpPassManager passes) : passes(std::move(passes)) {}

  StringRef getName() const override { return "OnPrograms"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    passes.getDependentDialects(registry);
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> programs = findPrograms(getOperation());
    if (programs.empty()) {
      getOperation().emitError("expected a device program, a function with '")
          << kDeviceAttr << "'";
      return signalPassFailure();
    }
    for (func::FuncOp program : programs)
      if (failed(runPipeline(passes, program)))
        return signalPassFailure();
    // Nothing but the programs has changed, which were verified behind their last pass.
    markAllAnalysesPreserved();
  }

  OpPassManager passes;
};

} // namespace

std::unique_ptr<Pass> createOnProgramsPass(OpPassManager passes) {
  return std::make_unique<OnPrograms>(std::move(passes));
}

OpPassManager makeProgramPasses() {
  return OpPassManager(func::FuncOp::getOperationName(), OpPassManager::Nesting::Explicit);
}

} // namespace reprise
