// reprise: emits the arithmetic of a single score of attention for the threads of a GPU
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
  /// Returns whether the key is a term of the query's sums.
  Value sees(const HeadIndex &head, Value query, Value key);
  /// Return the word of a score, and dropout(x) by that word.
  Value word(const HeadIndex &head, Value query, Value key);
  Value dropout(Value word, Value x);
  /// Returns whether the words of a query's scores begin with a block of Philox.
  bool hasWholeBlocks() const { return !spec.hasOrigin && spec.globalShape[3] % 4 == 0; }
  /// The words from `position` on.
  using Words = std::array<Value, 4>;
  Words drawBlock(Value position);
  /// Exchanges lists between lanes that differ in a bit of their number. Each lane keeps one of its
  /// two lists and receives the other lane's; the list of the lane without the bit comes first.
  void exchangeLists(llvm::MutableArrayRef<Value> first, llvm::MutableArrayRef<Value> second,
                     Value hasBit, int64_t distance);
  /// Transposes four words of four lanes, `distance` apart: each lane receives its word of each
  /// lane's list.
  void transpose(Words &words, Value isUpper, Value isOdd, int64_t distance);
  /// Returns the alignment, in elements, of the first element of each head.
  int64_t alignmentOf(const AttentionStrides &strides) const;

  /// Return, in the backward, a number per query, and the number that the first kernel wrote to the
  /// scratch.
  Value statistic(unsigned buffer, const AttentionStrides &strides, const HeadIndex &head,
                  Value query);
  Value delta() { return k.buffer(buffers.outputs + llvm::count(spec.stored, true)); }
  Value deltaIndex(const HeadIndex &head, Value query) {
    return k.add(k.mul(head.number, spec.queries), query);
  }
  Value scaled(Value x) { return spec.scale == 1 ? x : multiply(x, number(spec.scale)); }
  /// Returns sum / total, and 0 for a query that sees no key.
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
  /// Compares numbers of rows, columns and lanes in 32 bits, which are enough and need fewer
  /// registers.
  Value less(Value x, Value y) {
    auto narrow = [&](Value i) {
      return mlir::arith::TruncIOp::create(b, b.getI32Type(), i).getResult();
    };
    return mlir::arith::CmpIOp::create(b, mlir::arith::CmpIPredicate::slt, narrow(x), narrow(y));
  }
  Value both(Value x, Value y) { return mlir::arith::AndIOp::create(b, x, y); }
  /// Returns -∞, the score of a key that is no term.
  Value infinity() { return number(-std::numeric_limits<double>::infinity()); }
  Value number(double value) { return emitConstant(b, compute, value); }

  ThreadKernel &k;
  AttentionBuffers buffers;
  AttentionDraw draw;
  mlir::Type compute;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_ATTENTIONSCORES_H
