// reprise: requests of emulated libraries to the emulated driver
#include "Driver.h"
#include "Libraries.h"
#include "Touch.h"

using namespace reprise::emulator;

REPRISE_CUDA CUresult repriseEmulatorCompute(CUstream handle, const char *what,
                                             const RepriseEmulatedRange *ranges, size_t count,
                                             void (*work)(void *), void *data,
                                             void (*release)(void *)) {
  std::shared_ptr<void> owned(data, release);
  Locked driver;
  CUresult result;
  Stream *stream = driver.usable(handle, result);
  if (!stream)
    return result;
  const Memory *memory = &driver->memory;
  std::vector<RepriseEmulatedRange> all(ranges, ranges + count);
  driver->scheduler.enqueue(
      *stream, [=, name = std::string(what)](unsigned number, const uint8_t *ordered) {
        Accessor me{makeAgent(number, 0, 0, 0), ordered};
        FaultReport report;
        // Reads come first, because the work may write the same bytes.
        for (bool writes : {false, true})
          for (const RepriseEmulatedRange &range : all)
            if (report.fault == Fault::None && range.isWrite == writes && range.bytes)
              report = touchRange(*memory, name.c_str(), range.address, range.bytes, writes, me);
        if (report.fault == Fault::None)
          work(owned.get());
        return report;
      });
  return CUDA_SUCCESS;
}

REPRISE_CUDA void repriseEmulatorFail(const char *text) {
  Locked driver;
  driver->fail(CUDA_ERROR_INVALID_VALUE, text);
}

REPRISE_CUDA int repriseEmulatorIsReady() {
  Locked driver;
  return driver.ready() == CUDA_SUCCESS;
}

REPRISE_CUDA int repriseEmulatorFailsNow(const char *kind) {
  Locked driver;
  return driver->failsNow(kind);
}
