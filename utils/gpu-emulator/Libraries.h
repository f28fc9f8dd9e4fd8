// reprise: interface by which emulated libraries give work to the emulated driver
#ifndef REPRISE_GPU_EMULATOR_LIBRARIES_H
#define REPRISE_GPU_EMULATOR_LIBRARIES_H

#include "Cuda.h"

/// Bytes of device memory that a piece of work reads or writes.
struct RepriseEmulatedRange {
  uint64_t address, bytes;
  bool isWrite;
};

/// Adds work to a stream, or to its capture. Before its execution, `ranges` are checked like those
/// of a copy: bounds, unwritten bytes, missing waits. `what` is for messages. The work is called
/// each time the stream, or the graph, reaches it.
REPRISE_CUDA CUresult repriseEmulatorCompute(CUstream stream, const char *what,
                                             const RepriseEmulatedRange *ranges, size_t count,
                                             void (*work)(void *), void *data,
                                             void (*release)(void *));
/// Keeps and prints the text of an error.
REPRISE_CUDA void repriseEmulatorFail(const char *text);
/// Returns whether the calling thread has a current context.
REPRISE_CUDA int repriseEmulatorIsReady();
/// Returns whether REPRISE_EMULATED_FAULT plans a fault of that kind for now.
REPRISE_CUDA int repriseEmulatorFailsNow(const char *kind);

#endif
