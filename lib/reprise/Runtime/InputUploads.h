// reprise: inputs of the next step, which go to a device while it runs a step
#ifndef REPRISE_LIB_RUNTIME_INPUTUPLOADS_H
#define REPRISE_LIB_RUNTIME_INPUTUPLOADS_H

#include "reprise/Runtime/Executable.h"

#include <map>
#include <optional>

namespace reprise::runtime {

/// A value is read into pinned memory and copied from there, on a stream of its own, to a second
/// place on the device. When its step comes, the device copies it into the argument.
class InputUploads {
public:
  /// In the place of a step: the value is that of all.
  static constexpr int64_t everyStep = -1;

  explicit InputUploads(Executable &executable) : executable(executable) {}

  /// Begins to upload the value of a step: `read` writes it to where it is told. Does nothing where
  /// the device lacks the memory.
  Error begin(size_t argument, int64_t step, const std::function<Error(void *to)> &read);
  bool has(size_t argument, int64_t step) const;
  /// Gives the argument the value, for what the device runs next.
  Error take(size_t argument);
  /// The argument has a new source.
  void drop(size_t argument) { uploads.erase(argument); }

private:
  struct Upload {
    std::unique_ptr<DeviceStream> stream;
    std::unique_ptr<DeviceMemory> pinned, place;
    std::unique_ptr<DeviceEvent> arrived, taken;
    std::optional<int64_t> step; ///< if there is a value
    ~Upload();
  };
  Error open(Upload &upload, uint64_t bytes);

  Executable &executable;
  std::map<size_t, Upload> uploads;
  bool isImpossible = false;
};

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_INPUTUPLOADS_H
