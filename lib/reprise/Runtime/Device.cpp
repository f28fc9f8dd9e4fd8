// reprise: common code of all devices
#include "reprise/Runtime/Device.h"

using namespace reprise::runtime;

DeviceMemory::~DeviceMemory() = default;
std::unique_ptr<DeviceMemory> DeviceMemory::take(uint64_t, uint64_t) { return nullptr; }
DeviceImage::~DeviceImage() = default;
DeviceProgram::~DeviceProgram() = default;
DeviceEvent::~DeviceEvent() = default;
DeviceStream::~DeviceStream() = default;
Device::~Device() = default;

Expected<std::unique_ptr<DeviceMemory>> Device::allocateHost(uint64_t bytes,
                                                             const std::string &what) {
  return allocate(bytes, what);
}

Error Device::canRun(const Command &command) const {
  if (!isExplicit(command.kind))
    return Error::success();
  if (command.kind != CommandKind::Call)
    return Error::make("device '" + name() + "' cannot run a " + commandName(command.kind));
  return Error::make("device '" + name() + "' has no library with function '" + command.function +
                     "'");
}

Error Device::borrow(void *) {
  return Error::make("device '" + name() + "' takes no stream of the caller");
}

Error DeviceStream::store(void *to, int64_t value) {
  if (Error error = copyToDevice(to, &value, sizeof value))
    return error;
  return synchronize();
}

Expected<std::unique_ptr<Device>> reprise::runtime::makeDevice(const DevicePlace &place,
                                                               unsigned workers) {
  if (place.kind == DeviceKind::Cuda)
    return makeCudaDevice(place.number, place.isBorrowed);
  if (place.isBorrowed)
    return Error::make("only a GPU runs in memory of the caller");
  return makeCpuDevice(workers);
}
