// reprise: shadow accesses of work other than kernels
#ifndef REPRISE_GPU_EMULATOR_TOUCH_H
#define REPRISE_GPU_EMULATOR_TOUCH_H

#include "Streams.h"

namespace reprise::emulator {

/// The fault of a copy, fill or library at a range of bytes.
FaultReport touchRange(const Memory &memory, const char *what, uint64_t address, uint64_t bytes,
                       bool writes, const Accessor &me);

} // namespace reprise::emulator

#endif
