// reprise: the numbers of a model for every mesh
#ifndef REPRISE_COMPILER_MESH_STEPS_H
#define REPRISE_COMPILER_MESH_STEPS_H

#include "reprise/Compiler.h"
#include "reprise/Planning/Mesh/Step.h"

namespace reprise {

/// Numbers of a model for each number of parts and of micro-batches. Steps of more than four
/// micro-batches follow from those of two and four.
class MeshSteps {
public:
  MeshSteps(mlir::ModuleOp module, const CompileOptions &options,
            std::shared_ptr<const CostModel> costs, int64_t batch)
      : module(module), options(options), costs(std::move(costs)), batch(batch) {}

  /// Returns the numbers; null if the model cannot be cut so.
  const mesh::Step *get(int64_t parts, int64_t microbatches);
  /// Returns the error of the first step that could not be cut so; empty without one.
  const std::string &getRefusal() const { return refusal; }
  /// Returns the ops of the step in one micro-batch; 0 if there was none.
  int64_t countOps() const { return ops; }

private:
  using Key = std::pair<int64_t, int64_t>; ///< parts, micro-batches

  const mesh::Step *measure(Key key);
  mlir::LogicalResult build(Key key, mesh::Step &step);
  bool extend(Key key, mesh::Step &step);

  mlir::ModuleOp module;
  const CompileOptions &options;
  std::shared_ptr<const CostModel> costs;
  int64_t batch; ///< samples
  std::map<Key, std::optional<mesh::Step>> measured, joined;
  std::string refusal;
  int64_t ops = 0;
};

} // namespace reprise

#endif // REPRISE_COMPILER_MESH_STEPS_H
