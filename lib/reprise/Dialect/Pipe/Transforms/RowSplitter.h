// reprise: replaces arrays of a step by parts of their rows
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_ROWSPLITTER_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_ROWSPLITTER_H

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include "llvm/ADT/EquivalenceClasses.h"

#include <map>

namespace reprise::pipe {

/// Rows [first, end) of an array.
struct RowRange {
  int64_t first, end;
  int64_t size() const { return end - first; }
};

/// Returns true for a tensor of two or more rows.
bool hasRows(mlir::Type type);
/// Returns the number of rows of an array.
int64_t countRows(mlir::Value value);
/// Connects the values that are cut together or not at all: what an op computes row by row with its
/// operands, and an argument with its next value. Only values with `isConnecting` take part.
void connectRows(ProgramOp step, llvm::function_ref<bool(mlir::Value)> isConnecting,
                 llvm::EquivalenceClasses<void *> &connected);
/// Returns true if the op computes each row of its result from the same row of its operands.
bool isRowwise(mlir::Operation *op);
/// Returns the type of some rows of an array.
mlir::RankedTensorType getPartType(mlir::Type whole, int64_t rows);
/// Copies the marks of gradients, stages and micro-batches of `from` to an op that moves its rows.
void copyMarks(mlir::Operation *op, mlir::Operation *from);

/// Arrays that are cut into parts of rows, and the marks of the ops that compute and move parts.
class RowParts {
public:
  virtual ~RowParts() = default;

  /// Returns true for an array that is cut. Its maker is an argument, a join of the parts, or an
  /// op that works row by row.
  virtual bool contains(mlir::Value value) const = 0;
  /// Returns the parts of a cut array, in order.
  virtual llvm::SmallVector<RowRange> getParts(mlir::Value value) const = 0;
  /// Returns the first part of each run of parts that a row by row op computes at once, in order.
  virtual llvm::SmallVector<int64_t> getRuns(mlir::Operation *op) const {
    return llvm::to_vector(llvm::seq<int64_t>(0, getParts(op->getResult(0)).size()));
  }
  /// Adds the attributes of a part of a cut argument.
  virtual void describeArgument(mlir::Value, int64_t /*part*/, mlir::NamedAttrList &) const {}

  /// Returns true for a reduction of a cut array that reduces the parts where they are.
  virtual bool reduces(mlir::Operation * /*op*/) const { return false; }
  /// Marks an op that reduces a part for `op`.
  virtual void markReduction(mlir::Operation * /*made*/, mlir::Operation * /*op*/,
                             int64_t /*part*/) const {}
  /// Marks the copy of `op` that computes a run of its result, from this part on.
  virtual void markCopy(mlir::Operation *copy, mlir::Operation *op, int64_t part) const = 0;
  /// Marks the slice of the part of `value` that `reader` reads.
  virtual void markSlice(mlir::Operation *slice, mlir::Value value, mlir::Operation *reader,
                         int64_t part) const = 0;
  /// Marks the join of the parts of `value` for `reader`.
  virtual void markJoin(mlir::Operation *join, mlir::Value value,
                        mlir::Operation *reader) const = 0;
  /// Returns a key of the broadcast of part `part` of `whole` for an op that computes the same part
  /// of `result`, if it is known; readers with equal keys share the broadcast.
  virtual int64_t getBroadcastKey(BroadcastOp whole, int64_t part, mlir::Value result) const = 0;
  virtual void markBroadcast(mlir::Operation *made, BroadcastOp whole, int64_t part,
                             mlir::Value result) const = 0;
};

/// Splitter that replaces each cut array by one value per part: arguments, results and the ops
/// between. An op that needs all rows reads the parts joined.
class RowSplitter {
public:
  RowSplitter(ProgramOp step, const RowParts &parts);
  void run();

private:
  /// Neighbouring parts that are one value.
  struct Run {
    int64_t part; ///< the first part
    RowRange rows;
    mlir::Value value;
  };

  mlir::DictionaryAttr describePart(mlir::DictionaryAttr whole, RowRange part, int64_t rows);
  void splitArguments();
  void splitResults();
  void replace(mlir::Operation &op);
  void splitOp(mlir::Operation &op);
  llvm::SmallVector<Run> formRuns(mlir::Operation &op);
  void setParts(mlir::Value whole, mlir::ValueRange values);
  bool takePart(SliceOp op);
  mlir::Value getPart(mlir::Value value, RowRange range, int64_t part, mlir::Operation *reader,
                      mlir::Value result);
  mlir::Value getConstant(ConstantOp whole, mlir::SplatElementsAttr splat, int64_t rows);
  mlir::Value getBroadcast(BroadcastOp whole, RowRange range, int64_t part, mlir::Value result);
  mlir::Value slice(mlir::Value from, RowRange range, mlir::Operation *reader);
  mlir::Value join(mlir::Value value, mlir::Operation *reader);

  ProgramOp step;
  const RowParts &parts;
  llvm::DenseSet<mlir::StringAttr> names; ///< names of whole arguments and results
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Run>> runsOf; ///< runs of each cut array
  /// Equal parts, by op, key and rows.
  std::map<std::tuple<mlir::Operation *, int64_t, int64_t>, mlir::Value> common;
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_ROWSPLITTER_H
