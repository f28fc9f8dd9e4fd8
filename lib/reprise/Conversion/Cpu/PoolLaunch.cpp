// reprise: a launch that is a pooling
//
// An item is a plane: one channel of one sample.
#include "LaunchOperands.h"
#include "reprise/Conversion/Cpu/KernelBuilder.h"
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

namespace {

/// One spatial dimension; a pooling over one has another of size 1 before it.
struct Axis {
  int64_t image = 1, steps = 1, window = 1, stride = 1, low = 0;
  bool adaptive = false;
};

struct Range {
  Value begin, end;
};

/// Emits the kernel of one pooling: of `image` planes to `pooled` planes, or back.
class PoolEmitter {
public:
  PoolEmitter(KernelBuilder &k, Operation *op, RankedTensorType image, RankedTensorType pooled)
      : k(k), b(k.builder()), type(image.getElementType()), compute(k.computeType(type)) {
    int64_t spatial = image.getRank() - 2;
    bool adaptive = op->hasAttr("adaptive");
    auto number = [&](StringRef name, int64_t d) {
      return op->getAttrOfType<DenseI64ArrayAttr>(name)[d];
    };
    for (int64_t d = 0; d < spatial; ++d) {
      Axis &axis = axes[2 - spatial + d];
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

  /// Buffers: operand, maxima, positions; either of the latter may be missing (-1).
  void emitMax(int maxima, int positions, Type positionType) {
    forPlanes([&](Value plane) {
      Value from = k.pointer(type, k.buffer(0), k.mul(plane, imageSize()));
      forOutputs([&](Value y, Value x, Range rows, Range columns) {
        Value first = k.add(k.mul(rows.begin, axes[1].image), columns.begin);
        KernelBuilder::Carried best = {k.loadCompute(type, from, first), first};
        best = forWindow(rows, columns, best, [&](Value position, ValueRange leader) {
          Value value = k.loadCompute(type, from, position);
          Value isBetter = wins(value, leader[0]);
          return KernelBuilder::Carried{
              arith::SelectOp::create(b, isBetter, value, leader[0]).getResult(),
              arith::SelectOp::create(b, isBetter, position, leader[1]).getResult()};
        });
        Value to = k.add(k.mul(plane, pooledSize()), k.add(k.mul(y, axes[1].steps), x));
        if (maxima >= 0)
          k.storeCompute(type, best[0], k.buffer(maxima), to);
        if (positions >= 0)
          k.store(positionType, narrow(best[1], positionType), k.buffer(positions), to);
      });
    });
  }

  /// Buffers: operand, means.
  void emitAverage() {
    forPlanes([&](Value plane) {
      Value from = k.pointer(type, k.buffer(0), k.mul(plane, imageSize()));
      forOutputs([&](Value y, Value x, Range rows, Range columns) {
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
      forOutputs([&](Value y, Value x, Range rows, Range columns) {
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

  /// What output `i` covers, inside of the image.
  Range rangeOf(const Axis &axis, Value i) {
    if (axis.adaptive)
      return {k.div(k.mul(i, axis.image), axis.steps),
              k.div(k.add(k.mul(k.add(i, 1), axis.image), axis.steps - 1), axis.steps)};
    Value begin = k.sub(k.mul(i, axis.stride), k.i64(axis.low));
    return {b.createOrFold<arith::MaxSIOp>(begin, k.i64(0)),
            k.min(k.add(begin, axis.window), k.i64(axis.image))};
  }

  void forOutputs(llvm::function_ref<void(Value y, Value x, Range rows, Range columns)> body) {
    k.forLoop(k.i64(0), k.i64(axes[0].steps), k.i64(1), [&](Value y) {
      Range rows = rangeOf(axes[0], y);
      k.forLoop(k.i64(0), k.i64(axes[1].steps), k.i64(1),
                [&](Value x) { body(y, x, rows, rangeOf(axes[1], x)); });
    });
  }

  /// Positions of the image within a plane, row-major.
  KernelBuilder::Carried
  forWindow(Range rows, Range columns, ValueRange carried,
            llvm::function_ref<KernelBuilder::Carried(Value position, ValueRange)> body) {
    return k.forLoop(rows.begin, rows.end, k.i64(1), carried, [&](Value row, ValueRange outer) {
      Value line = k.mul(row, axes[1].image);
      return k.forLoop(
          columns.begin, columns.end, k.i64(1), outer,
          [&](Value column, ValueRange inner) { return body(k.add(line, column), inner); });
    });
  }

  Value count(Range rows, Range columns) {
    Value positions =
        arith::MulIOp::create(b, k.sub(rows.end, rows.begin), k.sub(columns.end, columns.begin));
    return arith::SIToFPOp::create(b, compute, positions);
  }

  /// True if `x` is the maximum of the two, and not the same as `leader`: a first NaN stays, and +0
  /// is above -0.
  Value wins(Value x, Value leader) {
    using F = arith::CmpFPredicate;
    Value above = arith::CmpFOp::create(b, F::UGT, x, leader);
    Value equal = arith::CmpFOp::create(b, F::OEQ, x, leader);
    Type bits = b.getIntegerType(compute.getIntOrFloatBitWidth());
    Value less =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, arith::BitcastOp::create(b, bits, x),
                              arith::BitcastOp::create(b, bits, leader));
    Value better = arith::OrIOp::create(b, above, arith::AndIOp::create(b, equal, less));
    return arith::AndIOp::create(b, better, arith::CmpFOp::create(b, F::ORD, leader, leader));
  }

  Value narrow(Value position, Type to) {
    return to.isInteger(64) ? position : Value(arith::TruncIOp::create(b, to, position));
  }

  KernelBuilder &k;
  ImplicitLocOpBuilder &b;
  Type type, compute;
  Axis axes[2];
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
  LaunchOperands operands(name, kernels, target);
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
    PoolEmitter emitter(k, op, to, from);
    emitter.emitAverageBackward();
    command.workerBytes = emitter.imageSize() * 8;
  } else if (auto max = dyn_cast<MaxPoolOp>(op)) {
    PoolEmitter(k, op, from, to)
        .emitMax(buffers[0], buffers[1], typeOf(max.getPositions()).getElementType());
  } else {
    PoolEmitter(k, op, from, to).emitAverage();
  }
  operands.launch.commands.push_back(command);
  return operands.launch;
}

} // namespace reprise
