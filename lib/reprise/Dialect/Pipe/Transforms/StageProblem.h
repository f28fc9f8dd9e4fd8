// reprise: seconds and bytes of a step with marks of stages
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_STAGEPROBLEM_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_STAGEPROBLEM_H

#include "reprise/Dialect/Pipe/IR/CheckpointModes.h"
#include "reprise/Dialect/Pipe/Transforms/StageInputs.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Mesh/Step.h"

namespace reprise::pipe {

/// Problem of a flat step whose marks are units: costs of its passes on each device, saved bytes by
/// the labels, possible replays, and values that cross units. Seconds are those of the cost model,
/// bytes those of types. Both are estimates: launches may store less.
class StageProblem {
public:
  /// Builds the problem. `checkpoint` is a mode of stages, or empty. The inputs have as many
  /// devices as the pipeline of one replica.
  StageProblem(ProgramOp step, const StageInputs &inputs, llvm::StringRef checkpoint,
               int64_t replicas);

  int64_t countUnits() const { return static_cast<int64_t>(problem.units.size()); }
  /// Returns the micro-batches of one replica.
  int64_t countMicrobatches() const { return microbatches / replicas; }

  /// Returns the numbers of a step that is cut into `parts` parts of the model, for the device of
  /// the first part: its own ops, and the ops that belong to no part. The values that it receives
  /// from other parts count as seconds.
  mesh::Step describe(int64_t parts) const;

  /// Makes the problem for the stages of a schedule. `rooms` is, per device, the fraction of its
  /// bytes that may be used.
  stages::Problem make(const pipeline::Schedule &schedule, llvm::ArrayRef<double> rooms) const;

private:
  void addSeconds();
  static int64_t countWorking(mlir::Operation *op);
  void addResident();
  void addTied(mlir::Value argument, int home);
  void addValues();
  void addSaved(llvm::StringRef checkpoint);
  void addReplayed(const CheckpointMode &mode);
  void addMadeForWeight();
  void addReceived(int64_t parts, std::vector<pipeline::Stage> &units) const;
  double &pick(pipeline::Stage &stage, mlir::Operation *op) const;
  std::optional<int64_t> getUnit(mlir::Operation *op) const;
  bool isFirst(mlir::Operation *op) const;

  ProgramOp step;
  const StageInputs &inputs;
  stages::Problem problem; ///< problem without devices and slots
  /// Distinct models; the model of the problem's units is the first.
  std::vector<const CostModel *> models;
  std::vector<int> modelOf;           ///< models by device
  std::vector<int64_t> madeForWeight; ///< bytes by unit
  std::vector<int64_t> numParameters; ///< parameters that live with a unit
  int64_t microbatches, replicas;
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_STAGEPROBLEM_H
