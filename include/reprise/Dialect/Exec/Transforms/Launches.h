// reprise: which launch runs each op; asked before launches are formed
#ifndef REPRISE_DIALECT_EXEC_TRANSFORMS_LAUNCHES_H
#define REPRISE_DIALECT_EXEC_TRANSFORMS_LAUNCHES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace reprise {
class LaunchFacts;
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

/// Per launch, as numbered: the bytes that its commands share, while it runs; for a loop the most
/// that a launch of it takes. Errors at an op that no kernel can hold.
mlir::FailureOr<std::vector<int64_t>>
findScratch(mlir::func::FuncOp function, const LaunchNumbers &numbers, LaunchFacts &facts);

} // namespace reprise::exec

#endif // REPRISE_DIALECT_EXEC_TRANSFORMS_LAUNCHES_H
