// reprise: replaces the ops of a step by an op per part of the model
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELSPLITTER_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELSPLITTER_H

#include "ModelCuts.h"

#include <map>

namespace reprise {

/// Replaces each op with a cut by one op per part, which is marked with its part
/// (`reprise.model_part`). With one part it gives lanes to contractions whose terms are cut, and
/// changes nothing else.
///
/// Parts of a value in one piece are slices of it, and a reader of all parts reads their join.
/// Slices, joins and the upper adds of a sum have no part: whoever reads them computes them.
class ModelSplitter {
public:
  ModelSplitter(ProgramOp step, const ModelCuts &cuts, int64_t lanes, int64_t parts)
      : step(step), cuts(cuts), lanes(lanes), parts(parts) {}
  void run();

private:
  void split(mlir::Operation *op, const ModelCut &cut);
  void splitSum(DotGeneralOp op, const ModelCut &cut);
  void takeWhole(mlir::Operation &op);
  mlir::Value sumPart(DotGeneralOp op, const ModelCut &cut, int64_t part);
  mlir::Operation *cloneForPart(mlir::Operation *op, const ModelCut &cut, int64_t part);
  llvm::SmallVector<mlir::Value> getOperands(mlir::Operation *op, const ModelCut &cut,
                                             int64_t part);
  mlir::Value getPart(mlir::Value value, int64_t dim, int64_t part, mlir::Operation *reader);
  mlir::Value join(mlir::Value value, mlir::Operation *reader);

  ProgramOp step;
  const ModelCuts &cuts;
  int64_t lanes, parts;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> partsOf;
  llvm::DenseMap<mlir::Value, mlir::Value> joins;
  /// Slices of values in one piece, by dimension and part.
  llvm::DenseMap<mlir::Value, std::map<std::pair<int64_t, int64_t>, mlir::Value>> slices;
};

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELSPLITTER_H
