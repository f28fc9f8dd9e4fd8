// reprise: the point at which a step stops until the caller continues it
#include "reprise/Dialect/Reprise/IR/Pause.h"

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"

using namespace mlir;
using namespace reprise;

#define GET_OP_CLASSES
#include "reprise/Dialect/Reprise/IR/PauseOps.cpp.inc"

LogicalResult PauseOp::verify() {
  if (getLate().getTypes() != getResultTypes())
    return emitOpError("expected results of the types of its late operands");
  if ((*this)->getParentOfType<LoopOp>())
    return emitOpError("stands in a loop, where a step cannot stop");
  return success();
}

namespace reprise {

PauseOp findPause(FunctionOpInterface program) {
  auto pauses = program.front().getOps<PauseOp>();
  return pauses.empty() ? PauseOp() : *pauses.begin();
}

/// Verifies that a late value, which the caller gives at the pause, is an input that no other op
/// reads.
static LogicalResult verifyLate(PauseOp pause, FunctionOpInterface program) {
  EntrySignature signature(program);
  for (auto [i, value] : llvm::enumerate(pause.getLate())) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || signature.getRole(argument.getArgNumber()) != "input")
      return pause.emitError("late value ") << i << " is no input of the step";
    for (Operation *reader : value.getUsers())
      if (reader != pause) {
        InFlightDiagnostic error = pause.emitError("late value ")
                                   << i << " is read by another op, too";
        error.attachNote(reader->getLoc()) << "the other reader";
        return error;
      }
  }
  return success();
}

LogicalResult verifyPauses(FunctionOpInterface program) {
  PauseOp first;
  for (PauseOp pause : program.front().getOps<PauseOp>()) {
    if (first) {
      InFlightDiagnostic error = pause.emitError("a step has one pause at most");
      error.attachNote(first.getLoc()) << "the other one";
      return error;
    }
    first = pause;
    if (failed(verifyLate(pause, program)))
      return failure();
  }
  return success();
}

} // namespace reprise
