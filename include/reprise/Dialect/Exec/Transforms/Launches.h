// reprise: the launch of each op, before launches are formed
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

/// Numbers of the launches and loops that exec-form-launches would make of the function's outermost
/// block, in order of execution. Numbers from `count` on are those of launches in bodies of loops.
/// Ops that every reader copies have no number. The function stays unchanged.
struct LaunchNumbers {
  llvm::DenseMap<mlir::Operation *, int> of;
  int count = 0;
  llvm::DenseMap<mlir::Operation *, int> inBody; ///< launches and loops in the body of each loop
};
LaunchNumbers numberLaunches(ProgramOp function, const Target &target);

/// Copy of the function with its launches, and the number of each launch or of the loop around it;
/// -1 for copies at the end, which have no number.
struct FormedLaunches {
  mlir::OwningOpRef<ProgramOp> function;
  std::vector<std::pair<LaunchOp, int>> launches;             ///< in program order
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> loops; ///< loops by their originals
};
FormedLaunches formLaunches(ProgramOp function, const LaunchNumbers &numbers, const Target &target);

} // namespace reprise::exec

#endif // REPRISE_DIALECT_EXEC_TRANSFORMS_LAUNCHES_H
