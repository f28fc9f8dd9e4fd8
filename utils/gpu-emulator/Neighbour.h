// reprise: interface of the emulated driver for emulated libraries beside it
#ifndef REPRISE_GPU_EMULATOR_NEIGHBOUR_H
#define REPRISE_GPU_EMULATOR_NEIGHBOUR_H

#include "Cuda.h"

namespace reprise::emulator {

/// Work in a stream that accesses bytes of its device and takes part in an exchange outside of the
/// process. `poll` is called often once all earlier work is done; it returns whether the other side
/// has done its part, and stays true. Then `finish` is called once; it may access the bytes only if
/// `isGood`. It returns an error, or null. After a fault neither is called.
struct NeighbourWork {
  const char *what;
  uint64_t address, bytes;
  int writes;
  int (*poll)(void *context);
  const char *(*finish)(void *context, bool isGood);
  void *context;
};

} // namespace reprise::emulator

/// Enqueues work. Fails if the stream is none of the current device, or if the memory is not all
/// its own.
REPRISE_CUDA CUresult repriseEmulatorEnqueue(CUstream stream,
                                             const reprise::emulator::NeighbourWork *work);
/// Goes on with all that needs no other process.
REPRISE_CUDA void repriseEmulatorAdvance();

#endif
