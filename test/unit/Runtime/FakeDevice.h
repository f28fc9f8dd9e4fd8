// reprise: a device without host memory that records what it is asked to do
#ifndef REPRISE_TEST_RUNTIME_FAKEDEVICE_H
#define REPRISE_TEST_RUNTIME_FAKEDEVICE_H

#include "reprise/Runtime/Device.h"

namespace reprise::runtime::test {

/// What a fake device has seen. It outlives the device.
struct DeviceLog {
  std::vector<std::string> calls;
  uint64_t allocated = 0;
  std::string failOn; ///< the call that fails
};

/// Runs the kernels of TestBundle.h, for the target "fake". Its addresses are no memory of the
/// host: whoever looks behind one dies. Work is done when a stream is synchronized, not before.
std::unique_ptr<Device> makeFakeDevice(DeviceLog &log);

/// Memory for Session::bind: an address of the device, and what lies there.
uint8_t *fakeAddress(Device &device, uint64_t bytes);
float fakeValue(Device &device, const void *address);
void setFakeValue(Device &device, void *address, float value);

} // namespace reprise::runtime::test

#endif // REPRISE_TEST_RUNTIME_FAKEDEVICE_H
