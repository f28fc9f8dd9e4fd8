// reprise: copies of values to host memory and back while a GPU computes
#ifndef REPRISE_LIB_RUNTIME_CUDAHOSTMOVES_H
#define REPRISE_LIB_RUNTIME_CUDAHOSTMOVES_H

#include "CudaTransfer.h"

#include <map>

namespace reprise::runtime::cuda {

/// Offload or fetch of a program.
struct HostMove {
  bool isOffload = false;
  uint32_t event = 0;
  uint64_t bytes = 0;
  Address place = 0;    ///< place on the device
  void *host = nullptr; ///< place in pinned memory
};

/// Streams, one per direction, since the link carries both at the same time. Streams wait for each
/// other only through events, so that a program with moves can be captured as a graph.
class HostMoves {
public:
  HostMoves(const Driver &driver, Number device, Context context)
      : driver(driver), context(context), toHost(driver, device, context),
        fromHost(driver, device, context) {}
  HostMoves(const HostMoves &) = delete;
  ~HostMoves();

  /// Opens an event before a program runs, once per event number.
  Error open(uint32_t event);
  bool has(uint32_t event) const { return events.count(event) != 0; }
  /// Starts a move behind the work of `stream`.
  Error start(const HostMove &move, Stream stream);
  /// Lets `stream` go on when the move that gave the event last has ended.
  Error wait(uint32_t event, Stream stream);

private:
  struct Marks {
    Event ready = nullptr; ///< the value is complete, or its place is free
    Event done = nullptr;  ///< the value has been copied
  };
  const Driver &driver;
  Context context;
  TransferStream toHost, fromHost;
  std::map<uint32_t, Marks> events;
};

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_CUDAHOSTMOVES_H
