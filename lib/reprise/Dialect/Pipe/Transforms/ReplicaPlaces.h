// reprise: the replicas that run the ops of a step and own its arrays
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_REPLICAPLACES_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_REPLICAPLACES_H

#include "JointOps.h"
#include "RowSplitter.h"

namespace reprise::pipe {

/// Replicas of a flat step whose micro-batches belong to replicas.
///
/// - Arrays that joint elementwise ops connect, and an argument and its next value, form a group.
///   A group with rows enough is cut into a part per replica. Any other group belongs to one
///   replica.
/// - An input of samples is cut into the rows that each replica reads.
class ReplicaPlaces : public RowParts {
public:
  /// Finds the replicas. Parts of fewer than `leastBytes` bytes are not made.
  ReplicaPlaces(ProgramOp step, int64_t replicas, int64_t leastBytes);

  /// Marks joint ops, and arguments that are not cut, with their replicas. Joint ops lose their
  /// micro-batch.
  void mark();

  bool contains(mlir::Value value) const override;
  llvm::SmallVector<RowRange> getParts(mlir::Value value) const override;
  llvm::SmallVector<int64_t> getRuns(mlir::Operation *op) const override;
  void describeArgument(mlir::Value argument, int64_t part,
                        mlir::NamedAttrList &attributes) const override;
  bool reduces(mlir::Operation *op) const override;
  void markReduction(mlir::Operation *made, mlir::Operation *op, int64_t part) const override;
  void markCopy(mlir::Operation *copy, mlir::Operation *op, int64_t part) const override;
  void markSlice(mlir::Operation *slice, mlir::Value value, mlir::Operation *reader,
                 int64_t part) const override;
  void markJoin(mlir::Operation *join, mlir::Value value, mlir::Operation *reader) const override;
  int64_t getBroadcastKey(BroadcastOp, int64_t, mlir::Value) const override { return 0; }
  void markBroadcast(mlir::Operation *, BroadcastOp, int64_t, mlir::Value) const override {}

private:
  struct Group {
    int64_t bytes = 0;    ///< bytes of its arguments
    int64_t largest = 0;  ///< bytes of its largest value
    int64_t owner = 0;    ///< replica of a group that is not cut
    bool isNamed = false; ///< whether it contains an argument or a result
    bool isWhole = false; ///< whether an op needs it in one piece
  };

  void look();
  void assignOwners();
  void cutInputs();
  bool isOwned(mlir::BlockArgument argument) const { return owned.contains(argument); }
  bool isConnecting(mlir::Value value) const;
  bool isCut(const Group &group, mlir::Value value) const;
  const Group *find(mlir::Value value) const;
  Group *find(mlir::Value value);
  int64_t findOwner(mlir::Operation *op) const;
  int64_t getOwner(int64_t part) const;
  int64_t pick(mlir::Operation *op, int64_t part) const { return joint.pick(op, getOwner(part)); }

  ProgramOp step;
  EntrySignature signature;
  int64_t replicas, leastBytes;
  llvm::DenseSet<mlir::Value> owned; ///< arguments that live on one replica, or in parts
  JointOps joint;
  llvm::EquivalenceClasses<void *> connected;
  llvm::DenseMap<void *, Group> groups;                            ///< groups by leader
  llvm::DenseMap<mlir::Value, llvm::SmallVector<RowRange>> inputs; ///< parts of inputs of samples
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_REPLICAPLACES_H
