// reprise: common code of all devices
#include "reprise/Runtime/Device.h"

using namespace reprise::runtime;

DeviceMemory::~DeviceMemory() = default;
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

Expected<std::unique_ptr<Device>> reprise::runtime::makeDevice(DeviceKind kind, unsigned number,
                                                               unsigned workers) {
  return kind == DeviceKind::Cuda ? makeCudaDevice(number) : makeCpuDevice(workers);
}
