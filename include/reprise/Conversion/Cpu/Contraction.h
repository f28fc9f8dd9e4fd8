// reprise: contractions (general dot products) in the canonical order, as kernels for the CPU
#ifndef REPRISE_CONVERSION_CPU_CONTRACTION_H
#define REPRISE_CONVERSION_CPU_CONTRACTION_H

#include "reprise/Conversion/ContractionSpec.h"
#include "reprise/Conversion/Cpu/Target.h"
#include "reprise/Conversion/KernelBuilder.h"
#include "reprise/Conversion/LoopNest/ContractionBlock.h"

namespace reprise {

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
