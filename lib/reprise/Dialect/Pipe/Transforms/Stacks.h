// reprise: the arrays of a step whose rows belong to different stages
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_STACKS_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_STACKS_H

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace reprise::pipe {

/// Arrays whose rows belong to stages. A stack is a value whose first dimension counts layers: a
/// parameter of an unrolled loop, its gradient, its optimizer's states, and elementwise results of
/// these. Stages read or compute single rows. Values connected by an elementwise op, or as an
/// argument and its next value, are all stacks or all not.
class Stacks {
public:
  explicit Stacks(ProgramOp step);

  bool empty() const { return stacks.empty(); }
  bool contains(mlir::Value value) const { return stacks.contains(value); }
  /// Returns the first stage that reads or computes row `row` of a stack, or of a connected stack.
  std::optional<int64_t> getStage(mlir::Value stack, int64_t row) const;

  static int64_t countRows(mlir::Value stack);
  /// Returns true if the op computes each row of its result from the same row of its operands.
  static bool isRowwise(mlir::Operation *op);
  /// Returns the row of a slice, if it lies in one row.
  static std::optional<int64_t> getRow(mlir::Operation *op);

private:
  /// Properties of connected values.
  struct Group {
    std::vector<std::optional<int64_t>> stages; ///< stages by row
    bool isNamed = false;                       ///< whether it contains an argument or a result
    bool isWhole = false;                       ///< whether an op needs it in one piece
  };
  using Connected = llvm::EquivalenceClasses<void *>;

  void connect(ProgramOp step);
  void connectResults(ProgramOp step);
  void look(ProgramOp step);
  void meet(mlir::Value stack, int64_t row, mlir::Operation *op);
  Group *find(mlir::Value value);
  bool isCut(const Group &group) const;

  Connected connected;
  llvm::DenseMap<void *, Group> groups; ///< groups by leader
  llvm::DenseMap<mlir::Value, void *> stacks;
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_STACKS_H
