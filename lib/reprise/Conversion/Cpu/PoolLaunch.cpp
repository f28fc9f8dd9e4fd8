// reprise: a launch that is a pooling
//
// An item is a plane: one channel of one sample.
#include "CpuOperands.h"
#include "PoolEmit.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise {

static PoolOpInterface poolOf(Block &body) {
  for (Operation &op : body.without_terminator())
    if (auto pool = dyn_cast<PoolOpInterface>(op))
      return pool;
  return nullptr;
}

bool isPoolLaunch(Block &body) { return static_cast<bool>(poolOf(body)); }

PoolRange poolRange(KernelBuilder &k, const PoolAxis &axis, Value i) {
  if (axis.adaptive)
    return {k.div(k.mul(i, axis.image), axis.steps),
            k.div(k.add(k.mul(k.add(i, 1), axis.image), axis.steps - 1), axis.steps)};
  Value begin = k.sub(k.mul(i, axis.stride), k.i64(axis.low));
  return {k.builder().createOrFold<arith::MaxSIOp>(begin, k.i64(0)),
          k.min(k.add(begin, axis.window), k.i64(axis.image))};
}

Value emitWins(KernelBuilder &k, Value x, Value leader) {
  using F = arith::CmpFPredicate;
  ImplicitLocOpBuilder &b = k.builder();
  Value above = arith::CmpFOp::create(b, F::UGT, x, leader);
  Value equal = arith::CmpFOp::create(b, F::OEQ, x, leader);
  Type bits = b.getIntegerType(getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth());
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    bits = vector.clone(bits);
  Value less =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, arith::BitcastOp::create(b, bits, x),
                            arith::BitcastOp::create(b, bits, leader));
  Value better = arith::OrIOp::create(b, above, arith::AndIOp::create(b, equal, less));
  return arith::AndIOp::create(b, better, arith::CmpFOp::create(b, F::ORD, leader, leader));
}

namespace {

/// Emits the kernel of one pooling: of `image` planes to `pooled` planes, or back.
class PoolEmitter {
public:
  PoolEmitter(KernelBuilder &k, Operation *op, RankedTensorType image, RankedTensorType pooled,
              const CpuTarget &target)
      : k(k), b(k.builder()), type(image.getElementType()), compute(k.computeType(type)),
        target(target) {
    int64_t spatial = image.getRank() - 2;
    bool adaptive = op->hasAttr("adaptive");
    auto number = [&](StringRef name, int64_t d) {
      return op->getAttrOfType<DenseI64ArrayAttr>(name)[d];
    };
    for (int64_t d = 0; d < spatial; ++d) {
      PoolAxis &axis = axes[2 - spatial + d];
      axis.image = image.getDimSize(d + 2);
      axis.steps = pooled.getDimSize(d + 2);
      axis.adaptive = adaptive;
      if (!adaptive) {
        axis.window = number("window", d);
        axis.stride = number("strides", d);
        axis.low = number("low", d);
      }
    }
  }

  int64_t imageSize() const { return axes[0].image * axes[1].image; }
  int64_t pooledSize() const { return axes[0].steps * axes[1].steps; }

  /// Buffer 0 is the operand.
  void emitMax(const MaxTargets &targets) {
    forPlanes([&](Value plane) {
      Value from = k.pointer(type, k.buffer(0), k.mul(plane, imageSize()));
      if (hasPoolLanes(axes[1], type))
        return emitMaxLanes(k, axes, type, target, from, k.mul(plane, pooledSize()), targets);
      forOutputs([&](Value y, Value x, PoolRange rows, PoolRange columns) {
        Value first = k.add(k.mul(rows.begin, axes[1].image), columns.begin);
        KernelBuilder::Carried best = {k.loadCompute(type, from, first), first};
        best = forWindow(rows, columns, best, [&](Value position, ValueRange leader) {
          Value value = k.loadCompute(type, from, position);
          Value isBetter = emitWins(k, value, leader[0]);
          return KernelBuilder::Carried{
              arith::SelectOp::create(b, isBetter, value, leader[0]).getResult(),
              arith::SelectOp::create(b, isBetter, position, leader[1]).getResult()};
        });
        Value to = k.add(k.mul(plane, pooledSize()), k.add(k.mul(y, axes[1].steps), x));
        if (targets.values >= 0)
          k.storeCompute(type, best[0], k.buffer(targets.values), to);
        if (targets.positions >= 0)
          k.store(targets.positionType, narrow(best[1], targets.positionType),
                  k.buffer(targets.positions), to);
      });
    });
  }

  /// Buffers: operand, means.
  void emitAverage() {
    forPlanes([&](Value plane) {
      Value from = k.pointer(type, k.buffer(0), k.mul(plane, imageSize()));
      if (hasPoolLanes(axes[1], type))
        return emitAverageLanes(k, axes, type, target, from, k.mul(plane, pooledSize()));
      forOutputs([&](Value y, Value x, PoolRange rows, PoolRange columns) {
        KernelBuilder::Carried sum = {k.constant(compute, 0)};
        sum = forWindow(rows, columns, sum, [&](Value position, ValueRange partial) {
          Value value = k.loadCompute(type, from, position);
          return KernelBuilder::Carried{arith::AddFOp::create(b, partial[0], value).getResult()};
        });
        Value mean = arith::DivFOp::create(b, sum[0], count(rows, columns));
        k.storeCompute(type, mean, k.buffer(1),
                       k.add(k.mul(plane, pooledSize()), k.add(k.mul(y, axes[1].steps), x)));
      });
    });
  }

  /// Buffers: cotangents, result. The sums of a plane lie in the workspace.
  void emitAverageBackward() {
    forPlanes([&](Value plane) {
      Value sums = k.workspace();
      k.forLoop(k.i64(0), k.i64(imageSize()), k.i64(1),
                [&](Value i) { k.store(compute, k.constant(compute, 0), sums, i); });
      forOutputs([&](Value y, Value x, PoolRange rows, PoolRange columns) {
        Value from = k.add(k.mul(plane, pooledSize()), k.add(k.mul(y, axes[1].steps), x));
        Value value = k.loadCompute(type, k.buffer(0), from);
        value = arith::DivFOp::create(b, value, count(rows, columns));
        forWindow(rows, columns, {}, [&](Value position, ValueRange) {
          Value sum = arith::AddFOp::create(b, k.load(compute, sums, position), value);
          k.store(compute, sum, sums, position);
          return KernelBuilder::Carried();
        });
      });
      Value to = k.mul(plane, imageSize());
      k.forLoop(k.i64(0), k.i64(imageSize()), k.i64(1), [&](Value i) {
        k.storeCompute(type, k.load(compute, sums, i), k.buffer(1), k.add(to, i));
      });
    });
  }

private:
  void forPlanes(llvm::function_ref<void(Value)> body) {
    k.forLoop(k.begin(), k.end(), k.i64(1), body);
  }

  void
  forOutputs(llvm::function_ref<void(Value y, Value x, PoolRange rows, PoolRange columns)> body) {
    k.forLoop(k.i64(0), k.i64(axes[0].steps), k.i64(1), [&](Value y) {
      PoolRange rows = poolRange(k, axes[0], y);
      k.forLoop(k.i64(0), k.i64(axes[1].steps), k.i64(1),
                [&](Value x) { body(y, x, rows, poolRange(k, axes[1], x)); });
    });
  }

  /// Positions of the image within a plane, row-major.
  KernelBuilder::Carried
  forWindow(PoolRange rows, PoolRange columns, ValueRange carried,
            llvm::function_ref<KernelBuilder::Carried(Value position, ValueRange)> body) {
    return k.forLoop(rows.begin, rows.end, k.i64(1), carried, [&](Value row, ValueRange outer) {
      Value line = k.mul(row, axes[1].image);
      return k.forLoop(
          columns.begin, columns.end, k.i64(1), outer,
          [&](Value column, ValueRange inner) { return body(k.add(line, column), inner); });
    });
  }

  Value count(PoolRange rows, PoolRange columns) {
    Value positions =
        arith::MulIOp::create(b, k.sub(rows.end, rows.begin), k.sub(columns.end, columns.begin));
    return arith::SIToFPOp::create(b, compute, positions);
  }

  Value narrow(Value position, Type to) {
    return to.isInteger(64) ? position : Value(arith::TruncIOp::create(b, to, position));
  }

  KernelBuilder &k;
  ImplicitLocOpBuilder &b;
  Type type, compute;
  const CpuTarget &target;
  PoolAxis axes[2];
};

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

} // namespace

/// The slots of the body's outputs by the result of `op` that they store, -1 for none.
static FailureOr<SmallVector<int64_t>> findOutputs(Block &body, Operation *op) {
  SmallVector<int64_t> outputs(op->getNumResults(), -1);
  for (auto [number, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    auto result = dyn_cast<OpResult>(value);
    if (!result || result.getOwner() != op || outputs[result.getResultNumber()] >= 0)
      return op->emitError("beside this op its kernel can hold views of its operands only");
    outputs[result.getResultNumber()] = static_cast<int64_t>(number);
  }
  return outputs;
}

FailureOr<EmittedLaunch> emitPoolLaunch(Block &body, StringRef name, ModuleOp kernels,
                                        const CpuTarget &target) {
  Operation *op = poolOf(body);
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
