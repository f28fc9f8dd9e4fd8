// reprise: scaled dot-product attention and its backward, as kernels for the CPU
//
// The arithmetic is that of `reprise.attention` and `reprise.attention_backward`. Tiles, strips,
// strides and the target do not change the result. Scores never reach memory that outlives a work
// item: strips of scores, times all keys, lie in worker workspace.
#ifndef REPRISE_CONVERSION_CPU_ATTENTION_H
#define REPRISE_CONVERSION_CPU_ATTENTION_H

#include "reprise/Conversion/AttentionSpec.h"
#include "reprise/Conversion/Cpu/Target.h"
#include "reprise/Target/Launch.h"

namespace reprise {

/// Adds the kernel `name`. The slots of its command are those of AttentionBuffers, inputs and
/// outputs each numbered from 0.
EmittedLaunch emitAttention(mlir::ModuleOp kernels, llvm::StringRef name, const AttentionSpec &spec,
                            const CpuTarget &target);
EmittedLaunch emitAttentionBackward(mlir::ModuleOp kernels, llvm::StringRef name,
                                    const AttentionSpec &spec, const CpuTarget &target);

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_ATTENTION_H
