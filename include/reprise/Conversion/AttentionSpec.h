// reprise: scaled dot-product attention and its backward, as sizes and strides
#ifndef REPRISE_CONVERSION_ATTENTIONSPEC_H
#define REPRISE_CONVERSION_ATTENTIONSPEC_H

#include "mlir/IR/BuiltinOps.h"
#include "reprise/Target/Launch.h"

namespace reprise {

/// Distances in elements between neighbours of [batch, head, row, depth], and the size of the
/// depth. Rows are queries or keys; lse and dlse have no depth.
struct AttentionStrides {
  int64_t batch = 0, head = 0, row = 0, depth = 1;
  int64_t columns = 0;
};

/// One attention, or the backward of one. Element types are f32, f64, bf16 or f16; lse and dlse
/// have the type of arithmetic. Results are row-major.
struct AttentionSpec {
  mlir::Type type;
  int64_t batch = 1, heads = 1, queries = 1, keys = 1;
  int64_t keyHeads = 1; // divides heads
  AttentionStrides query, key, value;
  AttentionStrides out, dout, lse, dlse; // of the backward
  int64_t alignment = 16;                // operands and results begin at multiples of so many bytes
  bool hasDlse = false;
  double scale = 1;
  bool causal = false; // then keys ≥ queries
  /// What is added to the scores, in the type of arithmetic, and an i1 per score, 0 where the key
  /// is no term. `depth` is the distance of keys; other distances are 0 where one entry serves all.
  bool hasBias = false, hasMask = false;
  AttentionStrides bias, mask;
  /// Dropout of the probabilities, none for rate 0. Its words are those of [batch, head, query,
  /// key] in `globalShape`, from `origin` (zeros if absent).
  double rate = 0;
  llvm::SmallVector<int64_t> globalShape;
  bool hasOrigin = false;
  /// Which results are wanted, in order: out and lse; or dquery, dkey, dvalue and dscore.
  llvm::SmallVector<bool> stored = {true, true, true, false};
  bool isStored(unsigned result) const { return result < stored.size() && stored[result]; }

  /// Columns of queries and keys, and those of values and results; at most maxDepth.
  int64_t depth() const { return query.columns; }
  int64_t valueDepth() const { return value.columns; }
  bool draws() const { return rate != 0; }
  /// Buffers that say what to draw: stream, seed, offset, and the origin if there is one.
  int64_t drawInputs() const { return draws() ? 3 + hasOrigin : 0; }
  /// Buffers beside the scores' products: bias, then mask.
  int64_t scoreInputs() const { return hasBias + hasMask; }
  /// Query heads that share a key head.
  int64_t group() const { return heads / keyHeads; }
  /// Query i sees keys up to i + shift() under a causal mask.
  int64_t shift() const { return keys - queries; }
  /// Terms of the sums over queries: a key head's queries in all heads that read it.
  int64_t queryTerms() const { return group() * queries; }
  static constexpr int64_t maxDepth = 4096;
};

/// The buffers of the commands of all targets, in order: query, key, value; in the backward out,
/// lse, dout, and dlse if there is one; bias and mask, if there are; with dropout stream, seed,
/// offset (i64 each) and, if the spec has one, origin (4 × i64); then the wanted results.
struct AttentionBuffers {
  static constexpr unsigned query = 0, key = 1, value = 2;
  static constexpr unsigned out = 3, lse = 4, dout = 5, dlse = 6;
  unsigned bias, mask, random, outputs;

  static AttentionBuffers ofForward(const AttentionSpec &spec) { return {spec, 3}; }
  static AttentionBuffers ofBackward(const AttentionSpec &spec) {
    return {spec, 6U + spec.hasDlse};
  }
  /// The buffer of a wanted result.
  unsigned output(const AttentionSpec &spec, unsigned result) const {
    return outputs + llvm::count(llvm::ArrayRef(spec.stored).take_front(result), true);
  }
  /// The slots of a command that has all of them: inputs and outputs, each numbered from 0.
  llvm::SmallVector<BufferSlot> slots(const AttentionSpec &spec) const;

private:
  AttentionBuffers(const AttentionSpec &spec, unsigned first)
      : bias(first), mask(bias + spec.hasBias), random(bias + spec.scoreInputs()),
        outputs(random + spec.drawInputs()) {}
};

} // namespace reprise

#endif // REPRISE_CONVERSION_ATTENTIONSPEC_H
