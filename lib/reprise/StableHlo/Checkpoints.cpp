// reprise: where jax.checkpoint was, told from the places of ops
#include "Checkpoints.h"

#include "mlir/IR/Block.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;

namespace reprise::stablehlo {

/// The name stack up to its first checkpoint; empty if it has none.
static StringRef checkpointOf(Operation *op) {
  auto named = dyn_cast<NameLoc>(op->getLoc());
  if (!named)
    return "";
  StringRef path = named.getName().getValue();
  SmallVector<StringRef> parts;
  path.split(parts, '/');
  for (StringRef part : parts)
    if (part == "checkpoint" || part == "rematted_computation")
      return path.take_front(part.end() - path.begin());
  return "";
}

std::vector<Run> splitAtCheckpoints(Block &block) {
  std::vector<Run> runs;
  StringRef current;
  // A terminator that is not registered does not say that it is one.
  for (Operation &op : llvm::drop_end(block)) {
    StringRef checkpoint = checkpointOf(&op);
    bool begins = runs.empty() || checkpoint != current;
    if (!begins && !checkpoint.empty()) {
      const std::vector<Operation *> &ops = runs.back().ops;
      // Ops of one line of the source share its place: between two calls there must be another.
      begins = op.getLoc() == ops.front()->getLoc() && op.getLoc() != ops.back()->getLoc();
    }
    if (begins)
      runs.push_back({!checkpoint.empty(), {}});
    current = checkpoint;
    runs.back().ops.push_back(&op);
  }
  return runs;
}

} // namespace reprise::stablehlo
