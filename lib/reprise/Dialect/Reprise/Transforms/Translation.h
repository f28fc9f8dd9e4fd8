// reprise: translates one scope of the graph into a checkpoint problem.
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_TRANSLATION_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_TRANSLATION_H

#include "Aliases.h"
#include "Plan.h"
#include "reprise/Planning/Checkpoint/Problem/JoinLabels.h"
#include <map>

namespace reprise {

/// Translation of one scope into numbers. Operation i of the problem is op i of the scope; the
/// border of two loop bodies becomes an operation without readers. Values that show the same memory
/// have one label in the problem.
class Translation {
public:
  explicit Translation(const Scope &scope);

  /// Writes the labels that values have got from each other on the ops. Two different MUSTs for one
  /// memory are an error.
  mlir::LogicalResult settleLabels();

  checkpoint::Problem problem;

private:
  int findContainer(mlir::Operation *op);
  void add(mlir::Operation *op);
  void addBorder();
  void addResult(mlir::OpResult result, int operation);
  bool outlives(mlir::Value value);
  void join(const Scope &scope);

  llvm::DenseSet<mlir::Operation *> members;
  llvm::DenseSet<mlir::Block *> blocks;
  llvm::DenseSet<mlir::Block *> bodies; ///< bodies that are planned as bodies of loops
  llvm::DenseMap<mlir::Value, int> ids;
  std::map<std::pair<int, int64_t>, int> containers;
  int borders = 0;                           ///< number so far
  llvm::SmallVector<mlir::OpResult> results; ///< per value
  std::vector<checkpoint::TakenLabel> taken;
  std::optional<checkpoint::LabelClash> clash;
  Aliases aliases;
};

} // namespace reprise

#endif
