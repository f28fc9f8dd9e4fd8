// reprise: a total order of the transfers of a bundle's programs
#ifndef REPRISE_LIB_RUNTIME_TRANSFERORDER_H
#define REPRISE_LIB_RUNTIME_TRANSFERORDER_H

#include "reprise/Runtime/Bundle.h"

namespace reprise::runtime {

/// Returns, for each device, the numbers of its transfers, counted as its step begins them, in an
/// order for a library that knows no tags and runs one transfer after the other. Each device has
/// its part of one order of all transfers, so
/// - both sides of a transfer stand at the same place among the common transfers of the two
///   devices;
/// - a transfer that a program waits for precedes all transfers that the program begins later.
///
/// A device that runs its transfers in this order, each as soon as the program has begun it,
/// therefore never deadlocks. The bundle is valid. Of many such orders, this one follows a clock by
/// which the time of commands is the bytes they move, so that transfers that are probably ready
/// first go first.
std::vector<std::vector<uint32_t>> orderTransfers(const Bundle &bundle);

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_TRANSFERORDER_H
