// reprise: kernels for GPUs of the ops that no loop nest computes
#ifndef REPRISE_CONVERSION_CUDA_THREADALONE_H
#define REPRISE_CONVERSION_CUDA_THREADALONE_H

#include "../LoopNest/HostCallCommand.h"
#include "../LoopNest/Program.h"
#include "ThreadCommands.h"

namespace reprise {

/// Adds the commands of the nest's op.
void emitThreadAlone(ThreadCommands &commands, nests::AloneOp nest);

// One overload per op that runs alone.
void emit(ScatterAddOp op, ThreadCommands &commands, nests::AloneOp nest);
void emit(ScatterAddAlongOp op, ThreadCommands &commands, nests::AloneOp nest);
void emit(ScatterOp op, ThreadCommands &commands, nests::AloneOp nest);
void emit(CumsumOp op, ThreadCommands &commands, nests::AloneOp nest);
void emit(TopKOp op, ThreadCommands &commands, nests::AloneOp nest);
void emit(DynamicUpdateOp op, ThreadCommands &commands, nests::AloneOp nest);
/// The host calls a function, which enqueues its work on the stream of the step.
void emit(CustomCallOp op, ThreadCommands &commands, nests::AloneOp nest);
/// False, without commands, for a scatter that it does not take.
bool emitWarpScatter(ThreadCommands &commands, nests::AloneOp nest);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_THREADALONE_H
