// reprise: calls of jax.checkpoint, found by the places of ops
#include "Checkpoints.h"

#include "mlir/IR/Block.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;

namespace reprise::stablehlo {

/// Returns the name stack up to its first checkpoint; empty if it has none.
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

/// Returns the length of the calls in a run: the shortest prefix whose places repeat up to the end.
static size_t lengthOfCall(ArrayRef<Operation *> ops) {
  for (size_t length = 1; length < ops.size(); ++length) {
    bool repeats = ops.size() % length == 0;
    for (size_t i = length; repeats && i < ops.size(); ++i)
      repeats = ops[i]->getLoc() == ops[i - length]->getLoc() &&
                ops[i]->getName() == ops[i - length]->getName();
    if (repeats)
      return length;
  }
  return ops.size();
}

static bool beginsCall(Operation *op) {
  auto target = op->getAttrOfType<StringAttr>("call_target_name");
  return target && target.getValue() == kCallMark;
}

namespace {

/// Splitter of ops in their order. Constants are excluded, since they stand before their
/// checkpoint.
class Splitter {
public:
  void add(Operation *op) {
    StringRef checkpoint = checkpointOf(op);
    bool isConstant = op->getNumOperands() == 0 && op->getNumRegions() == 0;
    if (beginsCall(op)) {
      close();
      isMarked = true;
    } else if (!isConstant && (checkpoint != current || checkpoint.empty())) {
      bool begins = isMarked && call.empty();
      close();
      isMarked = begins;
      current = checkpoint;
    }
    (isConstant || beginsCall(op) || checkpoint.empty() ? plain : call).push_back(op);
  }

  std::vector<Run> take() {
    close();
    return std::move(runs);
  }

private:
  void close() {
    if (!plain.empty())
      runs.push_back({false, std::move(plain)});
    size_t length = isMarked ? call.size() : lengthOfCall(call);
    for (size_t begin = 0; begin < call.size(); begin += length)
      runs.push_back({true, ArrayRef(call).slice(begin, length).vec()});
    plain.clear();
    call.clear();
    current = "";
    isMarked = false;
  }

  std::vector<Run> runs;
  std::vector<Operation *> plain, call; ///< pending ops, plain ops first
  StringRef current;
  bool isMarked = false;
};

} // namespace

std::vector<Run> splitAtCheckpoints(Block &block) {
  Splitter splitter;
  // An unregistered terminator does not identify itself.
  for (Operation &op : llvm::drop_end(block))
    splitter.add(&op);
  return splitter.take();
}

} // namespace reprise::stablehlo
