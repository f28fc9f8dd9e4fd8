// reprise: the arrays of a step whose rows belong to different stages
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_STACKS_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_STACKS_H

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace reprise::pipe {

/// A stack is a value whose first dimension counts layers: a parameter of a loop that was unrolled,
/// its gradient, its optimizer's states, and what elementwise ops make of them. Stages read or make
/// single rows of it. Values that an elementwise op, or an argument and its next value, connect are
/// stacks together or not at all.
class Stacks {
public:
  explicit Stacks(ProgramOp step);

  bool empty() const { return stacks.empty(); }
  bool contains(mlir::Value value) const { return stacks.contains(value); }
  /// The first stage that reads or makes row `row` of a stack, or of one that is connected to it.
  std::optional<int64_t> getStage(mlir::Value stack, int64_t row) const;

  static int64_t countRows(mlir::Value stack);
  /// True if the op makes each row of its result of the same row of its operands.
  static bool isRowwise(mlir::Operation *op);
  /// The row that a slice lies in, if it is of one.
  static std::optional<int64_t> getRow(mlir::Operation *op);

private:
  /// What is known of values that are connected.
  struct Group {
    std::vector<std::optional<int64_t>> stages; ///< by row
    bool isNamed = false;                       ///< an argument or a result is among them
    bool isWhole = false;                       ///< something needs it in one piece
  };
  using Connected = llvm::EquivalenceClasses<void *>;

  void connect(ProgramOp step);
  void connectResults(ProgramOp step);
  void look(ProgramOp step);
  void meet(mlir::Value stack, int64_t row, mlir::Operation *op);
  Group *find(mlir::Value value);
  bool isCut(const Group &group) const;

  Connected connected;
  llvm::DenseMap<void *, Group> groups; ///< by leader
  llvm::DenseMap<mlir::Value, void *> stacks;
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_STACKS_H
