// reprise: measured limits of a GPU
#include "CudaRates.h"

#include <algorithm>

namespace reprise::runtime::cuda {

namespace {

/// Two buffers, a stream and two events, freed with the object.
struct Copies {
  explicit Copies(const Driver &driver) : driver(driver) {}
  ~Copies() {
    for (Event event : {begin, end})
      if (event)
        driver.destroyEvent(event);
    if (stream)
      driver.destroyStream(stream);
    for (Address place : {from, to})
      if (place)
        driver.free(place);
  }
  Error open(size_t bytes);
  /// Seconds of the fastest of some.
  Expected<double> measure(size_t bytes) const;

  const Driver &driver;
  Address from = 0, to = 0;
  Stream stream = nullptr;
  Event begin = nullptr, end = nullptr;
};

Error Copies::open(size_t bytes) {
  Status status = driver.allocate(&from, bytes);
  status = status ? status : driver.allocate(&to, bytes);
  status = status ? status : driver.makeStream(&stream, streamNonBlocking);
  status = status ? status : driver.makeEvent(&begin, eventDefault);
  status = status ? status : driver.makeEvent(&end, eventDefault);
  status = status ? status : driver.fill(from, 0, bytes, stream);
  return driver.check(status, "measure copies");
}

Expected<double> Copies::measure(size_t bytes) const {
  constexpr int attempts = 5;
  float best = 0;
  for (int i = 0; i < attempts; ++i) {
    Status status = driver.record(begin, stream);
    status = status ? status : driver.copy(to, from, bytes, stream);
    status = status ? status : driver.record(end, stream);
    status = status ? status : driver.synchronize(stream);
    float milliseconds = 0;
    status = status ? status : driver.getMilliseconds(&milliseconds, begin, end);
    if (Error error = driver.check(status, "measure copies"))
      return error;
    best = i == 0 ? milliseconds : std::min(best, milliseconds);
  }
  return double(best) * 1e-3;
}

/// Fused multiply-adds per clock of a multiprocessor (CUDA C++ Programming Guide, arithmetic
/// instructions).
int lanesOf(int major, int minor) { return major == 8 && minor == 0 ? 64 : 128; }

} // namespace

Expected<MachineRates> measureRates(const Driver &driver, Number device) {
  int processors = 0, kilohertz = 0, cache = 0, major = 0, minor = 0;
  Status status = 0;
  for (auto [into, attribute] : {std::pair(&processors, attributeProcessors),
                                 {&kilohertz, attributeClock},
                                 {&cache, attributeCache},
                                 {&major, attributeMajor},
                                 {&minor, attributeMinor}})
    status = status ? status : driver.getAttribute(into, attribute, device);
  if (Error error = driver.check(status, "ask for the rates of a device"))
    return error;
  size_t bytes = std::max<size_t>(size_t(1) << 20, 8 * size_t(cache));
  Copies copies(driver);
  if (Error error = copies.open(bytes))
    return error;
  Expected<double> seconds = copies.measure(bytes);
  if (!seconds)
    return seconds.error();
  MachineRates rates;
  rates.peakFlops = 2.0 * processors * lanesOf(major, minor) * kilohertz * 1e3;
  rates.copyBytes = 2.0 * double(bytes) / std::max(*seconds, 1e-9);
  return rates;
}

} // namespace reprise::runtime::cuda
