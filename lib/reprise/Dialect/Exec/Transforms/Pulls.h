// reprise: from pulls of the graph to receives
#ifndef REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_PULLS_H
#define REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_PULLS_H

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::exec {

/// Returns true if the pulled parts of the join are received in their places in its result. Such
/// parts are whole rows, at multiples of the alignment of buffers, and have no other reader. A join
/// that its readers compute from registers is no buffer.
bool isGather(mlir::Operation *op);

/// Returns the pulls of which a gather is the only reader.
llvm::SmallVector<mlir::Operation *> findPulls(mlir::Operation *gather);

/// Returns true for a pull of a gather.
bool isPulledInPlace(mlir::Operation *op);

/// Receives of the values that a program pulls. The other program begins its sends before all
/// passes, so a receive may begin anywhere.
class Pulls {
public:
  /// Replaces a pull by a receive and a wait at the insertion point. Returns the received value.
  mlir::Value form(mlir::OpBuilder &builder, PullOp pull);

  /// Begins each receive before launches that move `bytesBeside` bytes per byte of the value.
  void beginEarly(int64_t bytesBeside);

private:
  llvm::SmallVector<ReceiveOp> receives;
};

} // namespace reprise::exec

#endif // REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_PULLS_H
