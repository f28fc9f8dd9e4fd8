// reprise: scaled dot-product attention and its backward, as kernels for the CPU
//
// The arithmetic is that of `reprise.attention` and `reprise.attention_backward`; nothing else
// shows: neither tiles nor strips nor strides nor the target. Scores never reach memory that
// outlives a work item: strips of them, times all keys, lie in worker workspace.
#ifndef REPRISE_CONVERSION_CPU_ATTENTION_H
#define REPRISE_CONVERSION_CPU_ATTENTION_H

#include "mlir/IR/BuiltinOps.h"
#include "reprise/Conversion/Cpu/Target.h"
#include "reprise/Target/Launch.h"
#include "llvm/ADT/SmallVector.h"

namespace reprise {

/// Distances in elements between neighbours of [batch, head, row, depth]. Rows are queries or keys;
/// lse and dlse have no depth.
struct AttentionStrides {
  int64_t batch = 0, head = 0, row = 0, depth = 1;
};

/// One attention, or the backward of one. Element types are f32, f64, bf16 or f16; lse and dlse
/// have the type of arithmetic. Results are row-major.
struct AttentionSpec {
  mlir::Type type;
  int64_t batch = 1, heads = 1, queries = 1, keys = 1, depth = 1; // depth: at most maxDepth
  int64_t keyHeads = 1;                                           // divides heads
  AttentionStrides query, key, value;
  AttentionStrides out, dout, lse, dlse; // of the backward
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

  bool draws() const { return rate != 0; }
  /// Buffers that say what to draw: stream, seed, offset, and the origin if there is one.
  int64_t drawInputs() const { return draws() ? 3 + hasOrigin : 0; }
  /// Buffers beside the scores' products: bias, then mask.
  int64_t scoreInputs() const { return hasBias + hasMask; }
  /// Query heads that share a key head.
  int64_t group() const { return heads / keyHeads; }
  static constexpr int64_t maxDepth = 4096;
};

/// Adds the kernel `name`. The slots of its command are, as inputs in this order: query, key,
/// value; bias and mask, if there are; with dropout stream, seed, offset (i64 each) and, if
/// `hasOrigin`, origin (4 × i64); as outputs the wanted ones of out and lse, numbered from 0.
EmittedLaunch emitAttention(mlir::ModuleOp kernels, llvm::StringRef name, const AttentionSpec &spec,
                            const CpuTarget &target);

/// The same for the backward. Inputs: query, key, value, out, lse, dout, dlse (if `hasDlse`), then
/// as above; outputs: the wanted ones of dquery, dkey, dvalue and dscore.
EmittedLaunch emitAttentionBackward(mlir::ModuleOp kernels, llvm::StringRef name,
                                    const AttentionSpec &spec, const CpuTarget &target);

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_ATTENTION_H
