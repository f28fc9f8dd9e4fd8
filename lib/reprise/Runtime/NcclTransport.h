// reprise: transfers between processes that have a GPU each, by NVIDIA's library
//
// docs/explanation/Processes.md explains the order of transfers.
#ifndef REPRISE_LIB_RUNTIME_NCCLTRANSPORT_H
#define REPRISE_LIB_RUNTIME_NCCLTRANSPORT_H

#include "reprise/Runtime/Bundle.h"
#include "reprise/Runtime/Ranks.h"

namespace reprise::runtime::nccl {

/// Data that a rank contributes.
struct Offer {
  int version = 0;  ///< version of its library
  std::string gpu;  ///< its GPU, which no other rank may have
  std::string lack; ///< reason why it has no library, if it has none
};
/// Returns the reason why these ranks cannot exchange values by the library; empty if they can.
std::string findLack(const std::vector<std::string> &names, const std::vector<Offer> &offers);

/// Makes the transport: from GPU to GPU if all ranks support it, otherwise through host memory; the
/// transport's description tells which. All ranks call it together, each with its GPU as the
/// current one.
Expected<std::unique_ptr<Transport>> connect(Ranks &ranks, const Bundle &bundle,
                                             const std::string &gpu);

} // namespace reprise::runtime::nccl

#endif // REPRISE_LIB_RUNTIME_NCCLTRANSPORT_H
