// reprise: the memory that callers bind to arguments
#ifndef REPRISE_LIB_RUNTIME_BOUNDBUFFERS_H
#define REPRISE_LIB_RUNTIME_BOUNDBUFFERS_H

#include "reprise/Runtime/Device.h"

namespace reprise::runtime {

/// Inputs may lie in each other, as callers have views: an error if something that the step writes
/// shares bytes with another argument. `bound` tells which arguments lie in memory of the caller.
Error checkBuffers(const Bundle &bundle, const Addresses &places, const std::vector<bool> &bound);

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_BOUNDBUFFERS_H
