// reprise: emits the arithmetic of a single score of attention for the threads of a GPU
#include "AttentionScores.h"

#include "OperandAccess.h"
#include "reprise/Conversion/Random.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise {

AttentionScores::AttentionScores(ThreadKernel &k, const AttentionSpec &spec,
                                 const AttentionBuffers &buffers)
    : AttentionGeometry(k, spec), k(k), buffers(buffers), draw(*this, buffers.random),
      compute(getComputeType(spec.type)) {}

Value AttentionScores::score(Value product, const HeadIndex &head, Value query, Value key) {
  Value scaled = multiply(product, number(spec.scale));
  if (!spec.hasBias)
    return scaled;
  Value base = headBase(buffers.bias, compute, spec.bias, head);
  Value at = k.add(k.mul(query, spec.bias.row), k.mul(key, spec.bias.depth));
  return add(scaled, emitLoad(b, compute, base, at));
}

Value AttentionScores::sees(const HeadIndex &head, Value query, Value key) {
  Value result = less(key, visibleTo(query));
  if (!spec.hasMask)
    return result;
  Value base = headBase(buffers.mask, b.getI8Type(), spec.mask, head);
  Value at = k.add(k.mul(query, spec.mask.row), k.mul(key, spec.mask.depth));
  return both(result, emitLoad(b, b.getI1Type(), base, at));
}

Value AttentionScores::word(const HeadIndex &head, Value query, Value key) {
  return emitPhiloxWordsAt(b, draw.seed, draw.stream, k.add(draw.position(head, query), key),
                           WordWidth::Narrow);
}

Value AttentionScores::dropout(Value word, Value x) { return emitDropout(b, word, x, spec.rate); }

AttentionScores::Words AttentionScores::drawBlock(Value position) {
  Value block = emitPhiloxWords(b, draw.seed, draw.stream, position, 4, WordWidth::Narrow);
  Words words;
  for (auto [i, word] : llvm::enumerate(words))
    word = vector::ExtractOp::create(b, block, static_cast<int64_t>(i));
  return words;
}

void AttentionScores::exchangeLists(MutableArrayRef<Value> first, MutableArrayRef<Value> second,
                                    Value hasBit, int64_t distance) {
  for (auto [left, right] : llvm::zip_equal(first, second)) {
    Value kept = select(hasBit, right, left);
    Value got = k.exchange(select(hasBit, left, right), distance);
    left = select(hasBit, got, kept);
    right = select(hasBit, kept, got);
  }
}

void AttentionScores::transpose(Words &words, Value isUpper, Value isOdd, int64_t distance) {
  MutableArrayRef<Value> all(words);
  exchangeLists(all.take_front(2), all.take_back(2), isUpper, 2 * distance);
  for (MutableArrayRef<Value> two : {all.take_front(2), all.take_back(2)})
    exchangeLists(two.take_front(1), two.take_back(1), isOdd, distance);
}

int64_t AttentionScores::alignmentOf(const AttentionStrides &strides) const {
  int64_t bytes = bytesOf(spec.type);
  return findCommonPower({strides.batch, strides.head},
                         std::max<int64_t>(1, spec.alignment / bytes));
}

Value AttentionScores::statistic(unsigned buffer, const AttentionStrides &strides,
                                 const HeadIndex &head, Value query) {
  return emitLoad(b, compute, headBase(buffer, compute, strides, head), k.mul(query, strides.row));
}

Value AttentionScores::quotient(Value sum, Value total) {
  Value result = arith::DivFOp::create(b, sum, total);
  if (!spec.hasMask)
    return result;
  // The sum of no probabilities; the sum of any is at least 1.
  Value seesNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, total, number(0));
  return select(seesNone, number(0), result);
}

} // namespace reprise
