// reprise: checks of a run between its commands: indices, and replays against their originals
#ifndef REPRISE_LIB_RUNTIME_RUNCHECKS_H
#define REPRISE_LIB_RUNTIME_RUNCHECKS_H

#include "reprise/Runtime/Executable.h"

namespace reprise::runtime {

/// Fails if a command of an executable would read an index that is out of range. `iterations` are
/// those of the repeats around it.
Error checkIndices(Executable &executable, const Addresses &places, const Command &command,
                   const std::vector<int64_t> &iterations);

/// Fails if a replay differs from its original after a step.
Error compareReplays(Executable &executable, const Addresses &places);

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_RUNCHECKS_H
