// reprise: a step with marks of stages, as seconds and bytes
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_STAGEPROBLEM_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_STAGEPROBLEM_H

#include "reprise/Dialect/Pipe/Transforms/StageInputs.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Stages/Balance.h"

namespace reprise::pipe {

/// Takes a flat step, whose marks are units, apart: what its passes take on each device, what they
/// save as the labels say, what they may make again, and what crosses units. Seconds and bytes are
/// those of the cost model and of types, so they are estimates: launches may store less.
class StageProblem {
public:
  /// `checkpoint` is a mode of stages, or empty. The inputs have as many devices as the pipeline.
  StageProblem(ProgramOp step, const StageInputs &inputs, llvm::StringRef checkpoint);

  int64_t countUnits() const { return static_cast<int64_t>(problem.units.size()); }
  int64_t countMicrobatches() const { return microbatches; }

  /// For the stages of a schedule. `rooms` says per device which part of its bytes they may take.
  stages::Problem make(const pipeline::Schedule &schedule, llvm::ArrayRef<double> rooms) const;

private:
  void addSeconds();
  static int64_t countWorking(mlir::Operation *op);
  void addResident();
  void addTied(mlir::Value argument, int home);
  void addValues();
  void addSaved(llvm::StringRef checkpoint);
  void addReplayed(llvm::StringRef checkpoint);
  void addMadeForWeight();
  double &pick(pipeline::Stage &stage, mlir::Operation *op) const;
  std::optional<int64_t> getUnit(mlir::Operation *op) const;
  bool isFirst(mlir::Operation *op) const;

  ProgramOp step;
  const StageInputs &inputs;
  stages::Problem problem;               ///< without devices and slots
  std::vector<const CostModel *> models; ///< those that differ, that of the problem's units first
  std::vector<int> modelOf;              ///< by device
  std::vector<int64_t> madeForWeight;    ///< by unit
  int64_t microbatches = 1;
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_STAGEPROBLEM_H
