// reprise: random training steps of layers, whose parameters are cut for parts of a model
#ifndef REPRISE_UTILS_FUZZ_SHARDGENERATOR_H
#define REPRISE_UTILS_FUZZ_SHARDGENERATOR_H

#include "KernelValues.h"

namespace reprise::fuzz {

/// Makes a step with the entry @train: layers with parameters, a loss, gradients and updates. Most
/// sizes are multiples of 8, so that lanes divide them.
class ShardGenerator {
public:
  ShardGenerator(mlir::MLIRContext *context, uint64_t seed);
  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  using Shape = KernelValues::Shape;

  mlir::Value addParameter(const Shape &shape);
  mlir::Value activate(mlir::Value value);
  mlir::Value project(mlir::Value value, const Shape &to, mlir::Value weight = {});
  mlir::Value emitLayer(mlir::Value value);
  mlir::Value emitMlp(mlir::Value value);
  mlir::Value emitHeads(mlir::Value value);
  mlir::Value emitExperts(mlir::Value value);
  mlir::Value emitNorm(mlir::Value value);
  mlir::Value emitTable(mlir::Value value);
  mlir::Value emitReduced(mlir::Value value);
  mlir::Value emitTied(mlir::Value value);
  mlir::Value emitMoved(mlir::Value value);
  mlir::Value emitLoop(mlir::Value value);
  mlir::Value emitLoss(mlir::Value value);
  mlir::Value addNorm(mlir::ValueRange gradients, mlir::Value sum);
  void emitStep(mlir::func::FuncOp loss);
  void nameArguments(mlir::func::FuncOp entry);

  KernelValues v;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Type type;                         ///< element type of all values
  int64_t batch, length, width;            ///< shape of the value between layers
  llvm::SmallVector<unsigned> parameters;  ///< numbers of arguments
  llvm::SmallVector<unsigned> batchInputs; ///< arguments whose dimension 0 is the batch
};

/// Cuts some float arguments of @train along a dimension each, which the name of the argument tells
/// (`a3.cut1`). Names of next values change alike.
void drawShards(mlir::ModuleOp module, uint64_t seed);

} // namespace reprise::fuzz

#endif
