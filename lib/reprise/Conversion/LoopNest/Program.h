// reprise: a group of ops as a sequence of loop nests
#ifndef REPRISE_CONVERSION_LOOPNEST_PROGRAM_H
#define REPRISE_CONVERSION_LOOPNEST_PROGRAM_H

#include "Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace reprise::nests {

/// A copy of a group's body in simpler ops: composite ops expanded in their compute type, argmax as
/// reductions.
struct Body {
  mlir::OwningOpRef<mlir::func::FuncOp> function;
  /// One per operand of the group's terminator.
  llvm::SmallVector<mlir::Value> results;

  llvm::ArrayRef<mlir::BlockArgument> arguments() { return function->getArguments(); }
  /// Of the largest value.
  int64_t countMostElements() const;
};
/// Fails, without a message, if there are ops that no loop nest computes.
/// `contraction`, if there is one, is not copied; its result is then the last argument.
mlir::FailureOr<Body> simplifyBody(mlir::Block &block, mlir::Operation *contraction = nullptr);

/// Whether loop nests compute the op.
bool isLoopOp(mlir::Operation *op);

/// True if the op has kernels of its own on every target that runs it, which read its operands from
/// buffers.
bool runsAlone(mlir::Operation *op);

/// True if the result of an op that runs alone may lie where operand 0 lies: every element of that
/// is read for the last time before the same element of the result is written, by the same worker.
bool overwritesFirstOperand(mlir::Operation *op);

/// A loop nest, or an op that runs alone.
struct Nest {
  Graph graph;
  /// Null for a loop nest. The buffers are those of the operands and of the results that are
  /// stored.
  mlir::Operation *alone = nullptr;
  llvm::SmallVector<bool> storedResults = {};
  llvm::SmallVector<BufferSlot> aloneBuffers = {};
};

struct Program {
  Body body;
  std::vector<Nest> nests;
  int64_t sharedBytes = 0;
};

/// Plans the nests of a body: as few as its reductions allow.
mlir::FailureOr<Program> planProgram(mlir::Block &block, const NestRules &rules);

/// Whether one pass over the elements does all the work, small nests for what remains aside.
bool isOnePass(const Program &program);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_PROGRAM_H
