// reprise: uploads of the next step's inputs while a device runs a step
#ifndef REPRISE_LIB_RUNTIME_INPUTUPLOADS_H
#define REPRISE_LIB_RUNTIME_INPUTUPLOADS_H

#include "reprise/Runtime/Executable.h"

#include <map>
#include <optional>

namespace reprise::runtime {

/// Uploads of values: a value is read into pinned memory, and copied on its own stream to a second
/// place on the device. At its step, the device copies it into the argument.
class InputUploads {
public:
  /// Step number of a value for all steps.
  static constexpr int64_t everyStep = -1;

  explicit InputUploads(Executable &executable) : executable(executable) {}

  /// Begins to upload the value of a step; `read` writes it to the given address. Does nothing if
  /// the device lacks memory.
  Error begin(size_t argument, int64_t step, const std::function<Error(void *to)> &read);
  bool has(size_t argument, int64_t step) const;
  /// Copies the value into the argument, before later work of the device.
  Error take(size_t argument);
  /// The argument has a new source.
  void drop(size_t argument) { uploads.erase(argument); }

private:
  struct Upload {
    std::unique_ptr<DeviceStream> stream;
    std::unique_ptr<DeviceMemory> pinned, place;
    std::unique_ptr<DeviceEvent> arrived, taken;
    std::optional<int64_t> step; ///< step of the value, if any
    ~Upload();
  };
  Error open(Upload &upload, uint64_t bytes);

  Executable &executable;
  std::map<size_t, Upload> uploads;
  bool isImpossible = false;
};

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_INPUTUPLOADS_H
