// reprise: kernels for GPUs of the ops that no loop nest computes
#ifndef REPRISE_CONVERSION_CUDA_THREADALONE_H
#define REPRISE_CONVERSION_CUDA_THREADALONE_H

#include "../LoopNest/Program.h"
#include "ThreadCommands.h"

namespace reprise {

/// Adds the commands of the nest's op.
void emitThreadAlone(ThreadCommands &commands, const nests::Nest &nest);

// Emitters for one family of ops each, for emitThreadAlone.
void emitThreadScatter(ThreadCommands &commands, const nests::Nest &nest);
/// Returns false, and adds no commands, for a scatter that it does not support.
bool emitWarpScatter(ThreadCommands &commands, const nests::Nest &nest);
void emitThreadCumsum(ThreadCommands &commands, const nests::Nest &nest);
void emitThreadTopK(ThreadCommands &commands, const nests::Nest &nest);
void emitThreadWindow(ThreadCommands &commands, const nests::Nest &nest);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_THREADALONE_H
