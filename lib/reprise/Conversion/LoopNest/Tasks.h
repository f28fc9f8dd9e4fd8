// reprise: the values of a group that must be stored, and the tasks of loop nests for them
#ifndef REPRISE_CONVERSION_LOOPNEST_TASKS_H
#define REPRISE_CONVERSION_LOOPNEST_TASKS_H

#include "Program.h"

namespace reprise::nests {

/// A task of a nest.
struct Task {
  enum Kind {
    Element, // compute the elements of a value
    Parts,   // reduce blocks
    Finish,  // combine the blocks' parts to the elements of a value
    Alone,   // run an op that no loop nest computes
  } kind;
  /// `slot` is where the result goes.
  Root root;
  Shape shape;
  /// Stored values that the task reads.
  llvm::SmallVector<mlir::Value> reads;
  /// No op outside of the group reads the result.
  bool internal = true;
  bool done = false;

  bool sumsColumns() const { return kind == Parts && root.what == Stored::RowParts; }
  /// The shape is fixed by a reduction.
  bool isConstrained() const { return kind == Parts || !shape.rows.empty(); }
};

/// The tasks of a group.
struct TaskList {
  std::vector<Task> tasks;
  /// Parts of every reduction that is done in parts.
  llvm::DenseMap<mlir::Value, Leaves::Parts> parts;
  int64_t sharedBytes = 0;
};

/// Finds the values that must be stored between nests, and lists all tasks in program order.
mlir::FailureOr<TaskList> listTasks(Body &body, const NestRules &rules);

/// The leaves of the group itself.
Leaves argumentLeaves(Body &body, const NestRules &rules);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_TASKS_H
