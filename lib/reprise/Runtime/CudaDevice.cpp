// reprise: an NVIDIA GPU as a device
#include "CudaCode.h"
#include "CudaProgram.h"
#include "CudaRates.h"
#include "CudaStream.h"
#include "NcclTransport.h"
#include "reprise/Runtime/HostCalls.h"

#include <algorithm>

using namespace reprise::runtime;
using namespace reprise::runtime::cuda;

namespace {

uint8_t *asPointer(Address address) { return reinterpret_cast<uint8_t *>(address); }
Address asAddress(const void *pointer) { return reinterpret_cast<Address>(pointer); }

class CudaMemory : public DeviceMemory {
public:
  CudaMemory(const Driver &driver, Context context, Address address, uint64_t bytes)
      : DeviceMemory(asPointer(address), bytes), driver(driver), context(context) {}
  ~CudaMemory() override {
    driver.setContext(context);
    driver.free(asAddress(begin));
  }

private:
  const Driver &driver;
  Context context;
};

/// Pinned pages of the host, so that the device copies without the processor.
class PinnedMemory : public DeviceMemory {
public:
  PinnedMemory(const Driver &driver, Context context, void *begin, uint64_t bytes)
      : DeviceMemory(static_cast<uint8_t *>(begin), bytes), driver(driver), context(context) {}
  ~PinnedMemory() override {
    driver.setContext(context);
    driver.freePinned(begin);
  }

private:
  const Driver &driver;
  Context context;
};

class CudaDevice : public Device {
public:
  CudaDevice(const Driver &driver, Number number, Context context, int capability, bool isBorrowed)
      : driver(driver), number(number), context(context), capability(capability),
        borrowed(isBorrowed), calls(std::make_unique<CudaCalls>(driver, number, capability)) {}
  ~CudaDevice() override {
    driver.setContext(context);
    calls.reset();
    driver.releaseContext(number);
  }

  std::string name() const override { return "cuda:" + std::to_string(number); }
  std::string description() const override;
  Error canRun(const Image &image) const override;
  std::string describeCode(const Image &image) const override;
  Error canRun(const Command &command) const override;
  bool hasHostMemory() const override { return false; }
  bool copiesBeside() const override { return true; }
  uint64_t availableMemory() const override;
  unsigned workers() const override { return 1; }
  Expected<MachineRates> measureRates() override;
  Expected<std::unique_ptr<DeviceMemory>> allocate(uint64_t bytes,
                                                   const std::string &what) override;
  Expected<std::unique_ptr<DeviceMemory>> allocateHost(uint64_t bytes,
                                                       const std::string &what) override;
  Expected<std::unique_ptr<DeviceImage>> load(const Image &image) override;
  Expected<std::unique_ptr<DeviceProgram>> prepare(const ProgramPlaces &places) override;
  /// A thread's scratch is its own.
  uint64_t workspaceStride(uint64_t) const override { return 0; }
  Expected<std::unique_ptr<DeviceStream>> makeStream() override;
  Expected<std::unique_ptr<DeviceEvent>> makeEvent() override;
  Expected<std::unique_ptr<Transport>> connect(Ranks &ranks, const Bundle &bundle) override;
  std::vector<std::string> takeNotes() override { return std::exchange(notes, {}); }
  void setTuning(std::shared_ptr<Tuning> tuning) override { calls->setTuning(std::move(tuning)); }
  bool isBorrowed() const override { return borrowed; }
  Error borrow(void *handle) override {
    lent = static_cast<Stream>(handle);
    return Error::success();
  }

private:
  Error enter() const { return driver.check(driver.setContext(context), "use the device"); }

  const Driver &driver;
  Number number;
  Context context;
  int capability; ///< 90 for sm_90
  bool borrowed;  ///< whether streams are those of a caller
  Stream lent = nullptr;
  std::unique_ptr<CudaCalls> calls;
  std::vector<std::string> notes;
};

std::string CudaDevice::description() const {
  char model[256] = "";
  driver.getName(model, sizeof model, number);
  return name() + " (" + model + ", sm_" + std::to_string(capability) + ")";
}

Error CudaDevice::canRun(const Image &image) const {
  if (!isCudaCode(image.target))
    return Error::make("the bundle is for " + image.target + ", not for a GPU: use --device=cpu");
  if (chooseCode(image.target, capability))
    return Error::success();
  std::string chip = "sm_" + std::to_string(capability);
  return Error::make("the bundle is for " + image.target + ", and " + name() + " is an " + chip +
                     ": compile with --target=cuda:" + chip);
}

std::string CudaDevice::describeCode(const Image &image) const {
  std::optional<Code> code = chooseCode(image.target, capability);
  bool isChosen = code && image.target.find('+') != std::string::npos;
  return isChosen ? image.target + ", of which " + code->chip : image.target;
}

/// Checks a command. Transfers have their own streams; others use the program's stream.
Error CudaDevice::canRun(const Command &command) const {
  bool isCall = command.kind == CommandKind::Call;
  if (isHostCall(command))
    return borrowed ? checkHostCall(command)
                    : Error::make("the step calls '" + command.function +
                                  "', a function of the host, which a GPU does only on a stream "
                                  "of the caller: run the step from PyTorch, or on a CPU");
  if (command.stream != 0 || (isCall && !isKnownCall(command.function)))
    return Device::canRun(command);
  return isCall ? canCall(command.function) : Error::success();
}

uint64_t CudaDevice::availableMemory() const {
  size_t available = 0, all = 0;
  if (enter() || driver.getMemory(&available, &all) != 0)
    return 0;
  return available;
}

Expected<MachineRates> CudaDevice::measureRates() {
  if (Error error = enter())
    return error;
  return cuda::measureRates(driver, number);
}

Expected<std::unique_ptr<DeviceMemory>> CudaDevice::allocate(uint64_t bytes,
                                                             const std::string &what) {
  if (Error error = enter())
    return error;
  Address address = 0;
  uint64_t size = std::max<uint64_t>(bytes, 1);
  Status status = driver.allocate(&address, size);
  if (Error error =
          driver.check(status, "allocate " + std::to_string(bytes) + " bytes for " + what))
    return error;
  std::unique_ptr<DeviceMemory> memory(new CudaMemory(driver, context, address, size));
  status = driver.fill(address, 0, size, nullptr);
  if (status == 0)
    status = driver.synchronize(nullptr);
  if (Error error = driver.check(status, "clear " + what))
    return error;
  return memory;
}

Expected<std::unique_ptr<DeviceMemory>> CudaDevice::allocateHost(uint64_t bytes,
                                                                 const std::string &what) {
  if (Error error = enter())
    return error;
  void *begin = nullptr;
  if (Error error =
          driver.check(driver.allocatePinned(&begin, bytes, 0),
                       "allocate " + std::to_string(bytes) + " bytes of pinned memory for " + what))
    return error;
  return std::unique_ptr<DeviceMemory>(new PinnedMemory(driver, context, begin, bytes));
}

Expected<std::unique_ptr<DeviceImage>> CudaDevice::load(const Image &image) {
  Image copy = image;
  copy.bytes.push_back(0); // the driver reads up to a zero
  std::optional<Code> code = chooseCode(image.target, capability);
  return std::unique_ptr<DeviceImage>(
      new CudaImage(driver, context, std::move(copy), code.value_or(Code())));
}

Expected<std::unique_ptr<DeviceProgram>> CudaDevice::prepare(const ProgramPlaces &places) {
  if (Error error = enter())
    return error;
  auto program = std::make_unique<CudaProgram>(driver, number, context, *calls);
  if (Error error = program->fill(places))
    return error;
  if (std::string note = static_cast<const CudaImage &>(places.image).takeNote(); !note.empty())
    notes.push_back(name() + ": " + note);
  return std::unique_ptr<DeviceProgram>(std::move(program));
}

Expected<std::unique_ptr<DeviceStream>> CudaDevice::makeStream() {
  if (Error error = enter())
    return error;
  if (borrowed)
    return std::unique_ptr<DeviceStream>(new CudaStream(driver, context, &lent));
  Stream stream = nullptr;
  if (Error error = driver.check(driver.makeStream(&stream, streamNonBlocking), "make a stream"))
    return error;
  return std::unique_ptr<DeviceStream>(new CudaStream(driver, context, stream));
}

Expected<std::unique_ptr<DeviceEvent>> CudaDevice::makeEvent() {
  if (Error error = enter())
    return error;
  Event event = nullptr;
  if (Error error = driver.check(driver.makeEvent(&event, eventDefault), "make an event"))
    return error;
  return std::unique_ptr<DeviceEvent>(new CudaEvent(driver, context, event));
}

Expected<std::unique_ptr<Transport>> CudaDevice::connect(Ranks &ranks, const Bundle &bundle) {
  if (Error error = enter())
    return error;
  Uuid uuid = {};
  if (Error error = driver.check(driver.getUuid(&uuid, number), "identify the device"))
    return error;
  std::string text;
  for (char byte : uuid.bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", unsigned(byte) & 0xff);
    text += digits;
  }
  return nccl::connect(ranks, bundle, text);
}

} // namespace

Expected<std::unique_ptr<Device>> reprise::runtime::makeCudaDevice(unsigned number,
                                                                   bool isBorrowed) {
  Expected<const Driver *> found = Driver::get();
  if (!found)
    return found.error();
  const Driver &driver = **found;
  int count = 0;
  if (Error error = driver.check(driver.countDevices(&count), "count CUDA devices"))
    return error;
  if (int(number) >= count)
    return Error::make("there is no CUDA device " + std::to_string(number) + ": this machine has " +
                       std::to_string(count));
  Number handle = 0;
  Context context = nullptr;
  int major = 0, minor = 0;
  Status status = driver.getDevice(&handle, int(number));
  for (auto [into, attribute] : {std::pair(&major, attributeMajor), {&minor, attributeMinor}})
    status = status ? status : driver.getAttribute(into, attribute, handle);
  status = status ? status : driver.retainContext(&context, handle);
  if (Error error = driver.check(status, "open CUDA device " + std::to_string(number)))
    return error;
  return std::unique_ptr<Device>(
      new CudaDevice(driver, handle, context, 10 * major + minor, isBorrowed));
}
