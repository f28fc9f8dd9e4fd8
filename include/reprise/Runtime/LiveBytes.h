// reprise: how many bytes of the arena are live while a command runs
#ifndef REPRISE_RUNTIME_LIVEBYTES_H
#define REPRISE_RUNTIME_LIVEBYTES_H

#include "reprise/Runtime/Bundle.h"

namespace reprise::runtime {

/// One number per command of "step": the bytes of the arena that it reads or writes, or that a
/// later command or the results read before they are overwritten.
std::vector<uint64_t> countLiveBytes(const Bundle &bundle);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_LIVEBYTES_H
