// reprise: the one order in which the programs of a bundle exchange their values
#ifndef REPRISE_LIB_RUNTIME_TRANSFERORDER_H
#define REPRISE_LIB_RUNTIME_TRANSFERORDER_H

#include "reprise/Runtime/Bundle.h"

namespace reprise::runtime {

/// For each device the numbers of its transfers, counted as its step begins them, in the order in
/// which they are to be made by something that knows no tags and makes one after the other. It is
/// one order of all transfers, of which each device has its part, so
/// - both sides of a transfer stand at the same place among those of the two devices;
/// - a transfer that a program waits for comes behind none that the program begins later.
/// So a device that makes its transfers in this order, each as soon as the program has begun it,
/// waits for no other that waits for it. The bundle is a valid one.
///
/// Orders that do so are many. This one is that of a clock by which commands take as long as they
/// move bytes, so that what is likely to be ready first goes first.
std::vector<std::vector<uint32_t>> orderTransfers(const Bundle &bundle);

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_TRANSFERORDER_H
