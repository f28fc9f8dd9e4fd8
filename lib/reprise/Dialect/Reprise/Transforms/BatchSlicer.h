// reprise: builds the body of a step that runs micro-batch by micro-batch
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_BATCHSLICER_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_BATCHSLICER_H

#include "BatchStates.h"
#include "Plan.h"
#include "mlir/IR/IRMapping.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Support/Attributes.h"
#include <map>

namespace reprise {

/// Samples [begin, end) of the batch.
struct MicroBatch {
  int64_t number, begin, end;
  int64_t size() const { return end - begin; }
};

/// Builds the new body of a step: what is known before the first micro-batch; the ops of each
/// micro-batch, in program order; what is known after the last one.
class BatchSlicer {
public:
  BatchSlicer(ProgramOp step, const BatchStates &states);
  void run(int64_t numBatches);

private:
  /// Ops that run once, and do so before the first micro-batch or after the last one.
  void cloneKnown(BatchState::Kind kind);
  /// What comes of inputs by rows can be made of all their rows, too.
  void makeWhole(mlir::Value value);
  void runPart(MicroBatch range);
  void runOn(mlir::Operation *op);
  /// The op on the samples at hand.
  mlir::Operation *cloneOn(mlir::Operation *op, mlir::ValueRange operands, const BatchCut &cut);
  /// Units of different micro-batches are different units. Where ops have stages, names the
  /// micro-batch.
  void mark(mlir::Operation *op) { marks.apply(op); }
  void mark(mlir::NamedAttrList &attributes);
  /// Of a sum over the samples, or over micro-batches.
  void markSum(mlir::Operation *op);
  mlir::SmallVector<mlir::Value> getOperands(mlir::Operation *op, const BatchCut &cut);
  void runLoop(LoopOp loop);
  /// What a carry begins with: a sum over the batch goes on where the micro-batch before ended.
  mlir::Value getInit(LoopOp loop, unsigned number);
  void fillBody(LoopOp loop, LoopOp made);
  /// What the samples at hand read of a value: theirs of `rows` per sample of a dimension; all of
  /// it if the dimension is -1.
  mlir::Value getPart(mlir::Value value, int64_t dim, int64_t rows);
  /// Rows of a value that is known as a whole: of its operands' rows, if its op can run on parts,
  /// so that no more is made than the micro-batch needs.
  mlir::Value makeWindow(mlir::Value value, int64_t dim, int64_t rows);
  /// Adds the part of a sum to what the micro-batches before made. 16-bit sums add up in f32 and
  /// are rounded once; a mean adds up as a sum.
  void addTo(mlir::Operation *op, const BatchCut &cut, mlir::MutableArrayRef<mlir::Value> operands);
  /// A mean over a group: the summand of the micro-batch, divided by its own count.
  mlir::Value divideByGroup(DivOp op);
  /// Of a batch norm: each micro-batch has its own count.
  void cutStatistics(BatchStatisticsOp op);
  /// Those of the samples so far and of the micro-batch at hand become those of both.
  void mergeStatistics(BatchStatisticsOp op);
  void addToTotal(mlir::Operation *op, mlir::Value result, mlir::Value summand);
  /// A sum becomes what the step reads: a mean is divided, a 16-bit value is rounded.
  mlir::Value finish(mlir::Operation *op, mlir::Value sum, mlir::Type type);
  /// An op beside another one, of its part and unit.
  template <typename Op, typename... Arguments>
  Op create(mlir::Operation *beside, Arguments &&...args) {
    auto op = Op::create(builder, beside->getLoc(), std::forward<Arguments>(args)...);
    for (mlir::StringRef name : {kBlockAttr, kOrderAttr, kPrimalAttr, kCotangentAttr, kStageAttr})
      if (mlir::Attribute attribute = beside->getDiscardableAttr(name))
        op->setDiscardableAttr(name, attribute);
    mark(op);
    return op;
  }
  void finishTotals();
  /// States go to the next micro-batch, rows to the results.
  void handOver();
  void returnResults();

  ProgramOp step;
  const BatchStates &states;
  mlir::Block *old;
  mlir::OpBuilder builder;
  mlir::IRMapping whole; ///< of values that are known before or after all micro-batches
  /// Of the micro-batch at hand; of sums, its summand.
  llvm::DenseMap<mlir::Value, mlir::Value> own;
  /// Of arguments: what the micro-batch before made.
  llvm::DenseMap<mlir::Value, mlir::Value> handed;
  llvm::DenseMap<mlir::Value, mlir::Value> totals; ///< sums so far
  /// Of results by rows, by their numbers: the rows of each micro-batch.
  std::map<size_t, mlir::SmallVector<mlir::Value>> collected;
  /// Rows of whole values, by value, dimension and rows per sample.
  llvm::DenseMap<std::tuple<mlir::Value, int64_t, int64_t>, mlir::Value> windows;
  AttributeChange marks; ///< of the micro-batch at hand
  MicroBatch part{};
  int64_t numUnits = 0, microbatches = 1;
  bool hasStages = false; ///< ops are marked with them (DeviceProgram.h)
};

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_BATCHSLICER_H
