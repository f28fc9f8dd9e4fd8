// reprise: the leader of a launch, and where its operands lie
#ifndef REPRISE_CONVERSION_LOOPNEST_LAUNCHOPERANDS_H
#define REPRISE_CONVERSION_LOOPNEST_LAUNCHOPERANDS_H

#include "reprise/Target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>

namespace reprise {

/// The only contraction or convolution of a body; null if there are none or more.
mlir::Operation *findLeader(mlir::Block &body);

/// True for an argument, or what movement, iotas and constants make of arguments: it needs no
/// arithmetic, so that it is read where it lies, or copied first.
bool isMoved(mlir::Value value);

/// True if the body holds nothing but `leader` and its operands, and stores its result.
bool isAlone(mlir::Block &body, mlir::Operation *leader);

/// An operand in memory: `slot` is the address of the first element of a buffer or of a copy,
/// `strides` are in elements.
struct LaunchOperand {
  BufferSlot slot;
  llvm::SmallVector<int64_t> strides;
};

/// Emits the loop nests of a body for some target, as Target::emitLaunch does.
using EmitLoopsFn =
    std::function<mlir::FailureOr<EmittedLaunch>(mlir::Block &, llvm::StringRef, mlir::ModuleOp)>;

/// Finds the operands of a leader in the arguments of its body. An operand that is no strided view
/// of an argument (a constant, a reshape across strides) is copied to the shared scratch by
/// commands that run first.
class LaunchOperands {
public:
  LaunchOperands(llvm::StringRef name, mlir::ModuleOp kernels, EmitLoopsFn emitLoops)
      : name(name), kernels(kernels), emitLoops(std::move(emitLoops)) {}
  /// The target emits the copies; it outlives this.
  LaunchOperands(llvm::StringRef name, mlir::ModuleOp kernels, const Target &target)
      : LaunchOperands(name, kernels,
                       [&target](mlir::Block &body, llvm::StringRef own, mlir::ModuleOp module) {
                         return target.emitLaunch(body, own, module);
                       }) {}

  /// With `dense` the operand is copied too if it is not row-major. Errors are emitted at an op
  /// that no loop nest computes.
  mlir::FailureOr<LaunchOperand> find(mlir::Value value, bool dense = false);

  /// A copy with `low` zeros before and `high` ones after each dimension.
  mlir::FailureOr<LaunchOperand> findPadded(mlir::Value value, llvm::ArrayRef<int64_t> low,
                                            llvm::ArrayRef<int64_t> high);

  /// A copy in which the dimensions lie in this order, the outermost one first. The strides are
  /// those of the value's dimensions.
  mlir::FailureOr<LaunchOperand> findOrdered(mlir::Value value, llvm::ArrayRef<int64_t> order);

  /// Emits commands of a function after the commands of the launch. The function's arguments lie in
  /// `inputs`. Its result is that of the launch, which may lie in place of an input.
  llvm::LogicalResult emitBehind(mlir::func::FuncOp function, llvm::ArrayRef<BufferSlot> inputs);

  /// The commands that copy, and their scratch.
  EmittedLaunch launch;

private:
  /// Emits a function of the body's arguments.
  mlir::FailureOr<LaunchOperand> emitCopy(mlir::func::FuncOp function);

  std::string name;
  mlir::ModuleOp kernels;
  EmitLoopsFn emitLoops;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_LOOPNEST_LAUNCHOPERANDS_H
