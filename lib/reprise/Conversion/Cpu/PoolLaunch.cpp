// reprise: a launch that is a pooling
//
// An item is a plane: one channel of one sample.
#include "CpuOperands.h"
#include "PoolEmit.h"
#include "reprise/Conversion/Elementary.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise {

bool isPoolLaunch(Block &body) { return findPool(body) != nullptr; }

namespace {

/// Emits the kernel of one pooling: of `image` planes to `pooled` planes, or back.
class PoolEmitter : PoolPlanes {
public:
  PoolEmitter(KernelBuilder &k, Operation *op, RankedTensorType image, RankedTensorType pooled,
              const CpuTarget &target)
      : PoolPlanes(op, image, pooled), k(k), b(k.b), target(target) {}

  using PoolPlanes::imageSize;

  /// Buffer 0 is the operand.
  void emitMax(const MaxTargets &targets) {
    forPlanes([&](Value plane) {
      Value from = emitAddress(b, type, k.buffer(0), k.mul(plane, imageSize()));
      if (hasPoolLanes(axes[1], type))
        return emitMaxLanes(k, axes, type, target, from, k.mul(plane, pooledSize()), targets);
      forOutputs(plane, [&](Value to, PoolRange rows, PoolRange columns) {
        auto [best, position] = emitMaximum(k, from, rows, columns);
        if (targets.values >= 0)
          emitStoreRounded(b, type, best, k.buffer(targets.values), to);
        if (targets.positions >= 0)
          emitStore(b, targets.positionType, emitCast(b, position, targets.positionType),
                    k.buffer(targets.positions), to);
      });
    });
  }

  /// Buffers: operand, means.
  void emitAverage() {
    forPlanes([&](Value plane) {
      Value from = emitAddress(b, type, k.buffer(0), k.mul(plane, imageSize()));
      if (hasPoolLanes(axes[1], type))
        return emitAverageLanes(k, axes, type, target, from, k.mul(plane, pooledSize()));
      forOutputs(plane, [&](Value to, PoolRange rows, PoolRange columns) {
        emitStoreRounded(b, type, emitMean(k, from, rows, columns), k.buffer(1), to);
      });
    });
  }

  /// Buffers: cotangents, result. The sums of a plane lie in the workspace.
  void emitAverageBackward() {
    forPlanes([&](Value plane) {
      Value sums = k.workspace();
      forLoop(k, k.i64(0), k.i64(imageSize()), k.i64(1),
              [&](Value i) { emitStore(b, compute, emitConstant(b, compute, 0), sums, i); });
      forOutputs(plane, [&](Value from, PoolRange rows, PoolRange columns) {
        Value value = emitLoadWide(b, type, k.buffer(0), from);
        value = arith::DivFOp::create(b, value, emitCount(k, rows, columns));
        forWindow(k, rows, columns, {}, [&](Value position, ValueRange) {
          Value sum = arith::AddFOp::create(b, emitLoad(b, compute, sums, position), value);
          emitStore(b, compute, sum, sums, position);
          return Carried();
        });
      });
      Value to = k.mul(plane, imageSize());
      forLoop(k, k.i64(0), k.i64(imageSize()), k.i64(1), [&](Value i) {
        emitStoreRounded(b, type, emitLoad(b, compute, sums, i), k.buffer(1), k.add(to, i));
      });
    });
  }

private:
  void forPlanes(llvm::function_ref<void(Value)> body) {
    forLoop(k, k.begin(), k.end(), k.i64(1), body);
  }

  void forOutputs(Value plane,
                  llvm::function_ref<void(Value number, PoolRange rows, PoolRange columns)> body) {
    forLoop(k, k.i64(0), k.i64(axes[0].steps), k.i64(1), [&](Value y) {
      PoolRange rows = poolRange(k, axes[0], y);
      forLoop(k, k.i64(0), k.i64(axes[1].steps), k.i64(1), [&](Value x) {
        Value number = k.add(k.mul(plane, pooledSize()), k.add(k.mul(y, axes[1].steps), x));
        body(number, rows, poolRange(k, axes[1], x));
      });
    });
  }

  KernelBuilder &k;
  ImplicitLocOpBuilder &b;
  const CpuTarget &target;
};

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

} // namespace

FailureOr<EmittedLaunch> emitPoolLaunch(Block &body, StringRef name, ModuleOp kernels,
                                        const CpuTarget &target) {
  Operation *op = findPool(body);
  FailureOr<SmallVector<int64_t>> outputs = findOutputs(body, op);
  if (failed(outputs))
    return failure();
  LaunchOperands operands = makeCpuOperands(name, kernels, target);
  FailureOr<LaunchOperand> operand = operands.find(op->getOperand(0), true);
  if (failed(operand))
    return failure();
  auto from = typeOf(op->getOperand(0)), to = typeOf(op->getResult(0));
  EmittedCommand command{name.str(), to.getDimSize(0) * to.getDimSize(1), {operand->slot}, 0};
  int buffers[2] = {-1, -1};
  for (auto [result, output] : llvm::enumerate(*outputs))
    if (output >= 0) {
      buffers[result] = static_cast<int>(command.buffers.size());
      command.buffers.push_back({BufferSlot::Output, output, 0});
    }
  KernelBuilder k(kernels, name);
  if (isa<AveragePoolBackwardOp>(op)) {
    PoolEmitter emitter(k, op, to, from, target);
    emitter.emitAverageBackward();
    command.workerBytes = emitter.imageSize() * 8;
  } else if (auto max = dyn_cast<MaxPoolOp>(op)) {
    PoolEmitter(k, op, from, to, target)
        .emitMax({buffers[0], buffers[1], typeOf(max.getPositions()).getElementType()});
  } else {
    PoolEmitter(k, op, from, to, target).emitAverage();
  }
  operands.launch.commands.push_back(command);
  return operands.launch;
}

} // namespace reprise
