// reprise: ops of a step that read values of several replicas
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_JOINTOPS_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_JOINTOPS_H

#include "ReplicaCovers.h"

namespace reprise::pipe {

/// Joint ops of a flat step whose micro-batches belong to replicas. A joint op reads values of
/// several replicas, or of another joint op, or computes rows of owned arrays for such ops only. It
/// runs once, behind all passes.
///
/// For the part of replica o a joint op on values of the replicas [a, b) runs on replica
/// a + o mod (b - a). So each level of a tree of sums moves half of what is left.
class JointOps {
public:
  JointOps(ProgramOp step, int64_t replicas, const llvm::DenseSet<mlir::Value> &owned);

  bool contains(mlir::Operation *op) const { return op && joint.contains(op); }
  /// Returns true for an op that depends on no pass.
  bool isBefore(mlir::Operation *op) const { return !covers.find(op); }
  /// Returns the replica whose pass runs the op; none for a joint op, and for an op without a pass.
  std::optional<int64_t> findReplica(mlir::Operation *op) const;
  /// Returns the only replica whose passes read results of the op; none if there are several.
  std::optional<int64_t> findReader(mlir::Operation *op) const;
  /// Returns the replica that runs a joint op for the part of `owner`.
  int64_t pick(mlir::Operation *op, int64_t owner) const;

private:
  void findJoint();
  void findClosing(const llvm::DenseSet<mlir::Value> &owned);

  ProgramOp step;
  ReplicaCovers covers;
  llvm::DenseSet<mlir::Operation *> joint;
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_JOINTOPS_H
