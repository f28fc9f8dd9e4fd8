// reprise: a device without host memory that records its calls
#ifndef REPRISE_TEST_RUNTIME_FAKEDEVICE_H
#define REPRISE_TEST_RUNTIME_FAKEDEVICE_H

#include "reprise/Runtime/Device.h"

namespace reprise::runtime::test {

/// Log of the calls of a fake device. The log outlives the device.
struct DeviceLog {
  std::vector<std::string> calls;
  uint64_t allocated = 0;
  std::string failOn; ///< name of the call that fails
};

/// Makes a device that runs the kernels of TestBundle.h, for the target "fake". Its addresses are
/// not host memory: an access from the host crashes. Work is done when a stream is synchronized,
/// not before.
std::unique_ptr<Device> makeFakeDevice(DeviceLog &log);

/// Returns memory for Session::bind, as an address of the device; fakeValue returns the value at an
/// address.
uint8_t *fakeAddress(Device &device, uint64_t bytes);
float fakeValue(Device &device, const void *address);
void setFakeValue(Device &device, void *address, float value);

} // namespace reprise::runtime::test

#endif // REPRISE_TEST_RUNTIME_FAKEDEVICE_H
