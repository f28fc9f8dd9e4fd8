// reprise: places of buffers, with replays that run while their device waits
#ifndef REPRISE_LIB_COMPILER_HIDDENREPLAYS_H
#define REPRISE_LIB_COMPILER_HIDDENREPLAYS_H

#include "ProgramRun.h"

namespace reprise {

/// Seconds of replays that run while their device waits, by stage and micro-batch.
using HiddenSeconds = std::vector<std::vector<double>>;

/// Lowers all programs from `kernels` to `memory`. In a step with stages, replays move in front of
/// waits, and `hidden` says how many. `after` is the last phase that the module had been through.
mlir::LogicalResult placeBuffers(mlir::ModuleOp module,
                                 llvm::ArrayRef<std::unique_ptr<ProgramRun>> runs, Phase after,
                                 HiddenSeconds &hidden);

} // namespace reprise

#endif // REPRISE_LIB_COMPILER_HIDDENREPLAYS_H
