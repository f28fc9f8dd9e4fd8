// reprise: emits the register tile of a contraction
#include "ContractionEmit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace reprise {
namespace {

class TileEmitter {
public:
  TileEmitter(KernelBuilder &k, const ContractionPlan &plan, const TileRequest &request)
      : k(k), b(k.b), request(request), width(plan.vectorLanes),
        vectors(llvm::divideCeil(request.lanes, plan.vectorLanes)), accumulator(plan.accumulator),
        vectorType(VectorType::get({plan.vectorLanes}, plan.accumulator)) {}

  void emit() {
    prefetchSums();
    Carried sums = initialSums();
    int64_t unroll = request.rows * vectors >= 8 ? 4 : 8;
    IntegerAttr known;
    matchPattern(request.count, m_Constant(&known));
    Value rest = k.rem(request.count, unroll);
    Value main = k.sub(request.count, rest);
    Value start = k.i64(0), end = request.count;
    if (request.triangle == TileRequest::Triangle::Leading) {
      sums = triangle(start, sums);
      start = k.i64(request.rows - 1);
      main = k.add(main, start);
      end = k.add(end, start);
    }
    sums = forLoop(k, start, main, k.i64(unroll), sums,
                   [&](Value term, ValueRange carried) { return terms(term, unroll, carried); });
    if (!known || known.getInt() % unroll)
      sums = forLoop(k, main, end, k.i64(1), sums,
                     [&](Value term, ValueRange carried) { return terms(term, 1, carried); });
    if (request.triangle == TileRequest::Triangle::Trailing)
      sums = triangle(end, sums);
    for (int64_t i = 0; i < request.rows; ++i)
      for (int64_t v = 0; v < vectors; ++v)
        emitStore(b, accumulator, sums[i * vectors + v], sumAddress(i, v), k.i64(0));
  }

private:
  /// Prefetches the destination of the sums, so that the stores at the end do not wait.
  void prefetchSums() {
    int64_t line = 64 / bytesOf(accumulator);
    for (int64_t i = 0; i < request.rows; ++i)
      for (int64_t lane = 0; lane < request.lanes; lane += line) {
        Value address = emitAddress(b, accumulator, request.to, k.i64(i * request.ld + lane));
        LLVM::Prefetch::create(b, address, /*rw=*/1u, /*hint=*/3u, /*cache=*/1u);
      }
  }

  Carried initialSums() {
    if (request.begin)
      return givenSums();
    int64_t count = request.rows * vectors;
    Value zero = emitConstant(b, vectorType, 0);
    if (!request.first && !request.resume)
      return Carried(count, zero);
    if (request.resume) {
      Carried loaded;
      for (int64_t i = 0; i < request.rows; ++i)
        for (int64_t v = 0; v < vectors; ++v)
          loaded.push_back(emitLoad(b, accumulator, sumAddress(i, v), k.i64(0), width));
      return loaded;
    }
    // We use a load with a mask of all or no lanes instead of a branch, because LLVM spills all
    // values that meet behind a branch.
    Value yes = arith::ConstantIntOp::create(b, 1, 1);
    Value later = emitSplat(b, arith::XOrIOp::create(b, request.first, yes), width);
    Carried loaded;
    for (int64_t i = 0; i < request.rows; ++i)
      for (int64_t v = 0; v < vectors; ++v)
        loaded.push_back(LLVM::MaskedLoadOp::create(b, vectorType, sumAddress(i, v), later, zero,
                                                    static_cast<uint32_t>(bytesOf(accumulator))));
    return loaded;
  }

  /// Loads the sums at `begin` if `first` holds, and else those at `to`.
  Carried givenSums() {
    Carried loaded;
    for (int64_t i = 0; i < request.rows; ++i)
      for (int64_t v = 0; v < vectors; ++v) {
        Value from =
            emitAddress(b, accumulator, request.begin, k.i64(i * request.beginLd + v * width));
        if (request.first)
          from = arith::SelectOp::create(b, request.first, from, sumAddress(i, v));
        loaded.push_back(loadPart(accumulator, from, std::min(width, request.lanes - v * width)));
      }
    return loaded;
  }

  /// Adds the terms that not all rows have, from `term` on.
  Carried triangle(Value term, ValueRange carried) {
    bool leading = request.triangle == TileRequest::Triangle::Leading;
    return terms(term, request.rows - 1, carried,
                 [&](int64_t t, int64_t row) { return leading == (row <= t); });
  }

  /// Adds `count` terms from `term` on to all rows, or to rows for which `takesPart` holds.
  Carried terms(Value term, int64_t count, ValueRange carried,
                llvm::function_ref<bool(int64_t term, int64_t row)> takesPart = nullptr) {
    Carried sums(carried);
    Value lhs = address(request.lhs, k.mul(term, request.lhs.contractedStride));
    Value rhs = address(request.rhs, k.mul(term, request.rhs.contractedStride));
    for (int64_t u = 0; u < count; ++u) {
      SmallVector<Value> right;
      for (int64_t v = 0; v < vectors; ++v)
        right.push_back(loadRight(rhs, u, v));
      for (int64_t i = 0; i < request.rows; ++i) {
        if (takesPart && !takesPart(u, i))
          continue;
        int64_t offset = u * request.lhs.contractedStride + i * request.lhs.freeStride;
        Value left = emitSplat(b, emitLoadWide(b, request.lhs.type, lhs, k.i64(offset)), width);
        for (int64_t v = 0; v < vectors; ++v) {
          Value &sum = sums[i * vectors + v];
          sum = math::FmaOp::create(b, left, right[v], sum);
        }
      }
    }
    return sums;
  }

  Value loadRight(Value rhs, int64_t u, int64_t v) {
    int64_t offset = u * request.rhs.contractedStride + v * width;
    return loadVector(request.rhs.type, address({request.rhs.type, rhs, 0, 0}, k.i64(offset)), v);
  }

  Value address(const TileOperand &operand, Value offset) {
    return emitAddress(b, operand.type, operand.base, offset);
  }

  Value sumAddress(int64_t i, int64_t v) {
    return emitAddress(b, accumulator, request.to, k.i64(i * request.ld + v * width));
  }

  Value mask(int64_t lanes) {
    SmallVector<bool> bits(width, false);
    std::fill_n(bits.begin(), lanes, true);
    auto type = VectorType::get({width}, b.getI1Type());
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, bits));
  }

  /// Loads a vector of rhs, whose lanes beyond the last column become 0 if there is no padding.
  Value loadVector(Type type, Value from, int64_t v) {
    return loadPart(type, from,
                    request.maskRhs ? std::min(width, request.lanes - v * width) : width);
  }

  /// Loads the first `lanes` lanes of a vector; the others become 0.
  Value loadPart(Type type, Value from, int64_t lanes) {
    if (lanes == width)
      return emitLoadWide(b, type, from, k.i64(0), width);
    if (type == accumulator)
      return LLVM::MaskedLoadOp::create(b, vectorType, from, mask(lanes),
                                        emitConstant(b, vectorType, 0),
                                        static_cast<uint32_t>(bytesOf(type)));
    Value value = emitConstant(b, vectorType, 0);
    for (int64_t lane = 0; lane < lanes; ++lane)
      value = vector::InsertOp::create(b, emitLoadWide(b, type, from, k.i64(lane)), value, lane);
    return value;
  }

  KernelBuilder &k;
  ImplicitLocOpBuilder &b;
  const TileRequest &request;
  int64_t width, vectors;
  Type accumulator;
  VectorType vectorType;
};

} // namespace

void emitTile(KernelBuilder &k, const ContractionPlan &plan, const TileRequest &request) {
  TileEmitter(k, plan, request).emit();
}

} // namespace reprise
