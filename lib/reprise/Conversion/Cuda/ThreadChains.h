// reprise: the canonical order of contractions, for sums in the registers of a thread
#ifndef REPRISE_CONVERSION_CUDA_THREADCHAINS_H
#define REPRISE_CONVERSION_CUDA_THREADCHAINS_H

#include "reprise/Conversion/ControlFlow.h"

namespace reprise {

/// Adds up `count` sums of `terms` terms in parallel: `chain(low, high)` returns the sums of the
/// terms [low, high), a chain each, and the chains combine in the neighbour tree.
Carried emitChains(KernelBuilder &k, int64_t terms, mlir::Type type, size_t count,
                   llvm::function_ref<Carried(mlir::Value low, mlir::Value high)> chain);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_THREADCHAINS_H
