// reprise: the cuts of a step along the model axis, from the shardings of its arguments
#include "ModelCuts.h"

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Shardings.h"

using namespace mlir;
using namespace reprise;

/// Fails if a sharding cuts an argument that every op reads whole.
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
                             << "', which a sharding cuts";
  for (Operation *user : argument.getUsers())
    error.attachNote(user->getLoc()) << user->getName() << " reads the whole dimension";
  return error;
}

static LogicalResult checkNumbers(ProgramOp step, int64_t lanes, int64_t parts) {
  if (lanes < 1 || !llvm::isPowerOf2_64(lanes))
    return step.emitError("expected 1, 2, 4, 8, … lanes of contractions, got ") << lanes;
  if (parts < 1 || lanes % parts != 0)
    return step.emitError("expected parts of the model that divide the ")
           << lanes << " lanes of contractions, got " << parts;
  return success();
}

/// Fails if an argument has a sharding though there are no lanes.
static LogicalResult checkWithoutLanes(ProgramOp step) {
  EntrySignature signature(step);
  for (BlockArgument argument : step.getArguments())
    if (auto own = step.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kShardAttr);
        own && findShardedDim(own) >= 0)
      return emitError(argument.getLoc())
             << "the sharding of '" << signature.getArgumentName(argument.getArgNumber()).getValue()
             << "' needs 2, 4, 8, … lanes of contractions";
  return success();
}

FailureOr<ModelCuts> ModelCuts::find(ProgramOp step, StringRef rules, int64_t lanes,
                                     int64_t parts) {
  if (failed(checkNumbers(step, lanes, parts)))
    return failure();
  if (lanes == 1) {
    if (failed(checkWithoutLanes(step)))
      return failure();
    return ModelCuts(step, ArgumentCuts(), lanes, parts);
  }
  FailureOr<ArgumentCuts> arguments = readModelRules(rules, step, lanes);
  if (failed(arguments))
    return failure();
  ModelCuts cuts(step, *arguments, lanes, parts);
  for (BlockArgument argument : step.getArguments())
    if (arguments->contains(argument.getArgNumber()) && failed(checkReaders(step, argument, cuts)))
      return failure();
  return cuts;
}
