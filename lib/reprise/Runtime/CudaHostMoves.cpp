// reprise: copies of values to host memory and back while a GPU computes
#include "CudaHostMoves.h"

namespace reprise::runtime::cuda {

HostMoves::~HostMoves() {
  driver.setContext(context);
  for (auto &[number, marks] : events)
    for (Event event : {marks.ready, marks.done})
      if (event)
        driver.destroyEvent(event);
}

Error HostMoves::open(uint32_t event) {
  if (Error error = toHost.open())
    return error;
  if (Error error = fromHost.open())
    return error;
  auto [found, isNew] = events.try_emplace(event);
  if (!isNew)
    return Error::success();
  Status status = driver.makeEvent(&found->second.ready, eventWithoutTime);
  status = status ? status : driver.makeEvent(&found->second.done, eventWithoutTime);
  return driver.check(status, "make an event");
}

Error HostMoves::start(const HostMove &move, Stream stream) {
  const Marks &marks = events.at(move.event);
  Stream copies = (move.isOffload ? toHost : fromHost).stream;
  Status status = driver.record(marks.ready, stream);
  status = status ? status : driver.waitEvent(copies, marks.ready, 0);
  if (status == 0 && move.bytes != 0)
    status = move.isOffload ? driver.copyToHost(move.host, move.place, move.bytes, copies)
                            : driver.copyToDevice(move.place, move.host, move.bytes, copies);
  status = status ? status : driver.record(marks.done, copies);
  return driver.check(status, move.isOffload ? "offload a value" : "fetch a value");
}

Error HostMoves::wait(uint32_t event, Stream stream) {
  return driver.check(driver.waitEvent(stream, events.at(event).done, 0),
                      "wait for a value of the host");
}

} // namespace reprise::runtime::cuda
