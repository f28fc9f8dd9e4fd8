// reprise: the ops behind a contraction, as a nest over its elements
#include "TileNest.h"

#include "Tasks.h"

using namespace mlir;

namespace reprise::nests {

static FailureOr<OwningOpRef<KernelOp>> buildTileNest(Body &body, Shape shape) {
  Leaves leaves = argumentLeaves(body, NestRules());
  leaves.tile = body.arguments().back();
  leaves.stored.erase(leaves.tile);
  SmallVector<Root> roots;
  for (auto [i, result] : llvm::enumerate(body.results)) {
    if (cast<RankedTensorType>(result.getType()).getNumElements() != shape.size())
      return failure();
    roots.push_back(
        {Stored::Elements, result, BufferSlot{BufferSlot::Output, static_cast<int64_t>(i), 0}});
  }
  Obstacle obstacle;
  return buildNest(shape, roots, leaves, obstacle);
}

std::optional<TileNest> TileNest::get(Block &body, Operation *contraction, Shape shape) {
  FailureOr<Body> copy = simplifyBody(body, contraction);
  if (failed(copy) || shape.size() == 0)
    return std::nullopt;
  FailureOr<OwningOpRef<KernelOp>> kernel = buildTileNest(*copy, shape);
  if (failed(kernel) || has<ReduceOp>(**kernel))
    return std::nullopt;
  Nest nest(**kernel);
  return TileNest{std::move(*kernel), std::move(nest), copy->countMostElements()};
}

} // namespace reprise::nests
