// reprise: values that exist at the pause of a step, and values that are read behind it
#include "Pauses.h"

#include "reprise/Dialect/Reprise/IR/Pause.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::exec;

bool reprise::exec::isThereAt(PauseOp pause, Value root) {
  Operation *maker = root.getDefiningOp();
  Operation *outer = maker ? pause->getBlock()->findAncestorOpInBlock(*maker) : nullptr;
  return !outer || outer->isBeforeInBlock(pause);
}

/// The result of a step is no reader.
static Operation *findReader(Value value, PauseOp pause, bool isBehind) {
  Operation *found = nullptr;
  forEachReader(value, [&](OpOperand &use) {
    Operation *reader = pause->getBlock()->findAncestorOpInBlock(*use.getOwner());
    if (reader != pause && !isa<reprise::ReturnOp, CopyOp>(reader) &&
        pause->isBeforeInBlock(reader) == isBehind)
      found = reader;
  });
  return found;
}

Operation *reprise::exec::findReaderBehind(PauseOp pause, Value value) {
  return findReader(value, pause, /*isBehind=*/true);
}

bool reprise::exec::isReadAcross(PauseOp pause, Value value) {
  return isThereAt(pause, value) && findReaderBehind(pause, value);
}

static LogicalResult refuse(Operation *op, Operation *reader, const Twine &message) {
  InFlightDiagnostic diagnostic = op->emitError(message);
  diagnostic.attachNote(reader->getLoc()) << "the reader";
  return diagnostic;
}

static LogicalResult verifyArguments(PauseOp pause, StoringOpInterface maker) {
  for (OpResult result : maker.getStoredResults())
    if ((*maker.getArguments())[result.getResultNumber()] >= 0 && isReadAcross(pause, result))
      return refuse(maker, findReaderBehind(pause, result),
                    "result " + Twine(result.getResultNumber()) +
                        " lies in an argument and is read after the pause, where arguments belong "
                        "to the caller");
  return success();
}

LogicalResult reprise::exec::verifyPause(ProgramOp function) {
  PauseOp pause = findPause(function);
  if (!pause)
    return success();
  for (Value late : pause.getLate())
    if (Operation *reader = findReader(late, pause, /*isBehind=*/false))
      return refuse(pause, reader, "a late value is read before the pause");
  for (Operation &op : *pause->getBlock()) {
    if (auto maker = dyn_cast<StoringOpInterface>(op);
        maker && failed(verifyArguments(pause, maker)))
      return failure();
    auto copy = dyn_cast<CopyOp>(op);
    if (!copy || !copy->isBeforeInBlock(pause))
      continue;
    if (Operation *reader = findReaderBehind(pause, function.getArgument(copy.getArgument())))
      return refuse(copy, reader,
                    "argument " + Twine(copy.getArgument()) +
                        " is overwritten before its last reader");
  }
  return success();
}
