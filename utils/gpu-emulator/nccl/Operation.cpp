// reprise: a send or a receive of the emulated NCCL
#include "Operation.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>

using namespace reprise::emulator;

uint64_t reprise::emulator::elementBytes(int type) {
  static const uint64_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && type < 12 ? sizes[type] : 0;
}

std::string Operation::describe(bool sends, uint64_t items, int ofType) const {
  return (sends ? "a send of " : "a receive of ") + std::to_string(items) + " elements of type " +
         std::to_string(ofType) + " at rank " + std::to_string(sends == isSend ? rank : peer);
}

bool Operation::poll() {
  if (shared->isAborted || !failure.empty())
    return true;
  Side &own = side(), &others = isSend ? line().receiver : line().sender;
  if (!hasPosted) {
    own.count = count;
    own.type = type;
    own.number = number;
    hasPosted = true;
  }
  if (others.number < number)
    return false;
  // The other side goes on to its next transfer only when this one is done at both.
  if (others.number == number && (others.count != count || others.type != type)) {
    failure = "NCCL: " + describe(isSend, count, type) + " meets " +
              describe(!isSend, others.count, others.type);
    return true;
  }
  return isSend ? send() : receive();
}

/// Done when the other side has read everything.
bool Operation::send() {
  Line &own = line();
  const auto *data = reinterpret_cast<const uint8_t *>(address);
  uint64_t written = own.written, read = own.read;
  while (written < begin + bytes && written - read < Line::ringBytes) {
    uint64_t at = written % Line::ringBytes;
    uint64_t part = std::min(
        {begin + bytes - written, Line::ringBytes - at, Line::ringBytes - (written - read)});
    std::memcpy(own.ring + at, data + (written - begin), part);
    own.written = written += part;
    read = own.read;
  }
  return read == begin + bytes;
}

bool Operation::receive() {
  Line &own = line();
  received.resize(bytes);
  uint64_t written = own.written, read = own.read;
  while (read < std::min(written, begin + bytes)) {
    uint64_t at = read % Line::ringBytes;
    uint64_t part = std::min({written - read, Line::ringBytes - at, begin + bytes - read});
    std::memcpy(received.data() + (read - begin), own.ring + at, part);
    own.read = read += part;
    written = own.written;
  }
  return read == begin + bytes;
}

const char *Operation::finish(bool isGood) {
  static thread_local std::string text;
  if (isGood && failure.empty() && !shared->isAborted && !isSend)
    std::memcpy(reinterpret_cast<void *>(address), received.data(), bytes);
  text = failure;
  --shared->open;
  delete this;
  return text.empty() ? nullptr : text.c_str();
}

/// Finds the function of the loaded driver, because this library may be loaded beside it or be
/// linked with it.
static decltype(&repriseEmulatorEnqueue) findEnqueue() {
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void *found = driver ? dlsym(driver, "repriseEmulatorEnqueue") : nullptr;
  return reinterpret_cast<decltype(&repriseEmulatorEnqueue)>(found);
}

CUresult Operation::enqueue(std::unique_ptr<Operation> own, CUstream stream) {
  static const auto give = findEnqueue();
  if (!give)
    return CUDA_ERROR_NOT_INITIALIZED;
  NeighbourWork work{
      own->isSend ? "ncclSend" : "ncclRecv",
      own->address,
      own->bytes,
      !own->isSend,
      [](void *context) { return int(static_cast<Operation *>(context)->poll()); },
      [](void *context, bool isGood) { return static_cast<Operation *>(context)->finish(isGood); },
      own.get()};
  ++own->shared->open;
  CUresult result = give(stream, &work);
  if (result == CUDA_SUCCESS)
    (void)own.release();
  else
    --own->shared->open;
  return result;
}
