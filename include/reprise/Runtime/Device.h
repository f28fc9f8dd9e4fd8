// reprise: what the runtime asks of a machine: memory, programs, streams and events, copies
//
// docs/explanation/Devices.md tells how a device is made.
#ifndef REPRISE_RUNTIME_DEVICE_H
#define REPRISE_RUNTIME_DEVICE_H

#include "reprise/Runtime/Bundle.h"
#include "reprise/Runtime/MachineRates.h"
#include "reprise/Runtime/Trace.h"
#include "reprise/Runtime/Transport.h"
#include "reprise/Runtime/Tuning.h"

#include <memory>

namespace reprise::runtime {
class Ranks;

/// Memory of a device, zero at first, which goes with the object.
class DeviceMemory {
public:
  virtual ~DeviceMemory();
  /// A multiple of bufferAlignment. Only the device may look behind it, unless it has host memory.
  uint8_t *address() const { return begin; }
  /// At least what was asked for.
  uint64_t size() const { return length; }

protected:
  DeviceMemory(uint8_t *begin, uint64_t length) : begin(begin), length(length) {}
  uint8_t *begin;
  uint64_t length;
};

/// An image where kernels find it.
class DeviceImage {
public:
  virtual ~DeviceImage();
};

/// Where the buffers of a program lie on the device.
struct Addresses {
  uint8_t *arena = nullptr, *constants = nullptr, *host = nullptr;
  std::vector<uint8_t *> arguments;

  uint8_t *of(const BufferRef &buffer) const {
    return startOf(buffer.space, buffer.index) + buffer.offset;
  }
  uint8_t *of(const Operand &operand, const std::vector<int64_t> &iterations) const {
    return startOf(operand.buffer.space, operand.buffer.index) + offsetIn(operand, iterations);
  }

private:
  uint8_t *startOf(Space space, uint32_t index) const {
    return space == Space::Arena      ? arena
           : space == Space::Constant ? constants
           : space == Space::Host     ? host
                                      : arguments[index];
  }
};

/// A program with addresses in the place of buffers.
class DeviceProgram {
public:
  virtual ~DeviceProgram();
  /// Commands that it runs, those of repeats in every iteration.
  virtual uint64_t executions() const = 0;
};

/// A point in a stream.
class DeviceEvent {
public:
  virtual ~DeviceEvent();
};

/// Work that is done in order. A call may return before its work is done; what it names must live
/// until synchronize() has returned. Errors of work that was given earlier may come with any call.
class DeviceStream {
public:
  virtual ~DeviceStream();
  /// The executions [begin, end) of the program. The recorder, if there is one, takes their times.
  virtual Error run(DeviceProgram &program, uint64_t begin, uint64_t end, Recorder *recorder) = 0;
  virtual Error copyToDevice(void *to, const void *from, uint64_t bytes) = 0;
  virtual Error copyToHost(void *to, const void *from, uint64_t bytes) = 0;
  /// From one place of the device to another.
  virtual Error copyWithin(void *to, const void *from, uint64_t bytes) = 0;
  /// The event happens when all work given so far is done.
  virtual Error record(DeviceEvent &event) = 0;
  /// Work given later starts when the event has happened: it is of any stream of the device.
  virtual Error wait(DeviceEvent &event) = 0;
  /// Returns when all work given so far is done.
  virtual Error synchronize() = 0;
};

class Device {
public:
  virtual ~Device();
  /// "cpu", for messages and reports.
  virtual std::string name() const = 0;
  /// For people: the name, and what machine that is.
  virtual std::string description() const { return name(); }
  /// An error, without the file's name, if it cannot run the image.
  virtual Error canRun(const Image &image) const = 0;
  /// For people: what an image that it can run is for, and what of it runs.
  virtual std::string describeCode(const Image &image) const { return image.target; }
  /// An error if it cannot run the command of a bundle, such as a call of a library that it lacks.
  /// Every device runs kernels, copies and repeats.
  virtual Error canRun(const Command &command) const;
  /// Whether the host may read and write the device's memory by address, when no work is waiting.
  virtual bool hasHostMemory() const = 0;
  /// Whether one stream can copy while another computes.
  virtual bool copiesBeside() const { return false; }
  /// Bytes that can still be allocated.
  virtual uint64_t availableMemory() const = 0;
  /// Workers that need workspace of their own.
  virtual unsigned workers() const = 0;
  /// The bounds that a profile compares with.
  virtual Expected<MachineRates> measureRates() = 0;

  /// `what` is for the message.
  virtual Expected<std::unique_ptr<DeviceMemory>> allocate(uint64_t bytes,
                                                           const std::string &what) = 0;
  /// Memory of the host that the device copies to and from while it computes. On a CPU it is memory
  /// like any other, and stands for a slower one.
  virtual Expected<std::unique_ptr<DeviceMemory>> allocateHost(uint64_t bytes,
                                                               const std::string &what);
  virtual Expected<std::unique_ptr<DeviceImage>> load(const Image &image) = 0;
  /// All kernels of the program are of the image. `workspace` holds `workers()` parts, at distances
  /// that `workspaceStride` tells. `skips[i]` leaves command i out; empty skips none. `endpoint`
  /// outlives the program, and is there if it has transfers.
  struct ProgramPlaces {
    const Bundle &bundle;
    const Program &program;
    const DeviceImage &image;
    const Addresses &addresses;
    uint8_t *workspace;
    std::vector<bool> skips;
    Endpoint *endpoint = nullptr;
  };
  virtual Expected<std::unique_ptr<DeviceProgram>> prepare(const ProgramPlaces &places) = 0;
  /// Bytes between the parts of two workers, for a bundle that needs so many for each.
  virtual uint64_t workspaceStride(uint64_t workerBytes) const = 0;
  virtual Expected<std::unique_ptr<DeviceStream>> makeStream() = 0;
  virtual Expected<std::unique_ptr<DeviceEvent>> makeEvent() = 0;

  /// The way of values between the programs of a valid bundle, each in a process with a device like
  /// this one: called by all ranks at once.
  virtual Expected<std::unique_ptr<Transport>> connect(Ranks &ranks, const Bundle &bundle);
  /// Where the algorithms of library calls are kept; before programs are prepared.
  virtual void setTuning(std::shared_ptr<Tuning>) {}
  /// Lines for the user, each given once.
  virtual std::vector<std::string> takeNotes() { return {}; }
};

/// This machine with so many workers, of which the calling thread is one. Its streams have done
/// their work when a call returns, and are not for several threads at a time.
Expected<std::unique_ptr<Device>> makeCpuDevice(unsigned workers);

/// The NVIDIA GPU of that number, by its driver. Its streams may be used by several threads, one at
/// a time each. Errors: no driver, no such GPU.
Expected<std::unique_ptr<Device>> makeCudaDevice(unsigned number);

enum class DeviceKind { Cpu, Cuda };

/// That many workers of this machine, or the GPU of that number.
Expected<std::unique_ptr<Device>> makeDevice(DeviceKind kind, unsigned number, unsigned workers);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_DEVICE_H
