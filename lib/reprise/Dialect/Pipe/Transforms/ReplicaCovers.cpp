// reprise: the replicas whose passes compute what an op reads
#include "ReplicaCovers.h"

#include "Order.h"
#include "mlir/Transforms/RegionUtils.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;

ReplicaCovers::ReplicaCovers(ProgramOp step, int64_t replicas,
                             function_ref<bool(Operation *)> isOfPass) {
  int64_t microbatches = countMicrobatches(step);
  for (Operation &op : step.getBody().front().without_terminator()) {
    std::optional<Cover> cover = findRead(op);
    if (auto microbatch = op.getAttrOfType<IntegerAttr>(kMicrobatchAttr);
        microbatch && isOfPass(&op)) {
      int64_t own = microbatch.getInt() * replicas / microbatches;
      Cover passes{own, own + 1};
      cover = cover ? cover->join(passes) : passes;
    }
    if (cover)
      covers.try_emplace(&op, *cover);
  }
}

/// Returns the replicas of what an op reads; none if it reads no value of a pass.
std::optional<Cover> ReplicaCovers::findRead(Operation &op) const {
  llvm::SetVector<Value> read(op.operand_begin(), op.operand_end());
  getUsedValuesDefinedAbove(op.getRegions(), read);
  std::optional<Cover> cover;
  for (Value value : read)
    if (std::optional<Cover> found = find(value.getDefiningOp()))
      cover = cover ? cover->join(*found) : found;
  return cover;
}
