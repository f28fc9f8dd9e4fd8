// reprise: the memory that callers bind to arguments
#ifndef REPRISE_LIB_RUNTIME_BOUNDBUFFERS_H
#define REPRISE_LIB_RUNTIME_BOUNDBUFFERS_H

#include "reprise/Runtime/Executable.h"

namespace reprise::runtime {

/// Fails if bound memory that the part of a step writes shares bytes with another argument. Inputs
/// may overlap, since callers have views. After a whole step has passed, the next check waits for
/// the next change of `bound`.
Error checkBound(BoundArguments &bound, const Bundle &bundle, const Addresses &places, bool begins,
                 bool ends);

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_BOUNDBUFFERS_H
