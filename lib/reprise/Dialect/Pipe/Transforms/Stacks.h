// reprise: the arrays of a step whose rows belong to different stages
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_STACKS_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_STACKS_H

#include "RowSplitter.h"

namespace reprise::pipe {

/// Arrays whose rows belong to stages. A stack is a value whose first dimension counts layers: a
/// parameter of an unrolled loop, its gradient, its optimizer's states, and elementwise results of
/// these. Stages read or compute single rows. Values connected by an elementwise op, or as an
/// argument and its next value, are all stacks or all not.
class Stacks : public RowParts {
public:
  explicit Stacks(ProgramOp step);

  bool empty() const { return stacks.empty(); }
  bool contains(mlir::Value value) const override { return stacks.contains(value); }
  /// Returns the single rows of a stack.
  llvm::SmallVector<RowRange> getParts(mlir::Value stack) const override;
  void markCopy(mlir::Operation *copy, mlir::Operation *op, int64_t row) const override;
  void markSlice(mlir::Operation *slice, mlir::Value value, mlir::Operation *reader,
                 int64_t row) const override;
  void markJoin(mlir::Operation *join, mlir::Value value, mlir::Operation *reader) const override;
  int64_t getBroadcastKey(BroadcastOp whole, int64_t row, mlir::Value result) const override;
  void markBroadcast(mlir::Operation *made, BroadcastOp whole, int64_t row,
                     mlir::Value result) const override;

private:
  std::optional<int64_t> getStage(mlir::Value stack, int64_t row) const;
  /// Properties of connected values.
  struct Group {
    std::vector<std::optional<int64_t>> stages; ///< stages by row
    bool isNamed = false;                       ///< whether it contains an argument or a result
    bool isWhole = false;                       ///< whether an op needs it in one piece
  };
  using Connected = llvm::EquivalenceClasses<void *>;

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
