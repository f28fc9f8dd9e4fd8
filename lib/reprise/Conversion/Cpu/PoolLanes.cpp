// reprise: pools vectors of neighbouring outputs
#include "PoolEmit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace reprise {

bool hasPoolLanes(const PoolAxis &axis, Type type) {
  return !axis.adaptive && axis.stride <= 2 && (type.isF32() || type.isF64());
}

namespace {

class LaneEmitter {
public:
  LaneEmitter(KernelBuilder &k, ArrayRef<PoolAxis> axes, Type type, const CpuTarget &target,
              Value from, Value to)
      : k(k), b(k.b), rows(axes[0]), columns(axes[1]), type(type), from(from), to(to),
        width(target.lanes(bytesOf(type))), integer(b.getIntegerType(type.getIntOrFloatBitWidth())),
        vector(VectorType::get(width, type)), integers(VectorType::get(width, integer)) {
    SmallVector<Attribute> numbers;
    for (int64_t lane = 0; lane < width; ++lane)
      numbers.push_back(b.getIntegerAttr(integer, lane));
    iota = arith::ConstantOp::create(b, DenseElementsAttr::get(integers, numbers));
  }

  void emitMax(const MaxTargets &targets) {
    forVectors([&](PoolRange covered, Value x, Value at) {
      Value line = k.mul(covered.begin, columns.image);
      Value start = lanesOf(k.sub(k.mul(x, columns.stride), k.i64(columns.low)));
      start = add(start, arith::MulIOp::create(b, iota, number(columns.stride)));
      start = arith::MaxSIOp::create(b, start, number(0));
      Carried best = {emitConstant(b, vector, -std::numeric_limits<double>::infinity()),
                      add(lanesOf(line), start)};
      best = forWindow(covered, x, best, [&](const Term &term, ValueRange leader) {
        Value isBetter = emitWins(b, term.value, leader[0]);
        isBetter = arith::AndIOp::create(b, isBetter, term.inside);
        return Carried{arith::SelectOp::create(b, isBetter, term.value, leader[0]).getResult(),
                       arith::SelectOp::create(b, isBetter, term.position, leader[1]).getResult()};
      });
      if (targets.values >= 0)
        store(best[0], x, emitAddress(b, type, k.buffer(targets.values), at));
      if (targets.positions >= 0)
        storePositions(best[1], x,
                       emitAddress(b, targets.positionType, k.buffer(targets.positions), at),
                       targets.positionType);
    });
  }

  void emitAverage() {
    forVectors([&](PoolRange covered, Value x, Value at) {
      Carried sums = {emitConstant(b, vector, 0), number(0)};
      sums = forWindow(covered, x, sums, [&](const Term &term, ValueRange partial) {
        Value one = arith::ExtUIOp::create(b, integers, term.inside);
        return Carried{arith::AddFOp::create(b, partial[0], term.value).getResult(),
                       add(partial[1], one)};
      });
      Value count = arith::SIToFPOp::create(b, vector, sums[1]);
      store(arith::DivFOp::create(b, sums[0], count), x, emitAddress(b, type, k.buffer(1), at));
    });
  }

private:
  /// Position of the window per lane. Lanes outside of the image hold 0.
  struct Term {
    Value value, position, inside;
  };

  /// Calls `body` for each vector of outputs with the range of its line, its first column, and its
  /// number.
  void forVectors(llvm::function_ref<void(PoolRange, Value, Value)> body) {
    forLoop(k, k.i64(0), k.i64(rows.steps), k.i64(1), [&](Value y) {
      PoolRange covered = poolRange(k, rows, y);
      Value line = k.add(to, k.mul(y, columns.steps));
      forLoop(k, k.i64(0), k.i64(columns.steps), k.i64(width),
              [&](Value x) { body(covered, x, k.add(line, x)); });
    });
  }

  Carried forWindow(PoolRange covered, Value x, ValueRange carried,
                    llvm::function_ref<Carried(const Term &, ValueRange)> body) {
    return forLoop(k, covered.begin, covered.end, k.i64(1), carried, [&](Value row, ValueRange c) {
      Value line = k.mul(row, columns.image);
      return forLoop(k, k.i64(0), k.i64(columns.window), k.i64(1), c, [&](Value s, ValueRange c) {
        return body(load(line, k.add(k.sub(k.mul(x, columns.stride), k.i64(columns.low)), s)), c);
      });
    });
  }

  /// Loads column `first` of a line in lane 0, and every `stride`-th column after it.
  Term load(Value line, Value first) {
    Value column = add(lanesOf(first), arith::MulIOp::create(b, iota, number(columns.stride)));
    Term term;
    term.position = add(column, lanesOf(line));
    term.inside = isInside(column);
    term.value = loadPart(line, first);
    if (columns.stride == 1)
      return term;
    SmallVector<int64_t> even;
    for (int64_t i = 0; i < 2 * width; i += 2)
      even.push_back(i);
    term.value =
        vector::ShuffleOp::create(b, term.value, loadPart(line, k.add(first, width)), even);
    return term;
  }

  /// Loads neighbouring elements; elements outside of the line are 0.
  Value loadPart(Value line, Value first) {
    Value mask = isInside(add(lanesOf(first), iota));
    return LLVM::MaskedLoadOp::create(b, vector, emitAddress(b, type, from, k.add(line, first)),
                                      mask, emitConstant(b, vector, 0),
                                      static_cast<uint32_t>(bytesOf(type)));
  }

  Value isInside(Value column) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column, number(columns.image));
  }

  /// The lanes of outputs from `x` on that exist.
  Value exist(Value x) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, add(lanesOf(x), iota),
                                 number(columns.steps));
  }

  void store(Value value, Value x, Value address) {
    Type element = cast<VectorType>(value.getType()).getElementType();
    LLVM::MaskedStoreOp::create(b, value, address, exist(x),
                                static_cast<uint32_t>(bytesOf(element)));
  }

  void storePositions(Value positions, Value x, Value address, Type element) {
    Type type = VectorType::get(width, element);
    if (element.getIntOrFloatBitWidth() > integer.getIntOrFloatBitWidth())
      positions = arith::ExtSIOp::create(b, type, positions);
    else if (element.getIntOrFloatBitWidth() < integer.getIntOrFloatBitWidth())
      positions = arith::TruncIOp::create(b, type, positions);
    store(positions, x, address);
  }

  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value number(int64_t value) { return emitConstant(b, integers, static_cast<double>(value)); }
  Value lanesOf(Value scalar) {
    if (integer.getIntOrFloatBitWidth() < 64)
      scalar = arith::TruncIOp::create(b, integer, scalar);
    return emitSplat(b, scalar, width);
  }

  KernelBuilder &k;
  ImplicitLocOpBuilder &b;
  const PoolAxis &rows, &columns;
  Type type;
  Value from, to;
  int64_t width;
  Type integer; // integer as wide as an element
  VectorType vector, integers;
  Value iota;
};

} // namespace

void emitMaxLanes(KernelBuilder &k, ArrayRef<PoolAxis> axes, Type type, const CpuTarget &target,
                  Value from, Value to, const MaxTargets &targets) {
  LaneEmitter(k, axes, type, target, from, to).emitMax(targets);
}

void emitAverageLanes(KernelBuilder &k, ArrayRef<PoolAxis> axes, Type type, const CpuTarget &target,
                      Value from, Value to) {
  LaneEmitter(k, axes, type, target, from, to).emitAverage();
}

} // namespace reprise
