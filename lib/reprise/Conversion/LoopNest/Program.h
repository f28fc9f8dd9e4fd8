// reprise: a group of ops as a sequence of loop nests
#ifndef REPRISE_CONVERSION_LOOPNEST_PROGRAM_H
#define REPRISE_CONVERSION_LOOPNEST_PROGRAM_H

#include "BuildNest.h"
#include "Schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace reprise::nests {

/// A copy of a group's body in simpler ops: composite ops expanded in their compute type, argmax as
/// reductions.
struct Body {
  mlir::OwningOpRef<mlir::func::FuncOp> function;
  /// Results, one per operand of the group's terminator.
  llvm::SmallVector<mlir::Value> results;

  llvm::ArrayRef<mlir::BlockArgument> arguments() { return function->getArguments(); }
  /// Returns the number of elements of the largest value.
  int64_t countMostElements() const;
};
/// Fails, without a message, if there are ops that no loop nest computes.
/// `contraction`, if there is one, is not copied; its result is then the last argument.
mlir::FailureOr<Body> simplifyBody(mlir::Block &block, mlir::Operation *contraction = nullptr);

/// Plans the nests of a body, as few as its reductions allow, in a program of the name. Nests that
/// the launch names are copied instead.
mlir::FailureOr<mlir::OwningOpRef<NestProgramOp>>
planProgram(mlir::Block &block, const NestRules &rules, llvm::StringRef name = "nests");

/// Checks the schedules that kernels have already: a target, whose schedules `makeSchedule` makes,
/// must be able to run them.
mlir::LogicalResult verifySchedules(NestProgramOp program, ScheduleFn makeSchedule);

/// Returns the body of a launch as Target::formNests does, with schedules.
mlir::OwningOpRef<mlir::Operation *> formNests(mlir::Block &body, const NestRules &rules,
                                               llvm::StringRef name, ScheduleFn makeSchedule);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_PROGRAM_H
