// reprise: transfers between processes that have a GPU each, by NVIDIA's library
//
// docs/explanation/Processes.md tells in which order, and why.
#ifndef REPRISE_LIB_RUNTIME_NCCLTRANSPORT_H
#define REPRISE_LIB_RUNTIME_NCCLTRANSPORT_H

#include "reprise/Runtime/Bundle.h"
#include "reprise/Runtime/Ranks.h"

namespace reprise::runtime::nccl {

/// What a rank brings along.
struct Offer {
  int version = 0;  ///< of its library
  std::string gpu;  ///< which no other rank may have
  std::string lack; ///< why it has no library, if it has none
};
/// Why ranks of these names and offers cannot exchange values by the library; empty if they can.
std::string findLack(const std::vector<std::string> &names, const std::vector<Offer> &offers);

/// From GPU to GPU if all ranks can do that, else through the memory of the host; the transport
/// tells which. Called by all ranks at once, each with its GPU as the current one.
Expected<std::unique_ptr<Transport>> connect(Ranks &ranks, const Bundle &bundle,
                                             const std::string &gpu);

} // namespace reprise::runtime::nccl

#endif // REPRISE_LIB_RUNTIME_NCCLTRANSPORT_H
