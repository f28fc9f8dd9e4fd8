// reprise: which launch runs each op; asked before launches are formed
#ifndef REPRISE_DIALECT_EXEC_TRANSFORMS_LAUNCHES_H
#define REPRISE_DIALECT_EXEC_TRANSFORMS_LAUNCHES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace reprise {
class Target;
} // namespace reprise

namespace reprise::exec {

/// The launches, and loops, that exec-form-launches would make of the function's outermost block,
/// in order of execution. Ops that every reader makes for itself have none. The function stays as
/// it is.
struct LaunchNumbers {
  llvm::DenseMap<mlir::Operation *, int> of;
  int count = 0;
};
LaunchNumbers numberLaunches(mlir::func::FuncOp function, const Target &target);

} // namespace reprise::exec

#endif // REPRISE_DIALECT_EXEC_TRANSFORMS_LAUNCHES_H
