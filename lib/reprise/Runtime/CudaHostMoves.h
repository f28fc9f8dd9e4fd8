// reprise: values that go to the memory of the host and come back while a GPU computes
#ifndef REPRISE_LIB_RUNTIME_CUDAHOSTMOVES_H
#define REPRISE_LIB_RUNTIME_CUDAHOSTMOVES_H

#include "CudaTransfer.h"

#include <map>

namespace reprise::runtime::cuda {

/// One of a program's offloads or fetches.
struct HostMove {
  bool isOffload = false;
  uint32_t event = 0;
  uint64_t bytes = 0;
  Address place = 0;    ///< on the device
  void *host = nullptr; ///< in pinned memory
};

/// A stream for each way, since the link carries both at a time. Streams wait for each other by
/// events alone, so that a program with moves can be captured as a graph.
class HostMoves {
public:
  HostMoves(const Driver &driver, Number device, Context context)
      : driver(driver), context(context), toHost(driver, device, context),
        fromHost(driver, device, context) {}
  HostMoves(const HostMoves &) = delete;
  ~HostMoves();

  /// Before a program runs, once for each number of an event.
  Error open(uint32_t event);
  bool has(uint32_t event) const { return events.count(event) != 0; }
  /// Behind the work that `stream` has.
  Error start(const HostMove &move, Stream stream);
  /// Lets `stream` go on when the move that gave the event last has ended.
  Error wait(uint32_t event, Stream stream);

private:
  struct Marks {
    Event ready = nullptr; ///< the value is there, or its place is free
    Event done = nullptr;  ///< it has been copied
  };
  const Driver &driver;
  Context context;
  TransferStream toHost, fromHost;
  std::map<uint32_t, Marks> events;
};

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_CUDAHOSTMOVES_H
