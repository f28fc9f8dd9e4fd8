// reprise: converts the entry to a device program.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_MAKEPROGRAMSPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// Replaces a function by the program of device 0 with the same name, signature, body and
/// attributes.
void makeProgram(func::FuncOp function) {
  OpBuilder builder(function);
  auto program = ProgramOp::create(builder, function.getLoc(), function.getName(),
                                   function.getFunctionType(), /*devices=*/{0});
  program->setDiscardableAttrs(function->getDiscardableAttrDictionary());
  program.setArgAttrsAttr(function.getArgAttrsAttr());
  program.setResAttrsAttr(function.getResAttrsAttr());
  program.getBody().takeBody(function.getBody());
  Operation *end = program.getBody().front().getTerminator();
  builder.setInsertionPoint(end);
  ReturnOp::create(builder, end->getLoc(), end->getOperands());
  end->erase();
  function.erase();
}

/// A module pass, since only the module tells whether its functions are shared out already.
struct MakeProgramsPass : impl::MakeProgramsPassBase<MakeProgramsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!findPrograms(getOperation()).empty())
      return;
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!function.isExternal()) {
        if (failed(verify(function)))
          return signalPassFailure();
        makeProgram(function);
      }
  }

private:
  static LogicalResult verify(func::FuncOp function) {
    if (!function.getBody().hasOneBlock())
      return function.emitError("expected a function of one block");
    return verifyPauses(function);
  }
};

} // namespace
} // namespace reprise
