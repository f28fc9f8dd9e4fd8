// reprise: states of the values of a step for micro-batches
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_BATCHSTATES_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_BATCHSTATES_H

#include "reprise/Dialect/Reprise/Batching.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// State of a value for micro-batches.
struct BatchState {
  enum Kind {
    Whole, ///< independent of the batch, or of inputs only: known before the first micro-batch
    Rows,  ///< each micro-batch has its samples' rows of one dimension
    Own,   ///< each micro-batch has its own value, such as the statistics of its samples
    Part,  ///< inside a loop: each micro-batch has a summand, and their sum is the value
    Total  ///< depends on a sum or mean over the batch: known after the last micro-batch
  };
  Kind kind = Whole;
  int64_t dim = -1; ///< Rows: the dimension
  int64_t rows = 0; ///< Rows: rows of that dimension per sample
  bool operator==(const BatchState &other) const {
    return kind == other.kind && dim == other.dim && rows == other.rows;
  }
};

/// Cut of an op for a micro-batch: its factor `factor` has `each` indices per sample.
struct BatchCut {
  OpFactors factors;
  /// Factor of the cut; -1 if the op reads values of its micro-batch, but none with rows.
  int factor = -1;
  int64_t each = 0;
  bool isGroupMean = false; ///< each micro-batch divides its own summand

  /// Returns true if the results are sums or means over the micro-batches.
  bool isReduced() const { return is(FactorKind::Summed) || is(FactorKind::Averaged); }
  bool is(FactorKind kind) const { return factor >= 0 && factors.factors[factor].kind == kind; }
  /// Rows per sample of a dimension that begins with the factor.
  int64_t countRows(const OpFactors::Dim &dim) const { return each * factors.countRows(dim); }
};

/// Returns the cut with which the op of a result computes only `rows` per sample of a dimension;
/// none if it cannot.
std::optional<BatchCut> findWindow(mlir::OpResult result, int64_t dim, int64_t rows);

/// States of all values of a function, loops included. Arguments with a batch dimension have rows.
/// A state whose next value every micro-batch computes passes from one micro-batch to the next
/// (Own).
class BatchStates {
public:
  /// Finds the states. Errors, at the op: samples that are coupled by more than a sum or a mean; a
  /// total that is read beside rows; inputs with different batches.
  static mlir::FailureOr<BatchStates> find(ProgramOp step);

  BatchState get(mlir::Value value) const { return states.lookup(value); }
  /// Returns how an op is cut; null for loops and for ops that do not run on micro-batches.
  const BatchCut *getCut(mlir::Operation *op) const;
  /// Returns true if the op runs once per micro-batch.
  bool isCut(mlir::Operation *op) const { return getCut(op) || cutLoops.contains(op); }
  /// Returns true for a loop along the batch, whose iterations are divided among micro-batches.
  bool isAlongBatch(mlir::Operation *loop) const { return batchLoops.contains(loop); }
  int64_t getBatch() const { return batch; }

private:
  explicit BatchStates(ProgramOp step) : step(step), signature(step) {}
  mlir::LogicalResult setArguments();
  mlir::LogicalResult visitAll(mlir::Block &block);
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult visitLoop(LoopOp loop);
  void setSlices(LoopOp loop);
  mlir::LogicalResult visitBatchLoop(LoopOp loop);
  mlir::FailureOr<bool> joinCarries(LoopOp loop);
  mlir::LogicalResult setLoopResults(LoopOp loop);
  mlir::LogicalResult visitParts(mlir::Operation *op);
  mlir::LogicalResult visitStatistics(BatchStatisticsOp op);
  bool visitGroupMean(mlir::Operation *op);
  mlir::FailureOr<BatchCut> findCut(mlir::Operation *op);
  mlir::LogicalResult setResults(mlir::Operation *op, const BatchCut &cut);
  bool handOverStates(bool &changed);
  bool isOfInputs(mlir::Operation *op) const;
  void followJoined(mlir::Operation *op);

  ProgramOp step;
  EntrySignature signature;
  int64_t batch = 0;
  llvm::DenseMap<mlir::Value, BatchState> states;
  llvm::DenseSet<mlir::Value> ofInputs; ///< values that depend on no parameter and no state
  /// Values of inputs that hold all samples, by the op that cannot be cut.
  llvm::DenseMap<mlir::Value, mlir::Operation *> joined;
  mlir::Operation *joinedReader = nullptr; ///< first reader that depends on more than inputs
  llvm::DenseMap<mlir::Operation *, BatchCut> cuts;
  llvm::DenseSet<mlir::Operation *> cutLoops, batchLoops;
};

inline bool isInLoop(mlir::Operation *op) { return op->getParentOfType<LoopOp>() != nullptr; }

/// Returns true if the op is in a loop along the batch.
bool isInBatchLoop(const BatchStates &states, mlir::Operation *op);

/// Returns true if an operand of the op has a state of that kind.
bool readsState(const BatchStates &states, mlir::Operation *op, BatchState::Kind kind);

/// Returns true if `rows` per sample of a dimension can be sliced or computed. Whole values can be
/// sliced. Values of a micro-batch, such as its broadcast statistics, must be computed from those
/// rows only.
bool hasWindow(const BatchStates &states, mlir::Value value, int64_t dim, int64_t rows);

/// Returns true if the op's operands can be computed along the cut's factor as well. Rows cannot,
/// since they follow the batch dimension.
bool hasWindows(const BatchStates &states, mlir::Operation *op, const BatchCut &cut);

/// Fails at an op that couples the samples of a batch.
mlir::LogicalResult refuseCoupling(mlir::Operation *op);

/// Fails if the op, which runs on micro-batches, reads a value that is known only after the last
/// micro-batch.
mlir::LogicalResult refuseTotals(const BatchStates &states, mlir::Operation *op);

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_BATCHSTATES_H
