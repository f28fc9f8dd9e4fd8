// reprise: scaled dot-product attention and its backward, as sizes and strides
#ifndef REPRISE_CONVERSION_ATTENTIONSPEC_H
#define REPRISE_CONVERSION_ATTENTIONSPEC_H

#include "mlir/IR/BuiltinOps.h"
#include "reprise/Target/Launch.h"

namespace reprise {

/// Strides of [batch, head, row, depth] in elements, and the size of the depth. Rows are queries or
/// keys; lse and dlse have no depth.
struct AttentionStrides {
  int64_t batch = 0, head = 0, row = 0, depth = 1;
  int64_t columns = 0;
};

/// Attention, or the backward of an attention. Element types are f32, f64, bf16 or f16; lse and
/// dlse have the type of arithmetic. Results are row-major.
struct AttentionSpec {
  mlir::Type type;
  int64_t batch = 1, heads = 1, queries = 1, keys = 1;
  int64_t keyHeads = 1; // divisor of heads
  AttentionStrides query, key, value;
  AttentionStrides out, dout, lse, dlse; // operands of the backward
  int64_t alignment = 16;                // alignment in bytes of the start of operands and results
  bool hasDlse = false;
  double scale = 1;
  bool causal = false; // if true, keys ≥ queries
  /// Strides of the bias, which is added to the scores in the type of arithmetic, and of the mask,
  /// an i1 per score: 0 drops the key from the sum. `depth` is the stride of keys; a stride of 0
  /// repeats one entry.
  bool hasBias = false, hasMask = false;
  AttentionStrides bias, mask;
  /// Dropout rate of the probabilities; 0 for none. Random words are those of [batch, head, query,
  /// key] in `globalShape`, from `origin` (zeros if absent).
  double rate = 0;
  llvm::SmallVector<int64_t> globalShape;
  bool hasOrigin = false;
  /// Flags of the stored results, in order: out and lse; or dquery, dkey, dvalue and dscore.
  llvm::SmallVector<bool> stored = {true, true, true, false};
  bool isStored(unsigned result) const { return result < stored.size() && stored[result]; }

  /// Returns the columns of queries and keys, or of values and results; at most maxDepth.
  int64_t depth() const { return query.columns; }
  int64_t valueDepth() const { return value.columns; }
  bool draws() const { return rate != 0; }
  /// Returns the number of buffers for random words: stream, seed, offset, and the origin if
  /// present.
  int64_t drawInputs() const { return draws() ? 3 + hasOrigin : 0; }
  /// Returns the number of buffers that change scores: bias, then mask.
  int64_t scoreInputs() const { return hasBias + hasMask; }
  /// Returns the number of query heads that share a key head.
  int64_t group() const { return heads / keyHeads; }
  /// Returns the shift of a causal mask: query i sees keys up to i + shift().
  int64_t shift() const { return keys - queries; }
  /// Returns the number of terms in sums over queries: the queries of a key head in all heads that
  /// read it.
  int64_t queryTerms() const { return group() * queries; }
  static constexpr int64_t maxDepth = 4096;
};

/// Numbers of the buffers of a command on all targets, in order: query, key, value; in the backward
/// out, lse, dout, and dlse if present; bias and mask, if present; with dropout stream, seed,
/// offset (i64 each) and, if the spec has one, origin (4 × i64); then the stored results.
struct AttentionBuffers {
  static constexpr unsigned query = 0, key = 1, value = 2;
  static constexpr unsigned out = 3, lse = 4, dout = 5, dlse = 6;
  unsigned bias, mask, random, outputs;

  static AttentionBuffers ofForward(const AttentionSpec &spec) { return {spec, 3}; }
  static AttentionBuffers ofBackward(const AttentionSpec &spec) {
    return {spec, 6U + spec.hasDlse};
  }
  /// Returns the buffer of a stored result.
  unsigned output(const AttentionSpec &spec, unsigned result) const {
    return outputs + llvm::count(llvm::ArrayRef(spec.stored).take_front(result), true);
  }
  /// Returns the slots of a command with all buffers: inputs and outputs, each numbered from 0.
  llvm::SmallVector<BufferSlot> slots(const AttentionSpec &spec) const;

private:
  AttentionBuffers(const AttentionSpec &spec, unsigned first)
      : bias(first), mask(bias + spec.hasBias), random(bias + spec.scoreInputs()),
        outputs(random + spec.drawInputs()) {}
};

} // namespace reprise

#endif // REPRISE_CONVERSION_ATTENTIONSPEC_H
