// reprise: the canonical order of contractions, for sums in the registers of a thread
#ifndef REPRISE_CONVERSION_CUDA_THREADCHAINS_H
#define REPRISE_CONVERSION_CUDA_THREADCHAINS_H

#include "reprise/Conversion/ControlFlow.h"

namespace reprise {

/// Adds up `count` sums of so many terms side by side: `chain(low, high)` returns those of the
/// terms [low, high), a chain of each, and the chains meet in the neighbour tree.
Carried emitChains(KernelBuilder &k, int64_t terms, mlir::Type type, size_t count,
                   llvm::function_ref<Carried(mlir::Value low, mlir::Value high)> chain);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_THREADCHAINS_H
