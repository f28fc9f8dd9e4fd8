// reprise: transfers of values that lie in the memory of GPUs
#include "CudaTransfer.h"

#include <algorithm>

namespace reprise::runtime::cuda {

TransferStream::~TransferStream() {
  if (!stream)
    return;
  driver.setContext(context);
  driver.synchronize(stream);
  driver.destroyStream(stream);
}

Error TransferStream::open() {
  if (stream)
    return Error::success();
  return driver.check(driver.makeStream(&stream, streamNonBlocking), "make a stream");
}

CudaTransfer::~CudaTransfer() {
  copies.driver.setContext(copies.context);
  for (Event event : {ready, done})
    if (event)
      copies.driver.destroyEvent(event);
  if (pinned)
    copies.driver.freePinned(pinned);
}

Error CudaTransfer::open(uint64_t bytes) {
  const Driver &driver = copies.driver;
  Status status = driver.makeEvent(&ready, eventWithoutTime);
  status = status ? status : driver.makeEvent(&done, eventWithoutTime);
  if (Error error = driver.check(status, "make an event"))
    return error;
  if (!isStaged)
    return Error::success();
  return driver.check(driver.allocatePinned(&pinned, std::max<uint64_t>(bytes, 1), 0),
                      "allocate " + std::to_string(bytes) + " bytes of pinned memory");
}

Error CudaTransfer::start(Endpoint &endpoint, Stream stream, Address at) {
  const Driver &driver = copies.driver;
  place = at;
  if (Error error = driver.check(driver.record(ready, stream), "record an event"))
    return error;
  if (isStaged) {
    if (Error error = preparePinned())
      return error;
    data = pinned;
    return endpoint.start(*this);
  }
  data = reinterpret_cast<void *>(place);
  mover = this;
  Error error = endpoint.start(*this);
  // A copy may have been given to the peer's device.
  Error entered = driver.check(driver.setContext(copies.context), "use the device");
  return error ? error : entered;
}

/// Prepares the pinned memory for the host: a send copies its value into it, a receive waits until
/// the last value has left it.
Error CudaTransfer::preparePinned() {
  const Driver &driver = copies.driver;
  Status status = 0;
  if (isSend) {
    status = driver.waitEvent(copies.stream, ready, 0);
    if (status == 0 && bytes != 0)
      status = driver.copyToHost(pinned, place, bytes, copies.stream);
    status = status ? status : driver.record(done, copies.stream);
  }
  status = status ? status : driver.synchronizeEvent(done);
  return driver.check(status, "copy a value to the host");
}

Error CudaTransfer::carry(const std::function<Error(Stream, Address)> &give) {
  const Driver &driver = copies.driver;
  Status status = driver.waitEvent(copies.stream, ready, 0);
  if (Error error = driver.check(status, "wait for a value"))
    return error;
  if (Error error = give(copies.stream, place))
    return error;
  return driver.check(driver.record(done, copies.stream), "record an event");
}

Error CudaTransfer::wait(Endpoint &endpoint, Stream stream) {
  if (Error error = endpoint.wait(*this))
    return error;
  const Driver &driver = copies.driver;
  if (!isStaged)
    return driver.check(driver.waitEvent(stream, done, 0), "wait for a transfer");
  if (isSend)
    return Error::success();
  Status status = bytes == 0 ? 0 : driver.copyToDevice(place, pinned, bytes, stream);
  status = status ? status : driver.record(done, stream);
  return driver.check(status, "copy a value to the device");
}

Error CudaTransfer::reach(const CudaTransfer &from) {
  const Driver &driver = copies.driver;
  if (reached == from.copies.context || copies.context == from.copies.context)
    return Error::success();
  reached = from.copies.context;
  int can = 0;
  Status status = driver.canReach(&can, copies.device, from.copies.device);
  if (status == 0 && can)
    status = driver.reach(reached, 0);
  return status == reachedAlready ? Error::success()
                                  : driver.check(status, "reach the memory of another device");
}

/// Copies on the stream of one side, behind the events of both, whichever program started last.
Error CudaTransfer::copyFrom(const CudaTransfer &from) {
  const Driver &driver = copies.driver;
  if (Error error = driver.check(driver.setContext(copies.context), "use the device"))
    return error;
  if (Error error = reach(from))
    return error;
  Status status = driver.waitEvent(copies.stream, from.ready, 0);
  status = status ? status : driver.waitEvent(copies.stream, ready, 0);
  if (status == 0 && bytes != 0)
    status = driver.copyBetween(place, copies.context, from.place, from.copies.context, bytes,
                                copies.stream);
  status = status ? status : driver.record(done, copies.stream);
  return driver.check(status, "copy from another device");
}

/// The sender has an event of its own, since the receiver's may soon stand for its next transfer.
Error CudaTransfer::move(Transfer &from, Transfer &to) {
  auto &sender = static_cast<CudaTransfer &>(from);
  auto &receiver = static_cast<CudaTransfer &>(to);
  if (Error error = receiver.copyFrom(sender))
    return error;
  const TransferStream &own = sender.copies;
  Status status = own.driver.setContext(own.context);
  status = status ? status : own.driver.waitEvent(own.stream, receiver.done, 0);
  status = status ? status : own.driver.record(sender.done, own.stream);
  return own.driver.check(status, "copy to another device");
}

} // namespace reprise::runtime::cuda
