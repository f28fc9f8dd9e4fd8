// reprise: streams and events of an NVIDIA GPU
#ifndef REPRISE_LIB_RUNTIME_CUDASTREAM_H
#define REPRISE_LIB_RUNTIME_CUDASTREAM_H

#include "CudaProgram.h"

namespace reprise::runtime::cuda {

/// Event that the object owns.
struct CudaEvent : DeviceEvent {
  CudaEvent(const Driver &driver, Context context, Event event)
      : driver(driver), context(context), event(event) {}
  ~CudaEvent() override {
    driver.setContext(context);
    driver.destroyEvent(event);
  }
  const Driver &driver;
  Context context;
  Event event;
};

/// Stream of the object, or of a caller.
class CudaStream : public DeviceStream {
public:
  /// Makes a stream that owns its handle.
  CudaStream(const Driver &driver, Context context, Stream stream)
      : driver(driver), context(context), own(stream), stream(own) {}
  /// Makes a stream over the handle of a caller at `lent`, which may change. Programs run command
  /// by command, because a caller's stream may be the default stream, which takes no capture.
  CudaStream(const Driver &driver, Context context, const Stream *lent)
      : driver(driver), context(context), stream(*lent), isLent(true) {}
  ~CudaStream() override;

  Error run(DeviceProgram &program, uint64_t begin, uint64_t end, Recorder *recorder) override;
  Error store(void *to, int64_t value) override;
  Error copyToDevice(void *to, const void *from, uint64_t bytes) override;
  Error copyToHost(void *to, const void *from, uint64_t bytes) override;
  Error copyWithin(void *to, const void *from, uint64_t bytes) override;
  Error record(DeviceEvent &event) override;
  Error wait(DeviceEvent &event) override;
  Error synchronize() override;

private:
  /// Check a status, and enter the context: each thread has its own current context.
  Error check(Status status, const char *what) const { return driver.check(status, what); }
  Error enter() const { return check(driver.setContext(context), "use the device"); }
  Error runTimed(CudaProgram &program, uint64_t begin, uint64_t end, Recorder &recorder);
  Error makeMarks(uint64_t count);
  Error settle();

  const Driver &driver;
  Context context;
  Stream own = nullptr;
  const Stream &stream;
  bool isLent = false;
  bool hasGraph = false;          ///< whether its work contains a graph
  CudaProgram *watched = nullptr; ///< program whose work may wait for another process
  std::vector<Event> marks;       ///< between the commands of a timed run
};

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_CUDASTREAM_H
