// reprise: replaces the ops of a step by an op per part of the model
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELSPLITTER_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELSPLITTER_H

#include "ModelCuts.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"

#include <map>
#include <tuple>

namespace reprise {

/// Replaces each op with a cut by one op per part, which is marked with its part
/// (`reprise.model_part`). With one part it gives lanes to contractions whose terms are cut, and
/// changes nothing else.
///
/// The parts of an array that is stored in parts are arguments and results. Each names its
/// rows of the array.
///
/// Parts of a value in one piece are slices of it, and a reader of all parts reads their join.
/// Slices and joins have no part: whoever reads them computes them. Readers of one pass share a
/// join, and the readers of another pass join again, so that no pass keeps joined values for
/// another one. The parts of a sum add their shares of it, or without shares each reader adds all.
class ModelSplitter {
public:
  ModelSplitter(ProgramOp step, const ModelCuts &cuts, int64_t lanes, int64_t parts)
      : step(step), cuts(cuts), lanes(lanes), parts(parts), names(EntrySignature(step).getNames()) {
  }
  void run();

private:
  mlir::RankedTensorType getPartType(mlir::Type whole, int64_t dim) const;
  mlir::DictionaryAttr describePart(mlir::DictionaryAttr array, mlir::Type whole, int64_t dim,
                                    int64_t part) const;
  void splitArguments();
  void splitResults();
  void split(mlir::Operation *op, const ModelCut &cut);
  void splitSum(DotGeneralOp op, const ModelCut &cut);
  void takeWhole(mlir::Operation &op);
  void addShares(DotGeneralOp op, llvm::ArrayRef<mlir::Value> sums, int64_t dim);
  mlir::Value addSums(DotGeneralOp op, llvm::ArrayRef<mlir::Value> sums,
                      mlir::RankedTensorType type);
  mlir::Value sumPart(DotGeneralOp op, const ModelCut &cut, int64_t part);
  mlir::Operation *cloneForPart(mlir::Operation *op, const ModelCut &cut, int64_t part);
  llvm::SmallVector<mlir::Value> getOperands(mlir::Operation *op, const ModelCut &cut,
                                             int64_t part);
  mlir::Value getPart(mlir::Value value, int64_t dim, int64_t part, mlir::Operation *reader);
  mlir::Value exchange(mlir::Value value, int64_t dim, int64_t part, mlir::Operation *reader);
  mlir::Operation *makeSlice(mlir::Value value, int64_t dim, int64_t part, mlir::Operation *reader);
  mlir::Value slice(mlir::Value value, int64_t dim, int64_t part, mlir::Operation *reader);
  mlir::Value join(mlir::Value value, mlir::Operation *reader);

  ProgramOp step;
  const ModelCuts &cuts;
  int64_t lanes, parts;
  llvm::DenseSet<mlir::StringAttr> names; ///< names of the arguments and results
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> partsOf;
  /// Values made for readers, by value, dimension and part, and by the pass of the reader.
  using Key = std::tuple<int64_t, int64_t, int64_t>;
  llvm::DenseMap<mlir::Value, std::map<Key, mlir::Value>> joins, slices, exchanges;
};

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELSPLITTER_H
