// reprise: groups of ops that share a launch; a function of the graph only
#ifndef REPRISE_DIALECT_EXEC_TRANSFORMS_GROUPING_H
#define REPRISE_DIALECT_EXEC_TRANSFORMS_GROUPING_H

#include "reprise/Dialect/Exec/IR/FreeOps.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Interfaces/Kinds.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace reprise {
class Target;
} // namespace reprise

namespace reprise::exec {

/// Ops of one launch, in program order.
struct Group {
  llvm::SmallVector<mlir::Operation *> ops;
  /// Location of the launch: that of a contraction, attention or normalization if there is one.
  mlir::Location location;
};

/// Groups in the order of execution. An op joins the group of its latest
/// producer if a launch of the target can hold both.
class Grouping {
public:
  Grouping(mlir::Block &block, const Target &target);

  const std::vector<Group> &groups() const { return all; }
  /// Returns true if an op of another group, or the function's return, reads the value or a view of
  /// it.
  bool isReadOutside(mlir::Value value, const Group &group) const;

private:
  /// Returns the group of all readers of an op's result, if they are in one group.
  std::optional<size_t> findReadingGroup(mlir::Operation *op) const;
  /// Returns whether reading an operand of an op with `elements` elements costs a group no further
  /// load.
  bool canReadIn(mlir::Value operand, size_t group, int64_t elements) const;
  bool isMadeInReader(mlir::Operation *op, size_t reader) const;
  bool readsNarrower(mlir::Operation *op, size_t group) const;
  bool mayBeOverwritten(mlir::Value root, size_t group) const;
  void sink(mlir::Operation *op, const Target &target);

  std::vector<Group> all;
  llvm::DenseMap<mlir::Operation *, size_t> groupOf;
};

/// The argument that each op overwrites, because the result of the op is its next value.
using OldValues = llvm::DenseMap<mlir::Operation *, mlir::Value>;
OldValues findOldValues(ProgramOp entry);
/// Tells whether one of the ops would overwrite an argument in a group before one that reads it.
bool overtakesReader(const OldValues &oldValues, llvm::ArrayRef<mlir::Operation *> ops,
                     size_t group, const llvm::DenseMap<mlir::Operation *, size_t> &groupOf);

/// Tells whether no group reads what a later one makes.
bool isOrdered(llvm::ArrayRef<Group> groups,
               const llvm::DenseMap<mlir::Operation *, size_t> &groupOf);

/// Turns the ops of the entry into launches.
void formLaunches(ProgramOp entry, const Target &target);

/// Puts the ops of a block into groups, in program order: the step of `Grouping` before elementwise
/// ops sink to their readers.
void groupOps(mlir::Block &block, const Target &target, std::vector<Group> &groups,
              llvm::DenseMap<mlir::Operation *, size_t> &groupOf);

/// Returns the value of which `value` is a view or a choice.
mlir::Value rootOf(mlir::Value value);

/// Returns the part of the step that an op belongs to. Launches do not mix parts, so that a
/// cotangent never moves into the forward pass. Replays belong to the cotangents that read them.
int partOf(mlir::Operation *op);

/// Returns true if one launch can hold the ops, given in program order. For all targets, a loop is
/// no launch, and positions are read from memory.
bool canHold(llvm::ArrayRef<mlir::Operation *> ops, const Target &target);

/// Moves updates of parameters and state up: each directly behind its last operand and the last
/// other reader of the value that it replaces.
void hoistUpdates(mlir::Block &block);

} // namespace reprise::exec

#endif
