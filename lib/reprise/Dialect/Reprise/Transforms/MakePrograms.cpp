// reprise: makes the entry a device program.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_MAKEPROGRAMSPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// A module pass, since only the module tells whether its functions are shared out already.
struct MakeProgramsPass : impl::MakeProgramsPassBase<MakeProgramsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!findPrograms(getOperation()).empty())
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal()) {
        if (failed(verifyPauses(function)))
          return signalPassFailure();
        setDevice(function, 0);
      }
  }
};

} // namespace
} // namespace reprise
