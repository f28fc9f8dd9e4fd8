// reprise: contractions (general dot products) in the canonical order, as kernels for the CPU
//
// result[b, m, n] = sum over k of lhs[b, m, k] · rhs[b, n, k], where each index stands for a list
// of dimensions in row-major order. The sum is one chain of fma over k in order, from +0; with more
// than 4,096 terms, one chain per block of 4,096, whose results meet in the neighbour tree (2i,
// 2i+1), an odd last one moves up. bf16 and f16 widen exactly to f32, f64 stays, and the result is
// rounded once. Tiles, packing, strides and target do not change the result.
#ifndef REPRISE_CONVERSION_CPU_CONTRACTION_H
#define REPRISE_CONVERSION_CPU_CONTRACTION_H

#include "reprise/Conversion/Cpu/Target.h"
#include "reprise/Conversion/KernelBuilder.h"
#include "reprise/Conversion/LoopNest/ContractionBlock.h"

namespace reprise {

/// A dimension that only one operand has; the stride is in elements.
struct FreeDim {
  int64_t size, stride;
};
/// A dimension of both operands.
struct SharedDim {
  int64_t size, lhsStride, rhsStride;
};

/// One contraction. Both operands have floats of the same arithmetic (f32, bf16 and f16 mix; f64
/// does not). Strides are those of the operands as stored, so a transposition or a slice costs
/// nothing. Sizes are positive, save that contracted ones may be 0.
struct ContractionSpec {
  mlir::Type lhsType, rhsType, resultType;
  /// The first elements of the operands in their buffers.
  int64_t lhsOffset = 0, rhsOffset = 0;
  llvm::SmallVector<SharedDim> batch;
  llvm::SmallVector<FreeDim> rows;    // M, of lhs
  llvm::SmallVector<FreeDim> columns; // N, of rhs
  llvm::SmallVector<SharedDim> contracted;
  /// The columns are those of this many matrices, one behind the other, and the result is
  /// [columnGroups, batch, M, N / columnGroups]: epilogues see that as [batch, M, N].
  int64_t columnGroups = 1;
  /// Vector lanes run along M for all sizes, since the columns are expensive to walk along.
  bool lanesAlongRows = false;
  /// Buffers after lhs and rhs that the epilogue uses: 1, the result, unless there is an epilogue.
  int64_t extraBuffers = 1;

  mlir::Type accumulatorType() const { return KernelBuilder::computeType(lhsType); }
};

/// Emits what happens to a finished block while it is in the cache. Buffer 2 + i of the kernel is
/// extra buffer i. Every element of the result lies in exactly one block; blocks are a function of
/// the shape and the target.
using EpilogueFn = llvm::function_ref<void(KernelBuilder &, const ContractionBlock &)>;

/// Emits an elementwise function of operand elements as they are packed. `value` is in the type of
/// arithmetic, a scalar or a vector whose lanes run along `free` or, if `alongContracted`, along
/// `contracted`; `free` is the row or the column of lane 0. It may run more than once for an
/// element.
struct PackedElements {
  mlir::Value value, batch, free, contracted;
  bool alongContracted;
};
using PrologueFn = llvm::function_ref<mlir::Value(KernelBuilder &, const PackedElements &)>;

struct ContractionHooks {
  EpilogueFn epilogue =
      nullptr; // none: round to the result's type and store, row-major [batch, M, N]
  /// With an epilogue, may fetch what that will touch for a part of a block, whose terms are about
  /// to be added: there is no scratch yet.
  EpilogueFn prefetch = nullptr;
  PrologueFn lhsPrologue = nullptr, rhsPrologue = nullptr;
};

/// One command: its kernel's buffers are lhs, rhs, the extra buffers in order, and the shared
/// workspace if `sharedBytes` of any of the contraction's commands is not 0. Its contents go from
/// one command to the next.
struct KernelCommand {
  std::string kernel;
  int64_t items = 0;
  int64_t sharedBytes = 0; // of all commands together
  int64_t workerBytes = 0; // private to each worker
  int64_t packedBytes = 0; // read and written by a command that only packs
};

/// Adds the kernels of one contraction to a module, named `name` and `name` with a suffix, and
/// returns the commands that run them, in order.
llvm::SmallVector<KernelCommand> emitContraction(mlir::ModuleOp module, llvm::StringRef name,
                                                 const ContractionSpec &spec,
                                                 const CpuTarget &target,
                                                 const ContractionHooks &hooks = {});

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_CONTRACTION_H
