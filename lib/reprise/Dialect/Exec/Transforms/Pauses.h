// reprise: what is there at the pause of a step, and what is read behind it
#ifndef REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_PAUSES_H
#define REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_PAUSES_H

#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"

namespace reprise::exec {

/// After the kernels phase, of a buffer's root: whether a command or a loop before the pause makes
/// it.
bool isThereAt(PauseOp pause, mlir::Value root);

/// A command or a loop behind the pause that reads the value; null if there is none.
mlir::Operation *findReaderBehind(PauseOp pause, mlir::Value value);

/// True for a value that is there at the pause and read behind it.
bool isReadAcross(PauseOp pause, mlir::Value value);

/// Checks a device program with places: nothing reads a late value before the pause, or in the
/// memory of the caller what was there at the pause.
mlir::LogicalResult verifyPause(ProgramOp function);

} // namespace reprise::exec

#endif
