// reprise: the functions of NVIDIA's library of transfers between GPUs, opened on demand
//
// Names, types and numbers are those of its binary interface (NCCL 2.14, which has communicators
// whose calls do not block). test/Integration/nccl-header compares them with its header.
#ifndef REPRISE_LIB_RUNTIME_NCCL_H
#define REPRISE_LIB_RUNTIME_NCCL_H

#include "CudaDriver.h"

#include <climits>

namespace reprise::runtime::nccl {

using Result = int;
using Comm = struct CommTag *;
using DataType = int;

struct UniqueId {
  char internal[128];
};

/// Configuration. The library reads fields by size and version, which are those of 2.14.
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
  int clusterSize = INT_MIN; ///< field of 2.17, in padding before that version: undefined
};

constexpr Result success = 0, inProgress = 7;
constexpr DataType bytes = 1;
constexpr int oldestVersion = 21400;

/// X(member, name in the library, result, parameters)
#define REPRISE_NCCL_FUNCTIONS(X)                                                                  \
  X(getVersion, ncclGetVersion, Result, (int *))                                                   \
  X(getUniqueId, ncclGetUniqueId, Result, (UniqueId *))                                            \
  X(openComm, ncclCommInitRankConfig, Result, (Comm *, int, UniqueId, int, Config *))              \
  X(finalizeComm, ncclCommFinalize, Result, (Comm))                                                \
  X(destroyComm, ncclCommDestroy, Result, (Comm))                                                  \
  X(abortComm, ncclCommAbort, Result, (Comm))                                                      \
  X(getAsyncError, ncclCommGetAsyncError, Result, (Comm, Result *))                                \
  X(getErrorString, ncclGetErrorString, const char *, (Result))                                    \
  X(getLastError, ncclGetLastError, const char *, (Comm))                                          \
  X(send, ncclSend, Result, (const void *, size_t, DataType, int, Comm, cuda::Stream))             \
  X(receive, ncclRecv, Result, (void *, size_t, DataType, int, Comm, cuda::Stream))

struct Library {
#define REPRISE_DECLARE(member, name, result, parameters) result(*member) parameters = nullptr;
  REPRISE_NCCL_FUNCTIONS(REPRISE_DECLARE)
#undef REPRISE_DECLARE
  int version = 0; ///< 22304 is 2.23.4

  /// Opens libnccl.so.2, once. Fails if there is none, or if it is too old.
  static Expected<const Library *> get();
  /// "NCCL cannot WHAT: TEXT", or success.
  Error check(Result result, Comm comm, const std::string &what) const;
};

/// "2.23.4"
std::string versionText(int version);

} // namespace reprise::runtime::nccl

#endif // REPRISE_LIB_RUNTIME_NCCL_H
