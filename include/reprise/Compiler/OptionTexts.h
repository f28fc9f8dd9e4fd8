// reprise: options of a compilation in the user's spelling
#ifndef REPRISE_COMPILER_OPTIONTEXTS_H
#define REPRISE_COMPILER_OPTIONTEXTS_H

#include "reprise/Compiler.h"
#include "reprise/Planning/Mesh/Search.h"

namespace reprise {

/// Reads `1500000`, `1,500,000`, `1.5GiB` or `60%`. Returns none for any other text, and for
/// numbers larger than any machine's memory.
std::optional<Budget> parseBudget(llvm::StringRef text);
/// Returns the error about a text that is no budget.
std::string refuseBudget(const std::string &option, const std::string &text);

/// Texts of the flags that cut a step for several devices. An empty text, and 0 chunks, mean that
/// the flag was not given.
struct StageTexts {
  std::string stages, schedule, checkpoint;
  int64_t chunks = 0;
  std::string mesh; ///< sizes of the axes of a mesh, such as `data=4,model=2`
  int64_t modelLanes = 1;
  std::string shards; ///< file with the shardings of arguments
  std::string gathers;
  /// Number of devices for `auto` as an axis of the mesh; 0 if the flag was not given.
  int64_t devices = 0;
  bool listsUnbuilt = false; ///< whether points are listed that the compiler does not build
  int64_t microbatches = 0, lanes = 0; ///< 0 if the flag was not given; for `auto`
};

/// Returns the values of --checkpoint.
std::vector<std::string> listCheckpointModes();
/// Returns the values of --gathers.
std::vector<std::string> listGathers();
/// Returns an error that names the flags; empty if the texts are valid.
std::string checkStages(const StageTexts &texts);
/// Adds the axes of the module's `shard.grid` to valid texts that do not name them. Fails at the
/// grid if the texts contradict it, or if it makes them invalid.
mlir::LogicalResult takeGrid(mlir::ModuleOp module, StageTexts &texts);
/// Parses valid texts.
StageOptions parseStages(const StageTexts &texts);
ModelOptions parseModel(const StageTexts &texts);
/// Returns whether the mesh is to be searched for.
bool isMeshSearched(const StageTexts &texts);
/// Parses valid texts of a search: what is given is fixed.
mesh::Space parseSpace(const StageTexts &texts);

/// Returns the given targets; for GPUs adds the value of --contractions, if it is given.
std::vector<std::string> listTargets(std::vector<std::string> targets,
                                     const std::string &contractions);
/// Returns the values of --contractions.
std::vector<std::string> listContractions();
/// Returns an error about --contractions; empty if it is valid.
std::string checkContractions(const std::vector<std::string> &targets,
                              const std::string &contractions);

} // namespace reprise

#endif // REPRISE_COMPILER_OPTIONTEXTS_H
