// reprise: where the operands of a launch's leader lie
#ifndef REPRISE_CONVERSION_CPU_LAUNCHOPERANDS_H
#define REPRISE_CONVERSION_CPU_LAUNCHOPERANDS_H

#include "reprise/Conversion/Cpu/EmitLaunch.h"

namespace reprise {

/// One operand as a kernel reads it: `slot` is the address of the first element of a buffer or of a
/// copy, `strides` are in elements.
struct LaunchOperand {
  BufferSlot slot;
  llvm::SmallVector<int64_t> strides;
};

/// Finds the operands of a leader in the arguments of its body. What is no strided view of an
/// argument (a constant, a reshape across strides) is copied to the shared scratch by commands that
/// come first.
class LaunchOperands {
public:
  LaunchOperands(llvm::StringRef name, mlir::ModuleOp kernels, const CpuTarget &target)
      : name(name), kernels(kernels), target(target) {}

  /// With `dense` the operand is copied too if it is not row-major. Errors are emitted at an op
  /// that no loop nest computes.
  mlir::FailureOr<LaunchOperand> find(mlir::Value value, bool dense = false);

  /// The commands that copy, and their scratch.
  EmittedLaunch launch;

private:
  mlir::FailureOr<LaunchOperand> copy(mlir::Value value);

  std::string name;
  mlir::ModuleOp kernels;
  const CpuTarget &target;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_LAUNCHOPERANDS_H
