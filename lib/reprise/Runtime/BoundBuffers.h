// reprise: the memory that callers bind to arguments
#ifndef REPRISE_LIB_RUNTIME_BOUNDBUFFERS_H
#define REPRISE_LIB_RUNTIME_BOUNDBUFFERS_H

#include "reprise/Runtime/Executable.h"

namespace reprise::runtime {

/// What a step, or its part before or behind the pause, does with its arguments. An argument that
/// the part does not touch may be bound to memory that is gone. Early results are the caller's.
BufferUse findUse(const Bundle &bundle, bool begins, bool ends);

/// Inputs may lie in each other, as callers have views: an error if something that is written
/// shares bytes with another argument. `bound` tells which arguments lie in memory of the caller.
Error checkBuffers(const Bundle &bundle, const Addresses &places, const std::vector<bool> &bound,
                   const BufferUse &use);

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_BOUNDBUFFERS_H
