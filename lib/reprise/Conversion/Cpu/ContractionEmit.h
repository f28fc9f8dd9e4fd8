// reprise: the parts of a contraction's kernels
#ifndef REPRISE_CONVERSION_CPU_CONTRACTIONEMIT_H
#define REPRISE_CONVERSION_CPU_CONTRACTIONEMIT_H

#include "ContractionPlan.h"
#include "reprise/Conversion/ControlFlow.h"

namespace reprise {

/// Common data of all kernels of one contraction.
struct ContractionContext {
  ContractionContext(const ContractionSpec &spec, const ContractionPlan &plan,
                     const ContractionHooks &hooks);
  const ContractionSpec &spec;
  const ContractionPlan &plan;
  const ContractionHooks &hooks;
  /// Byte offsets in the workspace of a worker: packed operands, sums, transposed sums.
  int64_t rows = 0, lanes = 0, scratch = 0, transposed = 0, workerBytes = 0;
  /// The shared workspace: packed rows, then packed lanes.
  int64_t sharedRowBytes = 0, sharedBytes = 0;
};

mlir::Value bytesFrom(KernelBuilder &k, mlir::Value base, int64_t offset);

/// The first element of a batch entry of an operand.
mlir::Value batchBase(KernelBuilder &k, const OperandPlan &operand, mlir::Value batch);

/// Terms in the block of the contracted dimension that starts at `k0`.
mlir::Value countFrom(KernelBuilder &k, const ContractionPlan &plan, mlir::Value k0);

/// A sliver in the shared workspace; `block` counts blocks of terms through all batch entries.
mlir::Value sharedSliver(KernelBuilder &k, const ContractionContext &context,
                         const OperandPlan &operand, mlir::Value block, mlir::Value sliver);

/// Operand of a block of results: its slivers [begin, end), and its batch entry's first element.
struct BlockOperand {
  mlir::Value begin, end, base;
};
/// Computes a block of results with all of its terms, and passes it to the epilogue.
void emitBlock(KernelBuilder &k, const ContractionContext &context, mlir::Value batch,
               const BlockOperand &rows, const BlockOperand &lanes);

/// Passes finished sums to the epilogue, or stores them. Rows and columns are the plan's; if the
/// plan is swapped, they are the result's columns and rows.
void emitResults(KernelBuilder &k, const ContractionContext &context,
                 const ContractionBlock &block);

/// Passes a block in one of the result's matrices to the epilogue, or stores it.
void storeBlock(KernelBuilder &k, const ContractionSpec &spec, const ContractionHooks &hooks,
                const ContractionBlock &block);

/// Returns whether a contraction has few rows over the windows of an image; emitContraction then
/// uses emitDirectContraction.
bool isDirect(const ContractionSpec &spec);
llvm::SmallVector<KernelCommand> emitDirectContraction(mlir::ModuleOp module, llvm::StringRef name,
                                                       const ContractionSpec &spec,
                                                       const CpuTarget &target,
                                                       const ContractionHooks &hooks);

/// Returns whether a contraction has few and long sums per batch entry; emitContraction then uses
/// emitBatchedContraction.
bool isBatched(const ContractionSpec &spec, const CpuTarget &target);
llvm::SmallVector<KernelCommand> emitBatchedContraction(mlir::ModuleOp module, llvm::StringRef name,
                                                        const ContractionSpec &spec,
                                                        const CpuTarget &target,
                                                        const ContractionHooks &hooks);

/// Offset in elements of index `index` into a list of dimensions.
mlir::Value emitOffset(KernelBuilder &k, llvm::ArrayRef<FreeDim> dims, mlir::Value index);

/// Runs `body` for the slivers of [begin, end); a last sliver that is a tail gets its own call.
void emitSlivers(KernelBuilder &k, const OperandPlan &operand, mlir::Value begin, mlir::Value end,
                 llvm::function_ref<void(mlir::Value sliver, bool tail)> body);

/// Packs terms [k0, k0 + count) of the slivers [begin, end) of a batch entry. Sliver s becomes
/// [count][operand.sliver] in the accumulator's type at to + (s − begin) · sliverElements. `from`
/// is the batch entry's first element.
struct PackRequest {
  mlir::Value from, to, batch, begin, end, k0, count;
};
void emitPack(KernelBuilder &k, const ContractionPlan &plan, const OperandPlan &operand,
              const PackRequest &request);

/// Emits the packing of an operand that is not linear, without a prologue.
void emitPackRuns(KernelBuilder &k, const ContractionPlan &plan, const OperandPlan &operand,
                  const PackRequest &request);

/// Transposes a square of vectors, as many as a vector has elements, in place. A vector has 32 or
/// 64 bytes.
void transposeSquare(KernelBuilder &k, llvm::SmallVectorImpl<mlir::Value> &lines);

/// Operand of a register tile: element (i, term) lies at base + i · freeStride + term ·
/// contractedStride.
struct TileOperand {
  mlir::Type type;
  mlir::Value base;
  int64_t freeStride, contractedStride;
};
/// Request to run `count` terms of a tile of `rows` rows × `lanes` columns whose accumulators lie
/// at `to`, `ld` elements apart.
///
/// - Sums start from +0, or from those at `begin`, if `first` holds (an i1, or null for always).
///   With `resume` they always continue from the sums at `to`.
/// - Lanes of the last vector beyond the last column are computed and stored too; `maskRhs` forbids
///   reading rhs there.
struct TileRequest {
  /// Further terms, rows − 1 in number, that only some rows have, on a causal diagonal. Leading
  /// terms stand before the others, and term t belongs to rows 0 to t; Trailing terms stand behind
  /// them, and term t belongs to rows from t + 1 on.
  enum class Triangle { None, Leading, Trailing };

  TileOperand lhs, rhs;
  int64_t rows, lanes;
  bool maskRhs;
  mlir::Value count, to, first;
  int64_t ld;
  mlir::Value begin = {}; // sums of `beginLd` elements a row; null: +0
  int64_t beginLd = 0;
  bool resume = false;
  Triangle triangle = Triangle::None;
};
void emitTile(KernelBuilder &k, const ContractionPlan &plan, const TileRequest &request);

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_CONTRACTIONEMIT_H
