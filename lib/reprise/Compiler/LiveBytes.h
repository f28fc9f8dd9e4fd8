// reprise: how many bytes of the arena are live at each launch
#ifndef REPRISE_COMPILER_LIVEBYTES_H
#define REPRISE_COMPILER_LIVEBYTES_H

#include "reprise/Compiler/Report.h"

namespace reprise {

/// The bytes under the live buffers, launch by launch. Buffers that share a place, such
/// as a result in the place of its operand, count once: no launch has more than the arena.
std::vector<int64_t> countLiveBytes(const std::vector<ReportedBuffer> &buffers);

} // namespace reprise

#endif // REPRISE_COMPILER_LIVEBYTES_H
