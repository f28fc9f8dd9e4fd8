// reprise: a bundle on a device, ready to run
#ifndef REPRISE_RUNTIME_EXECUTABLE_H
#define REPRISE_RUNTIME_EXECUTABLE_H

#include "reprise/Runtime/Device.h"

#include <functional>
#include <string_view>

namespace reprise::runtime {

/// By argument: whether commands write it, and whether they leave it alone.
struct BufferUse {
  std::vector<bool> writes, ignores;
};

/// The arguments that lie in memory of the caller.
struct BoundArguments {
  std::vector<bool> isBound; ///< by argument
  BufferUse uses[2][2];      ///< by part of the step: whether it begins it, and whether it ends it
  bool isChanged = false;    ///< since a whole step ran
};

/// Executions [begin, end) of a program.
struct ExecutionRange {
  uint64_t begin = 0, end = UINT64_MAX;
};

/// Memory on a device that the programs of a bundle share.
struct ExecutableMemory {
  std::unique_ptr<DeviceMemory> constants, arguments, arena, workers, host;
};

/// Owns the arguments, one arena, the workspace and the device. Who takes which item of a command
/// never changes a result. Not for several threads at a time.
class Executable {
public:
  /// On this machine, or on its first GPU. `name` is the file that messages speak of; `threads` 0
  /// takes the bundle's.
  /// Errors: another device or CPU, more threads than a bundle with a budget allows, less memory
  /// than it needs. Nothing of a bundle that fails has run.
  static Expected<std::unique_ptr<Executable>> create(Bundle bundle, const std::string &name,
                                                      unsigned threads = 0,
                                                      DeviceKind kind = DeviceKind::Cpu);
  /// On a device. A bundle with transfers needs an endpoint.
  static Expected<std::unique_ptr<Executable>> create(Bundle bundle, const std::string &name,
                                                      std::unique_ptr<Device> device,
                                                      std::unique_ptr<Endpoint> endpoint = nullptr);

  /// The manifest; constants and images are empty, they have moved.
  const Bundle &bundle() const { return manifest; }
  const std::string &name() const { return fileName; }
  Device &device() const { return *machine; }

  /// The buffer of an argument, the caller's to fill and read between programs; through readMemory
  /// and writeMemory where the device has no host memory.
  void *argument(size_t index) const { return places.arguments[index]; }
  /// Where a result lies after a step, until the next program runs.
  const void *result(size_t index) const { return places.of(manifest.results[index].buffer); }
  /// Waits for all programs, and copies from and to the device.
  Error readMemory(void *to, const void *from, uint64_t bytes);
  Error writeMemory(void *to, const void *from, uint64_t bytes);

  /// Makes `data` the buffer of an argument, which programs read and update in place; it outlives
  /// this object. Initializers leave it alone. An error if it is not on a multiple of
  /// bufferAlignment, or is not `bytes` = the argument's bytes long. A step fails that finds what
  /// it writes in the memory of another argument; inputs may overlap.
  Error bind(size_t index, void *data, uint64_t bytes);
  bool isBound(size_t index) const { return bound.isBound[index]; }

  /// The arena and at least one page more, so that a write behind it can be seen.
  uint8_t *arena() const { return places.arena; }
  /// What its code is for, such as "cuda:sm_90".
  std::string target() const { return machine->describeCode(manifest.images[imageIndex]); }
  uint64_t arenaCapacity() const { return memory.arena->size(); }

  /// Runs the program of that name and waits for it; one that the bundle lacks does nothing. After
  /// "step" every result that replaces an argument is in the argument's buffer. Fails only on a
  /// checked index, a replay that differs from its original, or a fault of the device or of a peer;
  /// allocates nothing otherwise, but once after bind(). Peers then get an error, too.
  /// `beside` is called when the device has got all work of the program, before the wait for it.
  Error run(std::string_view program, const std::function<Error()> &beside = nullptr);
  /// The two parts of "step", where it has a pause: run() does both. Nothing else runs between
  /// them. Arguments that the first part has not looked at may be bound between them, too.
  Error runToPause(const std::function<Error()> &beside = nullptr);
  Error runOn();
  /// What the device runs next finds in the argument what lies at `from` when `arrived` has
  /// happened. `taken` happens when that place may be written again.
  Error takeArgument(size_t index, const void *from, DeviceEvent &arrived, DeviceEvent &taken);
  /// Tells peers, if there are any, that nothing more will come from here.
  void fail(const std::string &why) {
    if (endpoint)
      endpoint->fail(why);
  }

  /// Makes every later run look at indices first, command by command.
  void setCheckIndices(bool check) { checkIndices = check; }
  /// Takes times of every later step; nullptr ends it.
  void setRecorder(Recorder *newRecorder) { recorder = newRecorder; }

private:
  Executable(Bundle bundle, std::string name, std::unique_ptr<Device> device,
             std::unique_ptr<Endpoint> endpoint)
      : manifest(std::move(bundle)), fileName(std::move(name)), machine(std::move(device)),
        endpoint(std::move(endpoint)) {}
  static Expected<std::unique_ptr<Executable>> make(Bundle bundle, const std::string &name,
                                                    std::unique_ptr<Device> device,
                                                    std::unique_ptr<Endpoint> endpoint);
  /// Loads what the bundle holds, and prepares its programs.
  Error open();
  Error prepare();
  Error runNamed(std::string_view program, ExecutionRange range,
                 const std::function<Error()> &beside);

  Bundle manifest;
  std::string fileName;
  // Programs and memory go before their device does.
  std::unique_ptr<Device> machine;
  std::unique_ptr<DeviceImage> image;
  ExecutableMemory memory;
  Addresses places;
  BoundArguments bound;
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<DeviceStream> stream;
  std::vector<std::unique_ptr<DeviceProgram>> programs; ///< as in the manifest; empty: to be made
  size_t imageIndex = 0;
  Recorder *recorder = nullptr;
  bool checkIndices = false;
};

/// Reads a bundle from a file and creates its executable on this machine.
Expected<std::unique_ptr<Executable>> loadExecutable(const std::string &path, unsigned threads = 0);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_EXECUTABLE_H
