// reprise: cuts values along the model axis
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "ModelSplitter.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_SHARDMODELPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

struct ShardModelPass : impl::ShardModelPassBase<ShardModelPass> {
  using Base::Base;

  void runOnOperation() override {
    ProgramOp step = getOperation();
    if (failed(check(step)))
      return signalPassFailure();
    if (lanes == 1)
      return markAllAnalysesPreserved();
    FailureOr<ArgumentCuts> arguments = readModelRules(rules, step, lanes);
    if (failed(arguments))
      return signalPassFailure();
    ModelCuts cuts(step, *arguments, lanes, parts);
    for (BlockArgument argument : step.getArguments())
      if (arguments->contains(argument.getArgNumber()) &&
          failed(checkReaders(step, argument, cuts)))
        return signalPassFailure();
    ModelSplitter(step, cuts, lanes, parts).run();
  }

private:
  /// Fails if a rule cuts an argument that every op reads whole.
  static LogicalResult checkReaders(ProgramOp step, BlockArgument argument, const ModelCuts &cuts) {
    int64_t dim = cuts.getDim(argument);
    if (dim < 0)
      return success();
    for (OpOperand &use : argument.getUses())
      if (const ModelCut *cut = cuts.get(use.getOwner());
          cut &&
          OpFactors::findDim(cut->factors.operands[use.getOperandNumber()], cut->factor) == dim)
        return success();
    EntrySignature signature(step);
    InFlightDiagnostic error = emitError(argument.getLoc())
                               << "no op can be cut along dimension " << dim << " of '"
                               << signature.getArgumentName(argument.getArgNumber()).getValue()
                               << "', which a rule of shardings cuts";
    for (Operation *user : argument.getUsers())
      error.attachNote(user->getLoc()) << user->getName() << " reads the whole dimension";
    return error;
  }

  LogicalResult check(ProgramOp step) {
    if (lanes < 1 || !llvm::isPowerOf2_64(lanes))
      return step.emitError("expected 1, 2, 4, 8, … lanes of contractions, got ")
             << static_cast<int64_t>(lanes);
    if (parts < 1 || lanes % parts != 0)
      return step.emitError("expected parts of the model that divide the ")
             << static_cast<int64_t>(lanes) << " lanes of contractions, got "
             << static_cast<int64_t>(parts);
    return success();
  }
};

} // namespace
} // namespace reprise
