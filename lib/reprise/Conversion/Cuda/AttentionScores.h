// reprise: emits what the kernels of attention for the threads of a GPU compute of one score
#ifndef REPRISE_CONVERSION_CUDA_ATTENTIONSCORES_H
#define REPRISE_CONVERSION_CUDA_ATTENTIONSCORES_H

#include "../AttentionGeometry.h"
#include "ThreadKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

namespace reprise {

class AttentionScores : public AttentionGeometry {
public:
  AttentionScores(ThreadKernel &k, const AttentionSpec &spec, const AttentionBuffers &buffers);

protected:
  Value score(Value product, const HeadIndex &head, Value query, Value key);
  /// Whether the key is a term of the query's sums.
  Value sees(const HeadIndex &head, Value query, Value key);
  /// dropout(x) by the word of a score.
  Value word(const HeadIndex &head, Value query, Value key);
  Value dropout(Value word, Value x);
  /// Whether the words of a query's scores begin with a block of Philox.
  bool hasWholeBlocks() const { return !spec.hasOrigin && spec.globalShape[3] % 4 == 0; }
  /// The words from `position` on.
  using Words = std::array<Value, 4>;
  Words drawBlock(Value position);
  /// Of two lists, lanes that differ in a bit of their number have one each; they exchange what the
  /// other one lacks: first comes what lanes without the bit had.
  void exchangeLists(llvm::MutableArrayRef<Value> first, llvm::MutableArrayRef<Value> second,
                     Value hasBit, int64_t distance);
  /// Four lanes, `distance` apart, have four words each: a lane gets its own of each one's list.
  void transpose(Words &words, Value isUpper, Value isOdd, int64_t distance);
  /// In elements, of the first one of each head.
  int64_t alignmentOf(const AttentionStrides &strides) const;

  /// Of the backward: a number per query, and one that the first kernel wrote to the scratch.
  Value statistic(unsigned buffer, const AttentionStrides &strides, const HeadIndex &head,
                  Value query);
  Value delta() { return k.buffer(buffers.outputs + llvm::count(spec.stored, true)); }
  Value deltaIndex(const HeadIndex &head, Value query) {
    return k.add(k.mul(head.number, spec.queries), query);
  }
  Value scaled(Value x) { return spec.scale == 1 ? x : multiply(x, number(spec.scale)); }
  /// sum / total, and 0 for a query that sees no key.
  Value quotient(Value sum, Value total);
  /// The larger one. Where NaN is among the scores, every result is NaN, whether NaN wins here or
  /// not; nor does the sign of zero show. So the comparison of one instruction serves.
  Value greater(Value x, Value y) {
    return select(mlir::arith::CmpFOp::create(b, mlir::arith::CmpFPredicate::OLT, y, x), x, y);
  }

  Value add(Value x, Value y) { return mlir::arith::AddFOp::create(b, x, y); }
  Value multiply(Value x, Value y) { return mlir::arith::MulFOp::create(b, x, y); }
  Value subtract(Value x, Value y) { return mlir::arith::SubFOp::create(b, x, y); }
  Value select(Value condition, Value x, Value y) {
    return mlir::arith::SelectOp::create(b, condition, x, y);
  }
  /// Of numbers of rows, columns and lanes, for which 32 bits, and registers, serve.
  Value less(Value x, Value y) {
    auto narrow = [&](Value i) {
      return mlir::arith::TruncIOp::create(b, b.getI32Type(), i).getResult();
    };
    return mlir::arith::CmpIOp::create(b, mlir::arith::CmpIPredicate::slt, narrow(x), narrow(y));
  }
  Value both(Value x, Value y) { return mlir::arith::AndIOp::create(b, x, y); }
  /// The score of what is no term: -∞.
  Value infinity() { return number(-std::numeric_limits<double>::infinity()); }
  Value number(double value) { return emitConstant(b, compute, value); }

  ThreadKernel &k;
  AttentionBuffers buffers;
  AttentionDraw draw;
  mlir::Type compute;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_ATTENTIONSCORES_H
