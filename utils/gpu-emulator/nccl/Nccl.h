// reprise: the binary interface of NCCL, as far as the emulated one has it
//
// Names and numbers are facts of that interface. It has communicators whose calls do not block, and
// sends and receives.
#ifndef REPRISE_GPU_EMULATOR_NCCL_H
#define REPRISE_GPU_EMULATOR_NCCL_H

#include "../Cuda.h"

enum ncclResult_t : int {
  ncclSuccess = 0,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclInProgress = 7,
};

using ncclComm_t = struct ncclComm *;
using ncclDataType_t = int;

struct ncclUniqueId {
  char internal[128];
};

struct ncclConfig {
  size_t size;
  unsigned magic, version;
  int blocking;
};

REPRISE_CUDA ncclResult_t ncclGetVersion(int *version);
REPRISE_CUDA ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
REPRISE_CUDA ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int size, ncclUniqueId id,
                                                 int rank, ncclConfig *config);
REPRISE_CUDA ncclResult_t ncclCommFinalize(ncclComm_t comm);
REPRISE_CUDA ncclResult_t ncclCommDestroy(ncclComm_t comm);
REPRISE_CUDA ncclResult_t ncclCommAbort(ncclComm_t comm);
REPRISE_CUDA ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *result);
REPRISE_CUDA const char *ncclGetErrorString(ncclResult_t result);
REPRISE_CUDA const char *ncclGetLastError(ncclComm_t comm);
REPRISE_CUDA ncclResult_t ncclSend(const void *data, size_t count, ncclDataType_t type, int peer,
                                   ncclComm_t comm, CUstream stream);
REPRISE_CUDA ncclResult_t ncclRecv(void *data, size_t count, ncclDataType_t type, int peer,
                                   ncclComm_t comm, CUstream stream);

#endif
