// reprise: which launch runs each op; asked before launches are formed
#ifndef REPRISE_DIALECT_EXEC_TRANSFORMS_LAUNCHES_H
#define REPRISE_DIALECT_EXEC_TRANSFORMS_LAUNCHES_H

#include "mlir/IR/OwningOpRef.h"
#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace reprise {
class Target;
} // namespace reprise

namespace reprise::exec {

/// The launches, and loops, that exec-form-launches would make of the function's outermost block,
/// in order of execution; numbers from `count` on are those of launches in bodies of loops. Ops
/// that every reader makes for itself have none. The function stays as it is.
struct LaunchNumbers {
  llvm::DenseMap<mlir::Operation *, int> of;
  int count = 0;
  llvm::DenseMap<mlir::Operation *, int> inBody; ///< per loop: launches, and loops, of its body
};
LaunchNumbers numberLaunches(ProgramOp function, const Target &target);

/// A copy of the function with its launches, and the number that each has, or that the loop around
/// it has; -1 for copies at its end, which have none.
struct FormedLaunches {
  mlir::OwningOpRef<ProgramOp> function;
  std::vector<std::pair<LaunchOp, int>> launches;             ///< in program order
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> loops; ///< by the originals
};
FormedLaunches formLaunches(ProgramOp function, const LaunchNumbers &numbers, const Target &target);

} // namespace reprise::exec

#endif // REPRISE_DIALECT_EXEC_TRANSFORMS_LAUNCHES_H
