// reprise: the ops behind a contraction, as a nest over its elements
#include "TileNest.h"

#include "Tasks.h"

using namespace mlir;

namespace reprise::nests {

static FailureOr<Graph> buildTileGraph(Body &body, Shape shape) {
  Leaves leaves = argumentLeaves(body, NestRules());
  leaves.tile = body.arguments().back();
  leaves.stored.erase(leaves.tile);
  SmallVector<Root> roots;
  for (auto [i, result] : llvm::enumerate(body.results)) {
    if (cast<RankedTensorType>(result.getType()).getNumElements() != shape.size())
      return failure();
    roots.push_back(
        {Root::Full, result, BufferSlot{BufferSlot::Output, static_cast<int64_t>(i), 0}});
  }
  Obstacle obstacle;
  return buildGraph(shape, roots, leaves, obstacle);
}

std::optional<TileNest> TileNest::get(Block &body, Operation *contraction, Shape shape) {
  FailureOr<Body> copy = simplifyBody(body, contraction);
  if (failed(copy) || shape.size() == 0)
    return std::nullopt;
  FailureOr<Graph> graph = buildTileGraph(*copy, shape);
  if (failed(graph) || graph->hasReductions())
    return std::nullopt;
  return TileNest{std::move(*copy), std::move(*graph)};
}

} // namespace reprise::nests
