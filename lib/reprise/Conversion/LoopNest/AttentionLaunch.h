// reprise: a launch that is an attention or the backward of one
#ifndef REPRISE_CONVERSION_LOOPNEST_ATTENTIONLAUNCH_H
#define REPRISE_CONVERSION_LOOPNEST_ATTENTIONLAUNCH_H

#include "LaunchOperands.h"
#include "reprise/Conversion/AttentionSpec.h"

namespace reprise {

/// The attention, or the backward of one, that a body holds, beside views of its operands; or null.
mlir::Operation *findAttention(mlir::Block &body);

/// Emits the launch of such an op. The target's `emit` adds the kernels; its commands have the
/// slots of AttentionBuffers, inputs and outputs each numbered from 0, and those of its shared
/// scratch.
mlir::FailureOr<EmittedLaunch>
emitAttentionLaunch(mlir::Operation *op, LaunchOperands operands,
                    llvm::function_ref<EmittedLaunch(const AttentionSpec &spec)> emit);

} // namespace reprise

#endif // REPRISE_CONVERSION_LOOPNEST_ATTENTIONLAUNCH_H
