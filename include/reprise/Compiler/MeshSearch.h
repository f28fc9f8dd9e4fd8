// reprise: the search for a mesh of devices, from a model to a report
#ifndef REPRISE_COMPILER_MESHSEARCH_H
#define REPRISE_COMPILER_MESHSEARCH_H

#include "reprise/Compiler.h"
#include "reprise/Planning/Mesh/Search.h"

namespace reprise {

/// Point of a mesh as the report lists it.
struct ReportedPoint {
  mesh::Point point;
  mesh::Price price;
  std::string flags;     ///< flags of reprise-compile that compile the point
  int64_t lanes = 1;     ///< lanes of sums over the batch
  bool isBuilt = true;   ///< whether the compiler builds the point
  bool isPacked = false; ///< whether peaks and makespan are those of its programs
};

/// Points that are not among the best, by their reason.
struct ReportedMiss {
  std::string reason;
  int64_t points = 0;
  std::string nearest; ///< flags of the nearest miss; empty without one
  /// Share of the memory, or seconds, of the nearest miss; none without one.
  std::optional<double> fullness, seconds;
};

/// Result of a search.
struct ReportedMesh {
  int64_t devices = 1, batch = 1;
  int64_t points = 0, cut = 0;
  std::string device; ///< device whose rates the cost model uses
  std::vector<ReportedPoint> best;
  std::vector<ReportedMiss> missed;
  std::string refusal; ///< first error of a step that could not be cut so; may be empty
};

/// Searches for the fastest ways to run a model on the devices of `space`. Its fixed members hold;
/// batch, parts and limits of a device are those of the module and of the options. Leaves the
/// module, a model, unchanged.
mlir::FailureOr<ReportedMesh> searchMesh(mlir::ModuleOp module, const CompileOptions &options,
                                         mesh::Space space);

/// Returns `options` with the stages, parts and replicas of a point.
CompileOptions takePoint(CompileOptions options, const mesh::Point &point, int64_t lanes);

/// Prints the best points with their flags, and why the others are missing.
void printMesh(llvm::raw_ostream &stream, const ReportedMesh &mesh);
/// Returns the result as reports have it (docs/reference/schemas/mesh.schema.json).
llvm::json::Object toJson(const ReportedMesh &mesh);

} // namespace reprise

#endif // REPRISE_COMPILER_MESHSEARCH_H
