// reprise: chooses strips and tiles for attention, only from its shape and its target
#include "AttentionPlan.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include <numeric>

using namespace mlir;

namespace reprise {

AttentionPlan::AttentionPlan(const AttentionSpec &spec, const CpuTarget &target)
    : spec(spec), compute(getComputeType(spec.type)), width(target.lanes(bytesOf(compute))) {
  bool wide = target.registers() == 32;
  rows = wide ? 8 : 6;
  // A tile of scores is one register wide where registers suffice: causal strips then compute less
  // beyond the diagonal.
  lanes = wide ? width : 2 * width;
  scoreRows = std::min<int64_t>(wide ? 12 : 6, spec.keys);
  int64_t step = std::lcm(rows, lanes);
  strip = llvm::alignTo(std::clamp<int64_t>(spec.queries, 1, 48), step);
  keyBlock = 96; // a multiple of 6, 8 and 12
  itemRows = llvm::alignTo(128, strip);
  tiles.accumulator = compute;
  tiles.vectorLanes = width;
  tiles.kBlock = tiles.terms = spec.depth();
  OperandPlan &queries = tiles.lanes;
  queries.buffer = 0;
  queries.type = spec.type;
  queries.freeSize = spec.queries;
  queries.sliver = lanes;
}

bool AttentionPlan::isDirect(const AttentionStrides &strides, bool asLanes) const {
  if (spec.type != compute || strides.depth != 1)
    return false;
  // Lines at such distances share few sets of the first-level cache.
  return !asLanes || strides.row * bytes() % 1024 != 0;
}

} // namespace reprise
