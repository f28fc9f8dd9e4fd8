// reprise: emits what the kernels of attention for the threads of a GPU compute of one score
#include "AttentionScores.h"

#include "reprise/Conversion/Random.h"

using namespace mlir;

namespace reprise {

AttentionScores::AttentionScores(ThreadKernel &k, const AttentionSpec &spec,
                                 const AttentionBuffers &buffers)
    : AttentionGeometry(k, spec), k(k), buffers(buffers), draw(*this, buffers.random),
      compute(KernelBuilder::computeType(spec.type)) {}

Value AttentionScores::score(Value product, const HeadIndex &head, Value query, Value key) {
  Value scaled = multiply(product, number(spec.scale));
  if (!spec.hasBias)
    return scaled;
  Value base = headBase(buffers.bias, compute, spec.bias, head);
  Value at = k.add(k.mul(query, spec.bias.row), k.mul(key, spec.bias.depth));
  return add(scaled, k.load(compute, base, at));
}

Value AttentionScores::sees(const HeadIndex &head, Value query, Value key) {
  Value result = less(key, visibleTo(query));
  if (!spec.hasMask)
    return result;
  Value base = headBase(buffers.mask, b.getI8Type(), spec.mask, head);
  Value at = k.add(k.mul(query, spec.mask.row), k.mul(key, spec.mask.depth));
  return both(result, k.load(b.getI1Type(), base, at));
}

Value AttentionScores::word(const HeadIndex &head, Value query, Value key) {
  return emitPhiloxWordsAt(b, draw.seed, draw.stream, k.add(draw.position(head, query), key),
                           WordWidth::Narrow);
}

Value AttentionScores::dropout(Value word, Value x) { return emitDropout(b, word, x, spec.rate); }

Value AttentionScores::statistic(unsigned buffer, const AttentionStrides &strides,
                                 const HeadIndex &head, Value query) {
  return k.load(compute, headBase(buffer, compute, strides, head), k.mul(query, strides.row));
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
