// reprise: emits contractions of few rows and terms over the windows of an image, such as those of
// a depthwise convolution, directly from the operands
//
// Packing an image costs about as much as one row of results. So the lanes run along a line of the
// image in place, and a tile holds some neighbouring lines of results, which share operand
// elements.
#include "ContractionEmit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

using namespace mlir;

namespace reprise {

/// Largest number of rows for which packing does not pay off.
static constexpr int64_t mostRows = 8;
/// A term is unrolled for all rows and lines of a tile.
static constexpr int64_t mostUnrolled = 512;

bool isDirect(const ContractionSpec &spec) {
  if (spec.lanesAlongRows || spec.columns.size() != 3 || spec.contracted.size() != 3 ||
      spec.rows.size() != 1 || spec.batch.size() != 1 ||
      spec.columnGroups % spec.columns[0].size != 0)
    return false;
  int64_t window = spec.contracted[1].size * spec.contracted[2].size;
  return spec.rhsType == spec.accumulatorType() && spec.rows[0].size <= mostRows &&
         spec.columns[2].stride >= 1 && spec.columns[2].stride <= 2 &&
         window * spec.contracted[0].size > 0 && window * spec.contracted[0].size <= chainLength &&
         window * spec.rows[0].size <= mostUnrolled;
}

namespace {

class DirectEmitter {
public:
  DirectEmitter(KernelBuilder &k, const ContractionSpec &spec, const CpuTarget &target,
                const ContractionHooks &hooks)
      : k(k), b(k.b), spec(spec), hooks(hooks), type(spec.accumulatorType()),
        lines(spec.columns[1].size), size(spec.columns[2].size), rows(spec.rows[0].size) {
    int64_t registers = target.registers() == 32 ? 16 : 8;
    int64_t window = spec.contracted[1].size * spec.contracted[2].size;
    int64_t most = std::max<int64_t>(1, mostUnrolled / (window * rows));
    step = std::clamp<int64_t>(registers / rows, 1, std::min(lines, most));
    width = target.lanes(bytesOf(type));
    while (width / 2 >= size)
      width /= 2;
  }

  int64_t items() const { return spec.batch[0].size * spec.columns[0].size; }
  int64_t workerBytes() const { return rows * step * size * bytesOf(type); }

  void emit() {
    forLoop(k, k.begin(), k.end(), k.i64(1), [&](Value item) {
      sample = k.rem(item, spec.columns[0].size);
      group = k.div(item, spec.columns[0].size);
      const SharedDim &batch = spec.batch[0];
      lhs = emitAddress(b, spec.lhsType, k.buffer(0),
                        k.add(k.mul(group, batch.lhsStride), spec.lhsOffset));
      Value image = k.add(k.mul(group, batch.rhsStride), spec.rhsOffset);
      rhs = emitAddress(b, type, k.buffer(1), k.add(k.mul(sample, spec.columns[0].stride), image));
      int64_t whole = lines / step * step;
      forLoop(k, k.i64(0), k.i64(whole), k.i64(step), [&](Value line) { emitLines(line, step); });
      if (whole < lines)
        emitLines(k.i64(whole), lines - whole);
    });
  }

private:
  /// Computes `count` lines of results, and passes them to the epilogue.
  void emitLines(Value line, int64_t count) {
    int64_t whole = size / width * width;
    forLoop(k, k.i64(0), k.i64(whole), k.i64(width),
            [&](Value column) { emitTile(line, count, column, width); });
    if (whole < size)
      emitTile(line, count, k.i64(whole), size - whole);
    store(line, count);
  }

  void emitTile(Value line, int64_t count, Value column, int64_t lanes) {
    Value from = emitAddress(
        b, type, rhs,
        k.add(k.mul(line, spec.columns[1].stride), k.mul(column, spec.columns[2].stride)));
    Carried sums(rows * count, emitConstant(b, typeOfLanes(type, width), 0));
    sums = forLoop(k, k.i64(0), k.i64(spec.contracted[0].size), k.i64(1), sums,
                   [&](Value channel, ValueRange carried) {
                     return emitWindow(from, channel, count, lanes, carried);
                   });
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < count; ++i) {
        Value at = k.add(column, (row * step + i) * size);
        storeLanes(sums[row * count + i], emitAddress(b, type, k.workspace(), at), lanes);
      }
  }

  /// Adds the terms of one channel.
  Carried emitWindow(Value from, Value channel, int64_t count, int64_t lanes, ValueRange carried) {
    Carried sums(carried);
    Value image = emitAddress(b, type, from, k.mul(channel, spec.contracted[0].rhsStride));
    Value filter = emitAddress(b, spec.lhsType, lhs, k.mul(channel, spec.contracted[0].lhsStride));
    std::map<int64_t, Value> loaded;
    for (int64_t r = 0; r < spec.contracted[1].size; ++r)
      for (int64_t s = 0; s < spec.contracted[2].size; ++s)
        for (int64_t row = 0; row < rows; ++row) {
          int64_t at = r * spec.contracted[1].lhsStride + s * spec.contracted[2].lhsStride +
                       row * spec.rows[0].stride;
          Value factor = emitSplat(b, emitLoadWide(b, spec.lhsType, filter, k.i64(at)), width);
          for (int64_t i = 0; i < count; ++i) {
            int64_t offset = i * spec.columns[1].stride + r * spec.contracted[1].rhsStride +
                             s * spec.contracted[2].rhsStride;
            Value &vector = loaded[offset];
            if (!vector)
              vector = loadLanes(image, offset, lanes);
            Value &sum = sums[row * count + i];
            sum = math::FmaOp::create(b, factor, vector, sum);
          }
        }
    return sums;
  }

  /// Loads elements from `offset` on, a column's stride apart, without a read beyond the last lane.
  Value loadLanes(Value from, int64_t offset, int64_t lanes) {
    int64_t stride = spec.columns[2].stride, span = (lanes - 1) * stride + 1;
    if (stride == 1 || width == 1)
      return loadPart(from, offset, lanes);
    SmallVector<int64_t> chosen;
    for (int64_t i = 0; i < width; ++i)
      chosen.push_back(i * stride < width ? i * stride : i * stride + (lanes == width));
    // With all lanes, the last element but one comes from the second of two overlapping vectors.
    if (lanes == width)
      return vector::ShuffleOp::create(b, loadPart(from, offset, width),
                                       loadPart(from, offset + width - 1, width), chosen);
    Value low = loadPart(from, offset, std::min(span, width));
    Value high = emitConstant(b, low.getType(), 0);
    if (span > width)
      high = loadPart(from, offset + width, span - width);
    return vector::ShuffleOp::create(b, low, high, chosen);
  }

  Value loadPart(Value from, int64_t offset, int64_t lanes) {
    Value address = emitAddress(b, type, from, k.i64(offset));
    if (lanes == width)
      return emitLoad(b, type, address, k.i64(0), width);
    Type vector = typeOfLanes(type, width);
    return LLVM::MaskedLoadOp::create(b, vector, address, mask(lanes), emitConstant(b, vector, 0),
                                      static_cast<uint32_t>(bytesOf(type)));
  }

  void storeLanes(Value value, Value to, int64_t lanes) {
    if (lanes == width)
      emitStore(b, type, value, to, k.i64(0));
    else
      LLVM::MaskedStoreOp::create(b, value, to, mask(lanes), static_cast<uint32_t>(bytesOf(type)));
  }

  Value mask(int64_t lanes) {
    SmallVector<bool> bits(width, false);
    std::fill_n(bits.begin(), lanes, true);
    auto type = VectorType::get({width}, b.getI1Type());
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, bits));
  }

  /// Hands lines over, as parts of one matrix per sample, or each as one.
  void store(Value line, int64_t count) {
    int64_t matrices = spec.columnGroups / spec.columns[0].size;
    Value ld = k.i64(step * size);
    auto hand = [&](Value matrix, Value scratch, Value column, int64_t columns) {
      Value batch = k.add(k.mul(matrix, spec.batch[0].size), group);
      storeBlock(k, spec, hooks,
                 {scratch, ld, batch, k.i64(0), k.i64(rows), column, k.add(column, columns), size});
    };
    if (matrices == 1)
      return hand(sample, k.workspace(), k.mul(line, size), count * size);
    for (int64_t i = 0; i < count; ++i)
      hand(k.add(k.mul(sample, lines), k.add(line, i)),
           emitAddress(b, type, k.workspace(), k.i64(i * size)), k.i64(0), size);
  }

  KernelBuilder &k;
  ImplicitLocOpBuilder &b;
  const ContractionSpec &spec;
  const ContractionHooks &hooks;
  Type type;
  int64_t lines, size, rows; // lines and elements of a sample's results, rows of a group
  int64_t step, width;       // lines and lanes of a tile
  Value sample, group, lhs, rhs;
};

} // namespace

SmallVector<KernelCommand> emitDirectContraction(ModuleOp module, StringRef name,
                                                 const ContractionSpec &spec,
                                                 const CpuTarget &target,
                                                 const ContractionHooks &hooks) {
  KernelBuilder k(module, name);
  DirectEmitter emitter(k, spec, target, hooks);
  emitter.emit();
  return {{name.str(), emitter.items(), 0, emitter.workerBytes()}};
}

} // namespace reprise
