// reprise: poolings for the threads of a GPU, one element of the result per thread
#include "ThreadPool.h"

#include "../Pooling.h"
#include "ThreadCommands.h"
#include "reprise/Conversion/Elementary.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise {
namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Emitter of a pooling. Buffer 0 is the operand; the buffers of the results follow.
class PoolEmitter : PoolPlanes {
public:
  PoolEmitter(Operation *op, RankedTensorType image, RankedTensorType pooled)
      : PoolPlanes(op, image, pooled), op(op) {}

  /// Emits one item; `stored` tells for each result whether there is a buffer.
  void emit(KernelBuilder &k, Value item, ArrayRef<bool> stored) const {
    if (isa<AveragePoolBackwardOp>(op))
      return emitAverageBackward(k, item);
    Value x = k.rem(item, axes[1].steps), y = k.rem(k.div(item, axes[1].steps), axes[0].steps);
    PoolRange rows = poolRange(k, axes[0], y), columns = poolRange(k, axes[1], x);
    Value from = emitAddress(k.b, type, k.buffer(0), k.mul(k.div(item, pooledSize()), imageSize()));
    auto max = dyn_cast<MaxPoolOp>(op);
    if (!max)
      return emitStoreRounded(k.b, type, emitMean(k, from, rows, columns), k.buffer(1), item);
    auto [best, position] = emitMaximum(k, from, rows, columns);
    unsigned buffer = 1;
    if (stored[0])
      emitStoreRounded(k.b, type, best, k.buffer(buffer++), item);
    Type positionType = typeOf(max.getPositions()).getElementType();
    if (stored[1])
      emitStore(k.b, positionType, emitCast(k.b, position, positionType), k.buffer(buffer), item);
  }

private:
  /// Emits the gradient of an average pooling: a position adds its share of the windows that
  /// contain it.
  void emitAverageBackward(KernelBuilder &k, Value item) const {
    Value column = k.rem(item, axes[1].image),
          row = k.rem(k.div(item, axes[1].image), axes[0].image);
    Value from = k.mul(k.div(item, imageSize()), pooledSize());
    PoolRange ys = coveringRange(k, axes[0], row), xs = coveringRange(k, axes[1], column);
    auto addWindow = [&](Value y, Value x, Value sum) {
      Value at = k.add(from, k.add(k.mul(y, axes[1].steps), x));
      Value count = emitCount(k, poolRange(k, axes[0], y), poolRange(k, axes[1], x));
      Value part = arith::DivFOp::create(k.b, emitLoadWide(k.b, type, k.buffer(0), at), count);
      return arith::AddFOp::create(k.b, sum, part).getResult();
    };
    auto addLine = [&](Value y, ValueRange sums) {
      return forLoop(k, xs.begin, xs.end, k.i64(1), sums, [&](Value x, ValueRange line) -> Carried {
        return {addWindow(y, x, line[0])};
      });
    };
    Value sum = forLoop(k, ys.begin, ys.end, k.i64(1), emitConstant(k.b, compute, 0), addLine)[0];
    emitStoreRounded(k.b, type, sum, k.buffer(1), item);
  }

  Operation *op;
};

} // namespace

FailureOr<EmittedLaunch> emitThreadPool(Operation *op, StringRef name, ModuleOp kernels,
                                        LaunchOperands operands) {
  FailureOr<SmallVector<int64_t>> outputs = findOutputs(*op->getBlock(), op);
  if (failed(outputs))
    return failure();
  FailureOr<LaunchOperand> operand = operands.find(op->getOperand(0), true);
  if (failed(operand))
    return failure();
  SmallVector<BufferSlot> buffers = {operand->slot};
  SmallVector<bool> stored;
  for (int64_t output : *outputs) {
    stored.push_back(output >= 0);
    if (output >= 0)
      buffers.push_back({BufferSlot::Output, output, 0});
  }
  RankedTensorType image = typeOf(op->getOperand(0)), pooled = typeOf(op->getResult(0));
  if (isa<AveragePoolBackwardOp>(op))
    std::swap(image, pooled);
  PoolEmitter emitter(op, image, pooled);
  ThreadCommands(name, kernels, operands.launch)
      .add(buffers, typeOf(op->getResult(0)).getNumElements(),
           [&](KernelBuilder &k, Value item) { emitter.emit(k, item, stored); });
  return operands.launch;
}

} // namespace reprise
