// reprise: live bytes of the arena during each command
#ifndef REPRISE_RUNTIME_LIVEBYTES_H
#define REPRISE_RUNTIME_LIVEBYTES_H

#include "reprise/Runtime/Bundle.h"

namespace reprise::runtime {

/// Returns one number of bytes per execution of a kernel or copy of "step", in order. Live are the
/// arena bytes that the execution reads or writes, or that a later command or the results read
/// before they are overwritten.
std::vector<uint64_t> countLiveBytes(const Bundle &bundle);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_LIVEBYTES_H
