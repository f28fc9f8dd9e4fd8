// reprise: live bytes of the arena at each launch
#ifndef REPRISE_COMPILER_LIVEBYTES_H
#define REPRISE_COMPILER_LIVEBYTES_H

#include "reprise/Compiler/Report.h"

namespace reprise {

/// Returns the live bytes per launch. Buffers that share a place, such as a result in the place of
/// its operand, count once: no launch exceeds the arena.
std::vector<int64_t> countLiveBytes(const std::vector<ReportedBuffer> &buffers);

} // namespace reprise

#endif // REPRISE_COMPILER_LIVEBYTES_H
