// reprise: what the emulated driver offers emulated libraries that stand beside it
#ifndef REPRISE_GPU_EMULATOR_NEIGHBOUR_H
#define REPRISE_GPU_EMULATOR_NEIGHBOUR_H

#include "Cuda.h"

namespace reprise::emulator {

/// Work in a stream that reads or writes bytes of its device and takes part in something outside of
/// the process. `poll` is called when all before it is done, and often; it returns whether the
/// other side has done its part, and goes on saying so. Then `finish` is called once; only if
/// `isGood` may it touch the bytes. It returns what has gone wrong, or null. After a fault neither
/// is called.
struct NeighbourWork {
  const char *what;
  uint64_t address, bytes;
  int writes;
  int (*poll)(void *context);
  const char *(*finish)(void *context, bool isGood);
  void *context;
};

} // namespace reprise::emulator

/// Errors: no such stream of the current device, or memory that is not all of its own.
REPRISE_CUDA CUresult repriseEmulatorEnqueue(CUstream stream,
                                             const reprise::emulator::NeighbourWork *work);
/// Goes on with all that needs no other process.
REPRISE_CUDA void repriseEmulatorAdvance();

#endif
