// reprise: the folder that a run writes and a later run continues from
#ifndef REPRISE_RUNTIME_RUNFOLDER_H
#define REPRISE_RUNTIME_RUNFOLDER_H

#include "reprise/Runtime/Hash.h"
#include "reprise/Runtime/Npy.h"
#include "reprise/Runtime/Ranks.h"
#include "reprise/Runtime/RunRecord.h"

#include <functional>

namespace reprise::runtime {

/// Returns NAME.npy, with '/' replaced by '.'.
std::string arrayFileName(const std::string &name);

/// Returns an error if two names share a file name; `what` is the noun for messages, such as
/// "result".
Error checkFileNames(const std::string &what, const std::vector<std::string> &names);

/// Folder from which a run continues.
struct InputFolder {
  std::optional<RunRecord> record;                    ///< content of run.json, if the file exists
  std::vector<std::pair<size_t, std::string>> arrays; ///< argument number and file of each array
};

/// Reads the record of a folder, and finds the files of arguments that may be given. Fails if the
/// path is no folder, if two arguments share a file name, or if the folder has neither record nor
/// arrays.
Expected<InputFolder> openRunFolder(const std::string &path,
                                    const std::vector<std::string> &arguments,
                                    const std::function<bool(size_t)> &mayBeGiven);

/// Folder for the results of a run.
struct OutputFolder {
  std::string path;
  RunInterface interface;          ///< interface of the program that runs
  std::vector<std::string> inputs; ///< files that the run reads
  std::string inputDir;            ///< folder that the run continues from; may be empty
};

/// Checks the output folder before the run. Fails if two results share a file name, if a name is
/// too long for a file, or if no folder can be made at the path.
///
/// - An existing folder is replaced only if it is empty, or if all its files belong to a run:
///   run.json, and files named after the results that run.json lists. For an older run.json without
///   a list, the names are the results of this run.
/// - A folder with an input of the run is never replaced, whatever path, link or hard link leads to
///   it. The exception is a file of the input folder that has the name of a result of this run,
///   such as a state that its next value replaces.
///
/// Removes temporary folders of killed runs, but not those of a run that is still alive.
Error checkRunFolder(const OutputFolder &folder);

/// Writes the arrays and run.json into a temporary folder and renames it to the path, where it
/// replaces the folder of an older run. On an error, or if the process is killed, the old folder
/// stays unchanged. SIGINT, SIGTERM and SIGHUP of the calling thread are delayed until no
/// half-written folder is left; a signal that would end the process also ends the writing. The next
/// offset is only in run.json, not in an array. Several processes write their arrays into one
/// folder, which rank 0 renames; an error of one process is an error of all.
Error writeRunFolder(const OutputFolder &folder, const std::vector<ArrayRef> &arrays,
                     const RunState &next, Ranks *ranks = nullptr);

/// Hash over name, element type, shape and bits of arrays in their order; NaNs are canonical. The
/// next offset is not included. Consecutive parts of an array count as the whole array.
class ArrayHasher {
public:
  void add(const ArrayRef &array);
  uint64_t value() const { return hasher.value(); }

  /// Returns, and reads, the state of the hasher, so that another process can continue.
  std::string text() const;
  void goOn(const std::string &text);

private:
  void addBytes(const ArrayRef &array);

  Hasher hasher;
  std::string left; ///< bytes of a part that do not fill a word
};
uint64_t hashArrays(const std::vector<ArrayRef> &arrays);
/// Returns 16 hexadecimal digits.
std::string hashText(uint64_t hash);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_RUNFOLDER_H
