// reprise: the interface of a machine to the runtime: memory, programs, streams, events, copies
//
// docs/explanation/Devices.md explains how to implement a device.
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

/// Memory of a device, zero at first, freed with the object.
class DeviceMemory {
public:
  virtual ~DeviceMemory();
  /// Returns the address, a multiple of bufferAlignment. Only the device may access the memory,
  /// unless it has host memory.
  uint8_t *address() const { return begin; }
  /// Returns the bytes, at least as many as were requested.
  uint64_t size() const { return length; }
  /// Moves the bytes [offset, offset + bytes) to memory of their own, without a copy of most of
  /// them; they are undefined here afterwards. Returns null if the device does not move memory.
  virtual std::unique_ptr<DeviceMemory> take(uint64_t offset, uint64_t bytes);

protected:
  DeviceMemory(uint8_t *begin, uint64_t length) : begin(begin), length(length) {}
  uint8_t *begin;
  uint64_t length;
};

/// Image that is loaded for the kernels of a device.
class DeviceImage {
public:
  virtual ~DeviceImage();
};

/// Addresses of the buffers of a program on the device.
struct Addresses {
  uint8_t *arena = nullptr, *constants = nullptr, *host = nullptr;
  std::vector<uint8_t *> arguments;

  uint8_t *of(const BufferRef &buffer) const {
    return behind(startOf(buffer.space, buffer.index), buffer.offset);
  }
  uint8_t *of(const Operand &operand, const std::vector<int64_t> &iterations) const {
    return behind(startOf(operand.buffer.space, operand.buffer.index),
                  offsetIn(operand, iterations));
  }

private:
  /// Adds integers, because an argument that a caller binds later has no address yet.
  static uint8_t *behind(uint8_t *start, uint64_t offset) {
    return reinterpret_cast<uint8_t *>(reinterpret_cast<uintptr_t>(start) + offset);
  }
  uint8_t *startOf(Space space, uint32_t index) const {
    return space == Space::Arena      ? arena
           : space == Space::Constant ? constants
           : space == Space::Host     ? host
                                      : arguments[index];
  }
};

/// Program whose buffers are replaced by addresses.
class DeviceProgram {
public:
  virtual ~DeviceProgram();
  /// Returns the number of executed commands; commands of repeats count in every iteration.
  virtual uint64_t executions() const = 0;
};

/// Point in a stream.
class DeviceEvent {
public:
  virtual ~DeviceEvent();
};

/// Queue of work that is done in order. A call may return before its work is done; its arguments
/// must live until synchronize() has returned. Any call may return errors of earlier work.
class DeviceStream {
public:
  virtual ~DeviceStream();
  /// Runs the executions [begin, end) of the program. The recorder, if there is one, takes their
  /// times.
  virtual Error run(DeviceProgram &program, uint64_t begin, uint64_t end, Recorder *recorder) = 0;
  /// Stores a value of 8 bytes. It may change when the call has returned.
  virtual Error store(void *to, int64_t value);
  virtual Error copyToDevice(void *to, const void *from, uint64_t bytes) = 0;
  virtual Error copyToHost(void *to, const void *from, uint64_t bytes) = 0;
  /// Copies from one address of the device to another.
  virtual Error copyWithin(void *to, const void *from, uint64_t bytes) = 0;
  /// Makes the event happen when all work given so far is done.
  virtual Error record(DeviceEvent &event) = 0;
  /// Makes later work wait for the event, which may belong to any stream of the device.
  virtual Error wait(DeviceEvent &event) = 0;
  /// Returns when all work given so far is done.
  virtual Error synchronize() = 0;
};

class Device {
public:
  virtual ~Device();
  /// Returns the name for messages and reports, such as "cpu".
  virtual std::string name() const = 0;
  /// Returns the name and the kind of machine, for people.
  virtual std::string description() const { return name(); }
  /// Returns an error, without the file's name, if the device cannot run the image.
  virtual Error canRun(const Image &image) const = 0;
  /// Describes for people the target of an image and the part of it that runs here.
  virtual std::string describeCode(const Image &image) const { return image.target; }
  /// Returns an error if the device cannot run the command of a bundle, such as a call of a missing
  /// library. Every device runs kernels, copies and repeats.
  virtual Error canRun(const Command &command) const;
  /// Returns whether the host may access the device's memory by address while no work is waiting.
  virtual bool hasHostMemory() const = 0;
  /// Returns whether one stream can copy while another computes.
  virtual bool copiesBeside() const { return false; }
  /// Returns the bytes that can still be allocated.
  virtual uint64_t availableMemory() const = 0;
  /// Returns the number of workers, each of which needs its own workspace.
  virtual unsigned workers() const = 0;
  /// Measures the bounds that a profile compares with.
  virtual Expected<MachineRates> measureRates() = 0;

  /// Allocates `bytes` bytes. `what` names the memory in messages.
  virtual Expected<std::unique_ptr<DeviceMemory>> allocate(uint64_t bytes,
                                                           const std::string &what) = 0;
  /// Allocates host memory that the device copies to and from while it computes. On a CPU it is
  /// ordinary memory that stands for a slower kind.
  virtual Expected<std::unique_ptr<DeviceMemory>> allocateHost(uint64_t bytes,
                                                               const std::string &what);
  virtual Expected<std::unique_ptr<DeviceImage>> load(const Image &image) = 0;
  /// Arguments of prepare(). All kernels of the program are in the image. `workspace` holds
  /// `workers()` parts at distances of `workspaceStride` bytes. `skips[i]` leaves command i out; an
  /// empty list skips no command. `endpoint` outlives the program, and exists if the program has
  /// transfers.
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
  /// Returns the bytes between the parts of two workers, for a bundle that needs `workerBytes` for
  /// each.
  virtual uint64_t workspaceStride(uint64_t workerBytes) const = 0;
  virtual Expected<std::unique_ptr<DeviceStream>> makeStream() = 0;
  virtual Expected<std::unique_ptr<DeviceEvent>> makeEvent() = 0;
  /// Returns whether all streams are one stream of the caller, who waits for its work.
  virtual bool isBorrowed() const { return false; }
  /// Gives later work of a borrowed device to the caller's stream, a handle of the driver.
  virtual Error borrow(void *stream);

  /// Makes the transport between the programs of a valid bundle, each in a process with a device of
  /// this kind. All ranks call it at the same time.
  virtual Expected<std::unique_ptr<Transport>> connect(Ranks &ranks, const Bundle &bundle);
  /// Sets the store of algorithms for library calls. Call it before programs are prepared.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): overrides keep it.
  virtual void setTuning(std::shared_ptr<Tuning>) {}
  /// Returns lines for the user, each line once.
  virtual std::vector<std::string> takeNotes() { return {}; }
};

/// Makes a device of this machine with `workers` workers, one of which is the calling thread.
/// Streams have done their work when a call returns; only one thread may use them at a time.
Expected<std::unique_ptr<Device>> makeCpuDevice(unsigned workers);

/// Makes a device of the NVIDIA GPU `number` through its driver. Several threads may use its
/// streams, one thread per stream at a time. If the device is borrowed, its streams are those of a
/// caller. Errors: no driver, no such GPU.
Expected<std::unique_ptr<Device>> makeCudaDevice(unsigned number, bool isBorrowed = false);

enum class DeviceKind { Cpu, Cuda };

/// Place of a bundle's programs.
struct DevicePlace {
  DevicePlace(DeviceKind kind = DeviceKind::Cpu, unsigned number = 0, bool isBorrowed = false)
      : kind(kind), number(number), isBorrowed(isBorrowed) {}
  DeviceKind kind;
  unsigned number; ///< GPU of the first program; later programs have the next GPUs
  bool isBorrowed; ///< whether the caller lends memory and stream
};

/// Makes a device of this machine with `workers` workers, or of a GPU.
Expected<std::unique_ptr<Device>> makeDevice(const DevicePlace &place, unsigned workers);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_DEVICE_H
