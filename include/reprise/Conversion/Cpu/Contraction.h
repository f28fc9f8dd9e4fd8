// reprise: contractions (general dot products) in the canonical order, as kernels for the CPU
#ifndef REPRISE_CONVERSION_CPU_CONTRACTION_H
#define REPRISE_CONVERSION_CPU_CONTRACTION_H

#include "reprise/Conversion/ContractionSpec.h"
#include "reprise/Conversion/Cpu/Target.h"
#include "reprise/Conversion/KernelBuilder.h"
#include "reprise/Conversion/LoopNest/ContractionBlock.h"

namespace reprise {

/// Emitter of the ops on a finished block while it is in the cache. Buffer 2 + i of the kernel is
/// extra buffer i. Every element of the result lies in exactly one block; blocks depend only on the
/// shape and the target.
using EpilogueFn = llvm::function_ref<void(KernelBuilder &, const ContractionBlock &)>;

/// Operand elements that a prologue changes while they are packed. `value` is in the type of
/// arithmetic: a scalar or a vector. Lanes run along `free` or, if `alongContracted`, along
/// `contracted`; `free` is the row or the column of lane 0. The prologue may run more than once for
/// an element.
struct PackedElements {
  mlir::Value value, batch, free, contracted;
  bool alongContracted;
};
using PrologueFn = llvm::function_ref<mlir::Value(KernelBuilder &, const PackedElements &)>;

struct ContractionHooks {
  EpilogueFn epilogue =
      /// Epilogue of the contraction. Null means: round to the result's type and store, row-major
      /// [batch, M, N].
      nullptr;
  /// Optional prefetch of the memory that the epilogue accesses for a part of a block, before its
  /// terms are added. The block has no scratch at that time.
  EpilogueFn prefetch = nullptr;
  PrologueFn lhsPrologue = nullptr, rhsPrologue = nullptr;
};

/// Command. Its kernel's buffers are lhs, rhs, the extra buffers in order, and the shared workspace
/// if `sharedBytes` of any command of the contraction is not 0. The shared workspace keeps its
/// content between commands.
struct KernelCommand {
  std::string kernel;
  int64_t items = 0;
  int64_t sharedBytes = 0; // bytes that all commands share
  int64_t workerBytes = 0; // private to each worker
  int64_t packedBytes = 0; // read and written by a command that only packs
};

/// Adds the kernels of one contraction to a module, named `name` and `name` with a suffix, and
/// returns their commands in order.
llvm::SmallVector<KernelCommand> emitContraction(mlir::ModuleOp module, llvm::StringRef name,
                                                 const ContractionSpec &spec,
                                                 const CpuTarget &target,
                                                 const ContractionHooks &hooks = {});

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_CONTRACTION_H
