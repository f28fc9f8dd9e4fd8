// reprise: values that exist at the pause of a step, and values that are read behind it
#ifndef REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_PAUSES_H
#define REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_PAUSES_H

#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"

namespace reprise::exec {

/// Returns, after the kernels phase, whether a command or a loop before the pause computes the
/// buffer of `root`.
bool isThereAt(PauseOp pause, mlir::Value root);

/// Returns a command or a loop behind the pause that reads the value; null if there is none.
mlir::Operation *findReaderBehind(PauseOp pause, mlir::Value value);

/// Returns true for a value that exists at the pause and is read behind it.
bool isReadAcross(PauseOp pause, mlir::Value value);

/// Verifies a device program with places. Before the pause no command may read a late value. Behind
/// the pause no command may read, in memory of the caller, a value that existed at the pause.
mlir::LogicalResult verifyPause(ProgramOp function);

} // namespace reprise::exec

#endif
