// reprise: an emulated NCCL: communicators of processes on emulated GPUs, their sends and receives
#include "Nccl.h"
#include "Operation.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>

using namespace reprise::emulator;

namespace {

constexpr int ownVersion = 21803;

/// Transfers and bytes that were sent earlier on a line.
struct Sent {
  uint64_t transfers = 0, bytes = 0;
};

template <typename Function> Function *ofDriver(const char *name) {
  static void *const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Function *>(driver ? dlsym(driver, name) : nullptr);
}

void advanceDriver() {
  static const auto advance = ofDriver<void()>("repriseEmulatorAdvance");
  if (advance)
    advance();
}

std::string lastError;

ncclResult_t fail(ncclResult_t result, const std::string &text) {
  lastError = text;
  std::fprintf(stderr, "nccl-emulator: error: %s\n", text.c_str());
  return result;
}

} // namespace

struct ncclComm {
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  int rank = 0, size = 0;
  ncclResult_t state = ncclInProgress;
  bool isConnected = false, isFinal = false;
  Sent sent[maxRanks], received[maxRanks];
  /// First operation of its line, until the peer has reached it.
  std::unique_ptr<Operation> connecting;
  CUstream stream = nullptr;

  ncclResult_t advance();
  ncclResult_t begin(std::unique_ptr<Operation> own, CUstream to);
  ncclResult_t give(std::unique_ptr<Operation> own, CUstream to);
};

/// Goes on with the call that is in progress.
ncclResult_t ncclComm::advance() {
  advanceDriver();
  Room &room = *shared->room;
  if (!isConnected) {
    if (room.arrived < uint32_t(size))
      return ncclInProgress;
    isConnected = true;
    for (int other = 0; other < size; ++other)
      if (other != rank && room.devices[other] == room.devices[rank])
        return fail(ncclInvalidUsage, "ranks " + std::to_string(rank) + " and " +
                                          std::to_string(other) + " have one GPU");
    return ncclSuccess;
  }
  if (connecting)
    return connecting->canConnect() ? give(std::move(connecting), stream) : ncclInProgress;
  return isFinal && shared->open ? ncclInProgress : ncclSuccess;
}

/// Begins an operation. The first transfer of a line waits on the host until the peer has reached
/// it, because connections are made then.
ncclResult_t ncclComm::begin(std::unique_ptr<Operation> own, CUstream to) {
  bool isFirst = !own->side().hasConnected;
  own->side().hasConnected = 1;
  if (!isFirst)
    return give(std::move(own), to);
  connecting = std::move(own);
  stream = to;
  return ncclInProgress;
}

ncclResult_t ncclComm::give(std::unique_ptr<Operation> own, CUstream to) {
  Sent &before = (own->sends() ? sent : received)[own->other()];
  own->place(++before.transfers, before.bytes);
  before.bytes += own->size();
  CUresult result = Operation::enqueue(std::move(own), to);
  return result == CUDA_SUCCESS
             ? ncclSuccess
             : fail(ncclInvalidArgument,
                    "the driver refuses a transfer: error " + std::to_string(result));
}

static ncclResult_t transfer(bool isSend, const void *data, size_t count, int type, int peer,
                             ncclComm_t comm, CUstream stream) {
  const char *name = isSend ? "ncclSend" : "ncclRecv";
  if (!comm || comm->isFinal)
    return fail(ncclInvalidArgument, std::string(name) + ": no communicator");
  if (comm->state != ncclSuccess)
    return fail(ncclInvalidUsage,
                std::string(name) + ": another call is in progress, or has failed");
  if (peer < 0 || peer >= comm->size || peer == comm->rank)
    return fail(ncclInvalidArgument, std::string(name) + ": no peer " + std::to_string(peer));
  if (elementBytes(type) == 0 || count == 0)
    return fail(ncclInvalidArgument, std::string(name) + ": no elements, or none of a known type");
  auto own = std::make_unique<Operation>(comm->shared, isSend, comm->rank, peer,
                                         reinterpret_cast<uint64_t>(data), count, type);
  return comm->state = comm->begin(std::move(own), stream);
}

REPRISE_CUDA ncclResult_t ncclGetVersion(int *version) {
  *version = ownVersion;
  return ncclSuccess;
}

REPRISE_CUDA ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  std::string name = makeRoom();
  *id = {};
  std::memcpy(id->internal, name.data(), name.size());
  return name.empty() ? fail(ncclSystemError, "no shared memory") : ncclSuccess;
}

REPRISE_CUDA ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int size, ncclUniqueId id,
                                                 int rank, ncclConfig *config) {
  *comm = nullptr;
  if (!config || config->size < sizeof *config || config->magic != 0xcafebeef ||
      config->version < 21400)
    return fail(ncclInvalidArgument, "ncclCommInitRankConfig: no configuration");
  if (config->blocking != 0)
    return fail(ncclInvalidArgument, "ncclCommInitRankConfig: only calls that return are emulated");
  if (size < 1 || size > maxRanks || rank < 0 || rank >= size)
    return fail(ncclInvalidArgument, "ncclCommInitRankConfig: no such rank");
  CUdevice device = 0;
  static const auto getDevice = ofDriver<CUresult(CUdevice *)>("cuCtxGetDevice");
  if (!getDevice || getDevice(&device) != CUDA_SUCCESS)
    return fail(ncclInvalidUsage, "ncclCommInitRankConfig: no current device");
  auto made = std::make_unique<ncclComm>();
  made->rank = rank;
  made->size = size;
  id.internal[sizeof id.internal - 1] = 0;
  made->shared->room = openRoom(id.internal);
  if (!made->shared->room)
    return fail(ncclSystemError, "ncclCommInitRankConfig: no such room");
  made->shared->room->devices[rank] = device + 1;
  ++made->shared->room->arrived;
  *comm = made.release();
  return ncclInProgress;
}

REPRISE_CUDA ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *result) {
  if (!comm)
    return fail(ncclInvalidArgument, "ncclCommGetAsyncError: no communicator");
  if (comm->state == ncclInProgress)
    comm->state = comm->advance();
  *result = comm->state;
  return ncclSuccess;
}

REPRISE_CUDA ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  if (!comm || comm->isFinal || comm->state != ncclSuccess)
    return fail(ncclInvalidUsage, "ncclCommFinalize: no communicator that is at rest");
  comm->isFinal = true;
  return comm->state = comm->advance();
}

REPRISE_CUDA ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (!comm || !comm->isFinal || comm->state != ncclSuccess)
    return fail(ncclInvalidUsage, "ncclCommDestroy: no communicator that is finalized");
  delete comm;
  return ncclSuccess;
}

/// Aborts a communicator; its pending transfers end without an effect.
REPRISE_CUDA ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (!comm)
    return ncclInvalidArgument;
  comm->shared->isAborted = true;
  delete comm;
  return ncclSuccess;
}

REPRISE_CUDA const char *ncclGetErrorString(ncclResult_t result) {
  return result == ncclSuccess           ? "no error"
         : result == ncclSystemError     ? "unhandled system error"
         : result == ncclInvalidArgument ? "invalid argument"
         : result == ncclInvalidUsage    ? "invalid usage"
         : result == ncclInProgress      ? "in progress"
                                         : "internal error";
}

REPRISE_CUDA const char *ncclGetLastError(ncclComm_t) { return lastError.c_str(); }

REPRISE_CUDA ncclResult_t ncclSend(const void *data, size_t count, ncclDataType_t type, int peer,
                                   ncclComm_t comm, CUstream stream) {
  return transfer(true, data, count, type, peer, comm, stream);
}

REPRISE_CUDA ncclResult_t ncclRecv(void *data, size_t count, ncclDataType_t type, int peer,
                                   ncclComm_t comm, CUstream stream) {
  return transfer(false, data, count, type, peer, comm, stream);
}
