// reprise: what micro-batches see of each value of a step
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_BATCHSTATES_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_BATCHSTATES_H

#include "reprise/Dialect/Reprise/Batching.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// What the micro-batches see of a value.
struct BatchState {
  enum Kind {
    Whole, ///< no batch went in, or nothing but inputs: it is known before the first micro-batch
    Rows,  ///< each micro-batch has its samples' rows of one dimension
    Own,   ///< each micro-batch has one of its own, such as the statistics of its samples
    Part,  ///< inside a loop: each micro-batch has a summand of its own, and their sum is the value
    Total  ///< a sum or mean over the batch went in: it is known after the last micro-batch
  };
  Kind kind = Whole;
  int64_t dim = -1; ///< of Rows
  int64_t rows = 0; ///< of Rows: rows of that dimension per sample
  bool operator==(const BatchState &other) const {
    return kind == other.kind && dim == other.dim && rows == other.rows;
  }
};

/// How an op runs on a micro-batch: its factor `factor` has `each` indices per sample.
struct BatchCut {
  OpFactors factors;
  int factor = -1; ///< -1: the op reads values of its micro-batch, and none by rows
  int64_t each = 0;
  bool isGroupMean = false; ///< each micro-batch divides its own summand

  /// True if the results are sums or means over the micro-batches.
  bool isReduced() const { return is(FactorKind::Summed) || is(FactorKind::Averaged); }
  bool is(FactorKind kind) const { return factor >= 0 && factors.factors[factor].kind == kind; }
  /// Rows per sample of a dimension that begins with the factor.
  int64_t countRows(const OpFactors::Dim &dim) const { return each * factors.countRows(dim); }
};

/// How the op of a result makes `rows` per sample of a dimension only; none if it cannot.
std::optional<BatchCut> findWindow(mlir::OpResult result, int64_t dim, int64_t rows);

/// The states of all values of a function, loops included. Arguments with a batch dimension come by
/// rows. A state whose next value every micro-batch makes is handed from one to the next (Own).
class BatchStates {
public:
  /// Errors, at the op: samples that are coupled by more than a sum or a mean; a total that is read
  /// beside rows; inputs with different batches.
  static mlir::FailureOr<BatchStates> find(ProgramOp step);

  BatchState get(mlir::Value value) const { return states.lookup(value); }
  /// Null for ops that do not run on micro-batches, and for loops.
  const BatchCut *getCut(mlir::Operation *op) const;
  /// True if the op runs once per micro-batch.
  bool isCut(mlir::Operation *op) const { return getCut(op) || cutLoops.contains(op); }
  /// True for a loop along the batch, whose iterations micro-batches share out.
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
  llvm::DenseSet<mlir::Value> ofInputs; ///< values that no parameter and no state went into
  /// Values of inputs that hold all samples, by the op that cannot be cut.
  llvm::DenseMap<mlir::Value, mlir::Operation *> joined;
  mlir::Operation *joinedReader = nullptr; ///< the first one that is not of inputs alone
  llvm::DenseMap<mlir::Operation *, BatchCut> cuts;
  llvm::DenseSet<mlir::Operation *> cutLoops, batchLoops;
};

inline bool isInLoop(mlir::Operation *op) { return op->getParentOfType<LoopOp>() != nullptr; }

/// True if the op is in a loop along the batch.
bool isInBatchLoop(const BatchStates &states, mlir::Operation *op);

/// True if an operand of the op has a state of that kind.
bool readsState(const BatchStates &states, mlir::Operation *op, BatchState::Kind kind);

/// True if `rows` per sample of a dimension can be sliced or made. What is known as a whole can be
/// sliced. What each micro-batch makes for itself, such as its spread statistics, must be made of
/// those rows only.
bool hasWindow(const BatchStates &states, mlir::Value value, int64_t dim, int64_t rows);

/// True if what the op reads along the cut's factor can be made, too. Rows cannot: they are those
/// of the batch, wherever that lies.
bool hasWindows(const BatchStates &states, mlir::Operation *op, const BatchCut &cut);

/// Fails at an op that couples the samples of a batch.
mlir::LogicalResult refuseCoupling(mlir::Operation *op);

/// Fails if the op, which runs on micro-batches, reads what is known after the last one only.
mlir::LogicalResult refuseTotals(const BatchStates &states, mlir::Operation *op);

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_BATCHSTATES_H
