// reprise: the folder that a run leaves and another goes on from
#ifndef REPRISE_RUNTIME_RUNFOLDER_H
#define REPRISE_RUNTIME_RUNFOLDER_H

#include "reprise/Runtime/Npy.h"

#include <optional>

namespace reprise::runtime {

/// Where a run stands: all that the next step's randomness and inputs depend on.
struct RunState {
  int64_t seed = 0;
  int64_t offset = 0; ///< a multiple of 4, not negative
  int64_t step = 0;   ///< absolute number of the next step
};

/// An error if `state` is out of range.
Error checkRunState(const RunState &state);

/// NAME.npy with '/' as '.'.
std::string arrayFileName(const std::string &name);

/// An error if two names share a file name; `what` says what bears them, "result".
Error checkFileNames(const std::string &what, const std::vector<std::string> &names);

/// An error if two names share a file name or one is too long for a file, or if `path` cannot
/// become a run's folder: its parent is not writable, or it exists and holds anything but .npy
/// files and run.json.
Error checkRunFolder(const std::string &path, const std::vector<std::string> &names);

/// Writes the arrays and run.json {"seed", "next_offset", "next_step"} into a folder beside `path`,
/// and renames it; an older run's folder at `path` is replaced. On an error `path` is as it was.
/// SIGINT, SIGTERM and SIGHUP of the calling thread wait until nothing half-written is left.
/// The next offset is in run.json only: it is no array.
Error writeRunFolder(const std::string &path, const std::vector<ArrayRef> &arrays,
                     const RunState &next);

/// What run.json in the folder says, nothing if there is no such file.
Expected<std::optional<RunState>> readRunState(const std::string &folder);

/// One hash over name, element type, shape and bits of all arrays in their order; NaNs are
/// canonical. The next offset is not among them.
uint64_t hashArrays(const std::vector<ArrayRef> &arrays);
/// 16 hexadecimal digits.
std::string hashText(uint64_t hash);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_RUNFOLDER_H
