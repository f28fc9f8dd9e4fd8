// reprise: emits the transposition of a square of vectors
#include "ContractionEmit.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise {
namespace {

/// First within 128 bits, by unpacking, then the 128-bit parts, so that each step is one
/// instruction on AVX2 and AVX-512.
class Transposer {
public:
  Transposer(KernelBuilder &k, SmallVectorImpl<Value> &lines)
      : b(k.b), lines(lines), width(static_cast<int64_t>(lines.size())) {}

  void emit() {
    Type element = cast<VectorType>(lines.front().getType()).getElementType();
    int64_t part = 16 / bytesOf(element), parts = width / part;
    for (int64_t first = 0; first < width; first += part)
      transposeWithin(MutableArrayRef<Value>(lines).slice(first, part), part);
    // Now line (g, q) holds, in its part p, column p · part + q of the rows of group g.
    SmallVector<Value> result(width);
    for (int64_t q = 0; q < part; ++q) {
      SmallVector<Value> column;
      for (int64_t g = 0; g < parts; ++g)
        column.push_back(lines[g * part + q]);
      transposeParts(column, part);
      for (int64_t p = 0; p < parts; ++p)
        result[p * part + q] = column[p];
    }
    llvm::copy(result, lines.begin());
  }

private:
  /// Pieces of `piece` elements of x and y, interleaved from the parts that start at `start` in
  /// each 2 · `piece` · `groups`.
  Value interleave(Value x, Value y, int64_t unit, int64_t piece, int64_t start) {
    SmallVector<int64_t> mask;
    for (int64_t base = 0; base < width; base += unit)
      for (int64_t at = base + start; at < base + start + unit / 2; at += piece)
        for (int64_t from : {at, at + width})
          for (int64_t j = 0; j < piece; ++j)
            mask.push_back(from + j);
    return vector::ShuffleOp::create(b, x, y, mask);
  }

  void transposeWithin(MutableArrayRef<Value> v, int64_t part) {
    if (part == 2) {
      Value low = interleave(v[0], v[1], 2, 1, 0), high = interleave(v[0], v[1], 2, 1, 1);
      v[0] = low, v[1] = high;
      return;
    }
    Value low01 = interleave(v[0], v[1], 4, 1, 0), high01 = interleave(v[0], v[1], 4, 1, 2);
    Value low23 = interleave(v[2], v[3], 4, 1, 0), high23 = interleave(v[2], v[3], 4, 1, 2);
    v[0] = interleave(low01, low23, 4, 2, 0);
    v[1] = interleave(low01, low23, 4, 2, 2);
    v[2] = interleave(high01, high23, 4, 2, 0);
    v[3] = interleave(high01, high23, 4, 2, 2);
  }

  /// Part p of line g changes places with part g of line p.
  void transposeParts(SmallVector<Value> &v, int64_t part) {
    auto pick = [&](Value x, Value y, ArrayRef<int64_t> partsOfBoth) {
      SmallVector<int64_t> mask;
      for (int64_t from : partsOfBoth)
        for (int64_t j = 0; j < part; ++j)
          mask.push_back(from * part + j);
      return vector::ShuffleOp::create(b, x, y, mask).getResult();
    };
    if (v.size() == 2) {
      v = {pick(v[0], v[1], {0, 2}), pick(v[0], v[1], {1, 3})};
      return;
    }
    Value a = pick(v[0], v[1], {0, 1, 4, 5}), c = pick(v[0], v[1], {2, 3, 6, 7});
    Value d = pick(v[2], v[3], {0, 1, 4, 5}), e = pick(v[2], v[3], {2, 3, 6, 7});
    v = {pick(a, d, {0, 2, 4, 6}), pick(a, d, {1, 3, 5, 7}), pick(c, e, {0, 2, 4, 6}),
         pick(c, e, {1, 3, 5, 7})};
  }

  ImplicitLocOpBuilder &b;
  SmallVectorImpl<Value> &lines;
  int64_t width;
};

} // namespace

void transposeSquare(KernelBuilder &k, SmallVectorImpl<Value> &lines) {
  Transposer(k, lines).emit();
}

} // namespace reprise
