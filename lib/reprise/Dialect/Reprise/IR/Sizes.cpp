// reprise: supported tensors and their sizes
#include "reprise/Dialect/Reprise/IR/Sizes.h"

#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

static constexpr uint64_t kMostBytes = uint64_t(1) << 47;

bool isModelTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return false;
  Type element = tensor.getElementType();
  return isa<Float32Type, Float64Type, BFloat16Type, Float16Type>(element) ||
         element.isSignlessInteger(1) || element.isSignlessInteger(32) ||
         element.isSignlessInteger(64);
}

/// Returns whether the product of the dimensions stays within the limit; empty dimensions are
/// ignored.
static bool isWithinLimit(ArrayRef<int64_t> shape, uint64_t width) {
  uint64_t bytes = width;
  for (int64_t dim : shape) {
    if (dim > 0 && bytes > kMostBytes / dim)
      return false;
    bytes *= std::max<int64_t>(dim, 1);
  }
  return true;
}

static LogicalResult checkSize(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      isWithinLimit(tensor.getShape(), llvm::divideCeil(tensor.getElementTypeBitWidth(), 8)))
    return success();
  return op->emitError("expected tensors of at most 2^47 bytes but got ") << type;
}

static constexpr int64_t kMostIterations = int64_t(1) << 31;

LogicalResult checkSizes(FunctionOpInterface entry) {
  for (Type type : entry.getArgumentTypes())
    if (failed(checkSize(entry, type)))
      return failure();
  WalkResult result = entry.walk([](Operation *op) {
    if (countExecutions(op) > kMostIterations) {
      op->emitError("the loops around the op run it more than 2^31 times");
      return WalkResult::interrupt();
    }
    for (Type type : op->getResultTypes())
      if (failed(checkSize(op, type)))
        return WalkResult::interrupt();
    // The scores that attention drops are no result, but their words are counted.
    if (auto random = dyn_cast<RandomOpInterface>(op); random && random.draws())
      if (!isWithinLimit(random.getDrawnGlobalShape(), 4)) {
        op->emitError("the op draws more than 2^45 random words");
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace reprise
