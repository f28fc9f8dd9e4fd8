// reprise: streams and events of an NVIDIA GPU
#include "CudaStream.h"

#include <algorithm>

namespace reprise::runtime::cuda {

static Address asAddress(const void *pointer) { return reinterpret_cast<Address>(pointer); }

CudaStream::~CudaStream() {
  driver.setContext(context);
  for (Event mark : marks)
    driver.destroyEvent(mark);
  if (!isLent)
    driver.destroyStream(own);
}

Error CudaStream::run(DeviceProgram &program, uint64_t begin, uint64_t end, Recorder *recorder) {
  if (Error error = enter())
    return error;
  auto &made = static_cast<CudaProgram &>(program);
  watched = made.isWatched() ? &made : nullptr;
  if (recorder)
    return runTimed(made, begin, end, *recorder);
  if (!isLent && made.isWhole(begin, end)) {
    hasGraph |= made.hasGraphs();
    return made.enqueueAll(stream);
  }
  for (uint64_t number = begin; number < end; ++number)
    if (Error error = made.enqueue(number, stream))
      return error;
  return Error::success();
}

Error CudaStream::makeMarks(uint64_t count) {
  while (marks.size() < count) {
    Event mark = nullptr;
    if (Error error = check(driver.makeEvent(&mark, eventDefault), "make an event"))
      return error;
    marks.push_back(mark);
  }
  return Error::success();
}

/// Runs with times of the device, counted from the start of the run.
Error CudaStream::runTimed(CudaProgram &program, uint64_t begin, uint64_t end, Recorder &recorder) {
  uint64_t count = end - begin;
  if (Error error = makeMarks(count + 1))
    return error;
  uint64_t start = nanoseconds();
  Status status = driver.record(marks[0], stream);
  for (uint64_t i = 0; i < count && status == 0; ++i) {
    if (Error error = program.enqueue(begin + i, stream))
      return error;
    status = driver.record(marks[i + 1], stream);
  }
  if (Error error = check(status, "record an event"))
    return error;
  if (Error error = synchronize())
    return error;
  auto find = [&](uint64_t mark) {
    float milliseconds = 0;
    status = std::max(status, driver.getMilliseconds(&milliseconds, marks[0], marks[mark]));
    return start + uint64_t(double(milliseconds) * 1e6);
  };
  for (uint64_t i = 0; i < count; ++i)
    recorder.at(begin + i, 0) = {find(i), find(i + 1)};
  return check(status, "take times");
}

/// Fills words with the value, so that nothing of the host is read later.
Error CudaStream::store(void *to, int64_t value) {
  if (Error error = enter())
    return error;
  auto bits = uint64_t(value);
  Status status = driver.fillWords(asAddress(to), unsigned(bits), 1, stream);
  status = status ? status : driver.fillWords(asAddress(to) + 4, unsigned(bits >> 32), 1, stream);
  return check(status, "store a value");
}

/// Prepares a call that may itself wait for the stream's work.
Error CudaStream::settle() { return watched ? synchronize() : enter(); }

Error CudaStream::copyToDevice(void *to, const void *from, uint64_t bytes) {
  if (Error error = settle())
    return error;
  return bytes == 0
             ? Error::success()
             : check(driver.copyToDevice(asAddress(to), from, bytes, stream), "copy to the device");
}

Error CudaStream::copyToHost(void *to, const void *from, uint64_t bytes) {
  if (Error error = settle())
    return error;
  return bytes == 0
             ? Error::success()
             : check(driver.copyToHost(to, asAddress(from), bytes, stream), "copy from the device");
}

Error CudaStream::copyWithin(void *to, const void *from, uint64_t bytes) {
  if (Error error = enter())
    return error;
  return bytes == 0
             ? Error::success()
             : check(driver.copy(asAddress(to), asAddress(from), bytes, stream), "copy a value");
}

Error CudaStream::record(DeviceEvent &event) {
  if (Error error = enter())
    return error;
  return check(driver.record(static_cast<CudaEvent &>(event).event, stream), "record an event");
}

Error CudaStream::wait(DeviceEvent &event) {
  if (Error error = enter())
    return error;
  return check(driver.waitEvent(stream, static_cast<CudaEvent &>(event).event, 0),
               "wait for an event");
}

Error CudaStream::synchronize() {
  if (Error error = enter())
    return error;
  if (watched)
    if (Error error = watched->waitWatching(stream))
      return error;
  Status status = driver.synchronize(stream);
  if (status == 0) {
    hasGraph = false;
    watched = nullptr;
    return Error::success();
  }
  Error error = check(status, "finish a program");
  return hasGraph ? Error::make(error.message() + "; CUDA_LAUNCH_BLOCKING=1 finds the command")
                  : error;
}

} // namespace reprise::runtime::cuda
