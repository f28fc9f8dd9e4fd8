// reprise: builds the body of a step that runs one micro-batch after the other
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_BATCHSLICER_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_BATCHSLICER_H

#include "BatchStates.h"
#include "Lanes.h"
#include "Plan.h"
#include "mlir/IR/IRMapping.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Support/Attributes.h"
#include <functional>
#include <map>

namespace reprise {

/// Samples [begin, end) of the batch.
struct MicroBatch {
  int64_t number, begin, end;
  int64_t size() const { return end - begin; }
};

/// Mean and variance of some samples.
struct Statistics {
  mlir::Value mean, variance;
};

/// Builder of the new body of a step: values known before the first micro-batch; the ops of each
/// micro-batch, in program order; values known after the last micro-batch.
class BatchSlicer {
public:
  BatchSlicer(ProgramOp step, const BatchStates &states, Lanes lanes);
  void run();

private:
  /// Clones ops that run once, before the first micro-batch or after the last.
  void cloneKnown(BatchState::Kind kind);
  /// Computes a value of inputs, which has rows, from all rows as well.
  void makeWhole(mlir::Value value);
  void runPart(MicroBatch range);
  void runOn(mlir::Operation *op);
  /// The op on the samples at hand.
  mlir::Operation *cloneOn(mlir::Operation *op, mlir::ValueRange operands, const BatchCut &cut);
  /// Units of different micro-batches are different units. Where ops have stages, names the
  /// micro-batch.
  void mark(mlir::Operation *op) { marks.apply(op); }
  void mark(mlir::NamedAttrList &attributes);
  /// Marks a sum over the samples, or over micro-batches.
  void markSum(mlir::Operation *op);
  mlir::SmallVector<mlir::Value> getOperands(mlir::Operation *op, const BatchCut &cut);
  void runLoop(LoopOp loop);
  /// Returns the first value of a carry: a sum over the batch continues from the previous
  /// micro-batch.
  mlir::Value getInit(LoopOp loop, unsigned number);
  void fillBody(LoopOp loop, LoopOp made);
  /// Returns the part of a value for the current samples: `rows` per sample of the dimension, or
  /// the whole value if the dimension is -1.
  mlir::Value getPart(mlir::Value value, int64_t dim, int64_t rows);
  /// Rows of a value that is known as a whole: of its operands' rows, if its op can run on parts,
  /// so that no more is made than the micro-batch needs.
  mlir::Value makeWindow(mlir::Value value, int64_t dim, int64_t rows);
  /// Adds the part of a sum to the total of earlier micro-batches. 16-bit sums add up in f32 and
  /// are rounded once; a mean adds up as a sum.
  void addTo(mlir::Operation *op, const BatchCut &cut, mlir::MutableArrayRef<mlir::Value> operands);
  /// A mean over a group: the summand of the micro-batch, divided by its own count.
  mlir::Value divideByGroup(DivOp op);
  /// Cuts the statistics of a batch norm: each micro-batch has its own count.
  void cutStatistics(BatchStatisticsOp op);
  /// Merges the statistics of the current micro-batch with those before.
  void mergeStatistics(BatchStatisticsOp op);
  Statistics join(BatchStatisticsOp op, Statistics left, Statistics right, Joint joint);
  /// Returns a function that adds two sums over micro-batches. The op sums over samples.
  std::function<mlir::Value(mlir::Value, mlir::Value, Joint)> makeAdder(mlir::Operation *op);
  /// Converts a sum to the value that the step reads: a mean is divided, a 16-bit value is rounded.
  mlir::Value finish(mlir::Operation *op, mlir::Value sum, mlir::Type type);
  /// Creates an op beside another op, with its part and unit.
  template <typename Op, typename... Arguments>
  Op create(mlir::Operation *beside, Arguments &&...args) {
    auto op = Op::create(builder, beside->getLoc(), std::forward<Arguments>(args)...);
    for (mlir::StringRef name : {kBlockAttr, kOrderAttr, kPrimalAttr, kCotangentAttr, kStageAttr})
      if (mlir::Attribute attribute = beside->getDiscardableAttr(name))
        op->setDiscardableAttr(name, attribute);
    mark(op);
    return op;
  }
  /// States go to the next micro-batch, rows to the results.
  void handOver();
  void returnResults();

  ProgramOp step;
  const BatchStates &states;
  mlir::Block *old;
  mlir::OpBuilder builder;
  mlir::IRMapping whole; ///< values that are known before or after all micro-batches
  /// Values of the current micro-batch; for sums, their summand.
  llvm::DenseMap<mlir::Value, mlir::Value> own;
  /// Values of arguments that the previous micro-batch computed.
  llvm::DenseMap<mlir::Value, mlir::Value> handed;
  llvm::DenseMap<mlir::Value, LaneSum<mlir::Value>> totals; ///< sums so far
  llvm::DenseMap<mlir::Operation *, LaneSum<Statistics>> statistics;
  /// Rows of each micro-batch, by result.
  std::map<size_t, mlir::SmallVector<mlir::Value>> collected;
  /// Rows of whole values, by value, dimension and rows per sample.
  llvm::DenseMap<std::tuple<mlir::Value, int64_t, int64_t>, mlir::Value> windows;
  AttributeChange marks; ///< marks of the current micro-batch
  MicroBatch part{};
  Lanes lanes;
  int64_t numUnits = 0;
  bool hasStages = false; ///< ops have stage marks (DeviceProgram.h)
};

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_BATCHSLICER_H
