// reprise: the problem of what to save and what to replay
#ifndef REPRISE_PLANNING_CHECKPOINT_PROBLEM_PROBLEM_H
#define REPRISE_PLANNING_CHECKPOINT_PROBLEM_PROBLEM_H

#include "reprise/Planning/Checkpoint/Problem/PlanEnums.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::checkpoint {

/// Kinds of operations: how an operation's kernel reads its operands and stores its results.
enum class Kind : uint8_t {
  Elementwise, // can be computed inside its consumer's kernel; reads from registers
  View,        // shows the elements of its operand; otherwise like Elementwise
  Reduction,   // reads from registers, but is a kernel of its own
  Contraction, // reads memory, often enough that a pass over an operand costs little beside it
  Other,       // reads memory: attention, gathers
};

/// An operand that is there whenever it is read: an argument, a constant, a value from outside.
inline constexpr int kAvailable = -1;

/// A differentiated computation: its primal part and its cotangents. The model:
///
/// - Operations stand in program order, without constants. Each reads values of earlier operations
///   and makes new ones. Values are numbered in the order in which they are made.
/// - A **primal** operation may be executed again; the others belong to the cotangent part and run
///   once. A value that is not primal is there for all its readers.
/// - A read is a **backward read** if a later expansion of the gradient made the reader than the
///   operation that is read (`readsBack`). Forward reads take the original; a backward read takes
///   the original or a replay.
/// - A value that no plan keeps for the backward pass is computed again from its operands, which
///   are kept or computed again themselves.
/// - **Containers** are the blocks of the user's program, as a tree. The outermost container and
///   the derivative order of an operation are its **unit**, such as a layer's backward pass;
///   replays are shared inside a unit.
/// - A **label** of a value limits plans: a MUST always, a PREFER as far as the budget allows it.
///
/// A solution is in Solution.h; what it takes is defined by the step around it, in Footprint.h.
struct Problem {
  /// Labels of offload are obeyed by ops of their own, so that no value of a problem has one.
  using Label = ValueLabel;

  /// A node of the tree of blocks. Container 0 is the root, which holds no operation itself;
  /// parents come before their children.
  struct Container {
    int parent = -1;
  };

  struct Operation {
    int container = 0;  // the innermost
    int body = 0;       // the body of a loop; replays serve readers in their own body only
    int64_t order = 0;  // derivative order: bit i is set if expansion i made the operation
    bool primal = true; // false: part of the cotangents, never replayed
    Kind kind = Kind::Other;
    bool remade = false; // a view that is made again where a replay reads it: what a loop keeps of
                         // a view is a copy
    int64_t flops = 0;
    std::vector<int> operands; // values or kAvailable
    int firstResult = 0;       // results are the values firstResult … firstResult + numResults - 1
    int numResults = 0;
  };

  struct Value {
    int operation = 0;
    int64_t bytes = 0;
    int root = 0; // the value whose buffer this one is a view of, or kAvailable; else itself
    Label label = Label::None;
    bool outlives = false; // read after the backward pass, so that it is there all the time
  };

  /// Every read may take a replay, as in a graph whose passes are not told apart. Choices then mean
  /// nothing; sequences plan such a problem.
  bool readsAnyReplay = false;
  std::vector<Container> containers;
  std::vector<Operation> operations;
  std::vector<Value> values;
};

/// The number of the expansion, from 1, that made operations of this order; 0 for the source.
int getLevel(int64_t order);

/// True if `reader` belongs to a backward pass over the computation that `definition` is part of:
/// a later expansion made it. Reads inside one level are forward flow.
bool readsBack(const Problem::Operation &reader, const Problem::Operation &definition);

/// Tells whether `reader` may take a replay of `definition` instead of the original.
inline bool mayReadReplay(const Problem &problem, const Problem::Operation &reader,
                          const Problem::Operation &definition) {
  return problem.readsAnyReplay || readsBack(reader, definition);
}

/// True if the operation's kernel reads its operands from memory.
inline bool usesMemory(const Problem::Operation &operation) {
  return operation.kind == Kind::Contraction || operation.kind == Kind::Other;
}

/// True if all backward reads of the value take its original, whatever is chosen.
bool isFixed(const Problem &problem, int value);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_PROBLEM_PROBLEM_H
