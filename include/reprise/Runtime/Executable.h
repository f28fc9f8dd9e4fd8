// reprise: a bundle on a device, ready to run
#ifndef REPRISE_RUNTIME_EXECUTABLE_H
#define REPRISE_RUNTIME_EXECUTABLE_H

#include "reprise/Runtime/Device.h"

#include <functional>
#include <string_view>

namespace reprise::runtime {

/// Use of each argument by commands: whether they write it, and whether they ignore it.
struct BufferUse {
  std::vector<bool> writes, ignores;
};

/// Arguments that lie in memory of the caller.
struct BoundArguments {
  std::vector<bool> isBound; ///< flag per argument
  /// Uses by part of the step: [whether the part begins the step][whether it ends the step].
  BufferUse uses[2][2];
  bool isChanged = false; ///< whether bindings changed since the last whole step
};

/// Executions [begin, end) of a program.
struct ExecutionRange {
  uint64_t begin = 0, end = UINT64_MAX;
};

/// Memory on a device that the programs of a bundle share.
struct ExecutableMemory {
  std::unique_ptr<DeviceMemory> constants, arguments, arena, workers, host;
};

/// Bundle on a device with its arguments, one arena and the workspace. Results never depend on
/// which worker runs which item of a command. Only one thread may use the object at a time.
class Executable {
public:
  /// Creates the executable on this machine, or on its first GPU. `name` is the file name in
  /// messages; `threads` 0 uses the bundle's number. Errors: another device or CPU, more threads
  /// than a bundle with a budget allows, too little memory. If creation fails, no code of the
  /// bundle has run.
  static Expected<std::unique_ptr<Executable>> create(Bundle bundle, const std::string &name,
                                                      unsigned threads = 0,
                                                      DeviceKind kind = DeviceKind::Cpu);
  /// Creates the executable on `device`. A bundle with transfers needs an endpoint.
  static Expected<std::unique_ptr<Executable>> create(Bundle bundle, const std::string &name,
                                                      std::unique_ptr<Device> device,
                                                      std::unique_ptr<Endpoint> endpoint = nullptr);

  /// Returns the manifest, without constants and images, which have moved to the device.
  const Bundle &bundle() const { return manifest; }
  const std::string &name() const { return fileName; }
  Device &device() const { return *machine; }

  /// Returns the buffer of an argument, which the caller may fill and read between programs. If the
  /// device has no host memory, access goes through readMemory and writeMemory.
  void *argument(size_t index) const { return places.arguments[index]; }
  /// Returns the address of a result after a step, valid until the next program runs.
  const void *result(size_t index) const { return places.of(manifest.results[index].buffer); }
  /// Waits for all programs, and copies from and to the device.
  Error readMemory(void *to, const void *from, uint64_t bytes);
  Error writeMemory(void *to, const void *from, uint64_t bytes);

  /// Makes `data` the buffer of an argument, which programs read and update in place. `data`
  /// outlives this object. Initializers leave it unchanged. Fails if `data` is not at a multiple of
  /// bufferAlignment, or if `bytes` is not the argument's size. A step fails if it writes memory
  /// that another argument uses; inputs may overlap.
  Error bind(size_t index, void *data, uint64_t bytes);
  bool isBound(size_t index) const { return bound.isBound[index]; }
  /// Makes `memory` the arena of a borrowed device, and the place of the seed, the offset and the
  /// step number. All other arguments are bound. `memory` has lentBytes, lies at a multiple of
  /// bufferAlignment, and keeps its content until the step has ended.
  Error lend(void *memory);

  /// Returns the arena, followed by at least one page more, so that a write behind it can be seen.
  uint8_t *arena() const { return places.arena; }
  /// Returns the target of the loaded code, such as "cuda:sm_90".
  std::string target() const { return machine->describeCode(manifest.images[imageIndex]); }
  DeviceMemory &arenaMemory() const { return *memory.arena; }

  /// Runs the program with the name and waits for it; a program that the bundle lacks does nothing.
  /// After "step" every result that replaces an argument is in the argument's buffer. Fails only on
  /// a checked index, a replay that differs from its original, or a fault of the device or of a
  /// peer; peers then fail too. Allocates memory only on an error, and once after bind(). Calls
  /// `beside` between the submission of the program and the wait for it.
  Error run(std::string_view program, const std::function<Error()> &beside = nullptr);
  /// Runs the two parts of a "step" with a pause; run() runs both. No other program runs between
  /// them. Between the parts the caller may bind arguments that the first part has not accessed.
  Error runToPause(const std::function<Error()> &beside = nullptr);
  Error runOn();
  /// Queues a copy of `from` into the argument, which starts when `arrived` has happened and
  /// precedes later programs. `taken` happens when the memory at `from` may be written again.
  Error takeArgument(size_t index, const void *from, DeviceEvent &arrived, DeviceEvent &taken);
  /// Tells all peers that this program sends no more values.
  void fail(const std::string &why) {
    if (endpoint)
      endpoint->fail(why);
  }

  /// Makes every later run check indices before each command.
  void setCheckIndices(bool check) { checkIndices = check; }
  /// Records the times of every later step; nullptr stops recording.
  void setRecorder(Recorder *newRecorder) { recorder = newRecorder; }

private:
  Executable(Bundle bundle, std::string name, std::unique_ptr<Device> device,
             std::unique_ptr<Endpoint> endpoint)
      : manifest(std::move(bundle)), fileName(std::move(name)), machine(std::move(device)),
        endpoint(std::move(endpoint)) {}
  /// Loads the parts of the bundle, and prepares its programs.
  Error open();
  Error prepare();
  Error runNamed(std::string_view program, ExecutionRange range,
                 const std::function<Error()> &beside);

  Bundle manifest;
  std::string fileName;
  // Programs and memory are declared after the device, so that they are destroyed first.
  std::unique_ptr<Device> machine;
  std::unique_ptr<DeviceImage> image;
  ExecutableMemory memory;
  Addresses places;
  BoundArguments bound;
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<DeviceStream> stream;
  /// programs as in the manifest; empty: not yet prepared
  std::vector<std::unique_ptr<DeviceProgram>> programs;
  size_t imageIndex = 0;
  Recorder *recorder = nullptr;
  bool checkIndices = false;
};

/// Returns the bytes that a caller lends for a bundle.
uint64_t lentBytes(const Bundle &bundle);

/// Reads a bundle from a file and creates its executable on this machine.
Expected<std::unique_ptr<Executable>> loadExecutable(const std::string &path, unsigned threads = 0);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_EXECUTABLE_H
