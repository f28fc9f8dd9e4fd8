// reprise: the folder that a run writes and a later run continues from
#ifndef REPRISE_RUNTIME_RUNFOLDER_H
#define REPRISE_RUNTIME_RUNFOLDER_H

#include "reprise/Runtime/ArrayHasher.h"
#include "reprise/Runtime/Npy.h"
#include "reprise/Runtime/Ranks.h"
#include "reprise/Runtime/RunRecord.h"
#include "reprise/Runtime/Safetensors.h"

#include <functional>

namespace reprise::runtime {

/// Returns NAME.npy, with '/' replaced by '.'.
std::string arrayFileName(const std::string &name);

/// Returns an error if two names share a file name; `what` is the noun for messages, such as
/// "result".
Error checkFileNames(const std::string &what, const std::vector<std::string> &names);

/// Place of an array: a .npy file, or a tensor of a .safetensors file.
struct ArraySource {
  ArraySource() = default;
  ArraySource(std::string path, std::shared_ptr<const SafetensorsFile> file = nullptr,
              std::string tensor = "")
      : path(std::move(path)), file(std::move(file)), tensor(std::move(tensor)) {}

  std::string path;
  std::shared_ptr<const SafetensorsFile> file; ///< null for a .npy file
  std::string tensor;
};

/// Returns the place of the array `name` in a file, which may be a .safetensors file that is not
/// open yet.
Expected<ArraySource> findArray(const ArraySource &source, const std::string &name,
                                const TensorNames &names);
Expected<ArrayFile> openArray(const ArraySource &source, DType dtype);

/// Folder from which a run continues, or a .safetensors file, or the index of several.
struct InputFolder {
  std::optional<RunRecord> record;                    ///< record of a run, if there is one
  std::vector<std::pair<size_t, ArraySource>> arrays; ///< argument number and place of each array
};

/// Reads the record of a folder or file, and finds the arguments that may be given. A folder holds
/// .npy files, and `model.safetensors` or `model.safetensors.index.json`. Fails if the path leads
/// to neither, if two arguments share a name, if an argument is there twice, or if there is neither
/// record nor argument.
Expected<InputFolder> openRunFolder(const std::string &path,
                                    const std::vector<std::string> &arguments,
                                    const std::function<bool(size_t)> &mayBeGiven,
                                    const TensorNames &names = {});

/// Folder for the results of a run. A path that ends with ".safetensors" is one file.
struct OutputFolder {
  std::string path;
  RunInterface interface;          ///< interface of the program that runs
  std::vector<std::string> inputs; ///< files that the run reads
  std::string inputDir;            ///< folder or file that the run continues from; may be empty
  /// Arguments that the run reads from .safetensors files, by the path of the file.
  std::map<std::string, std::vector<std::string>> tensors = {};
  TensorNames names = {};
  /// Largest size of a .safetensors file in the folder; 0: the folder holds .npy files. A larger
  /// tensor has a file of its own.
  uint64_t shardBytes = 0;
};

/// Checks the output folder before the run. Fails if two results share a file name, if a name is
/// too long for a file, or if no folder can be made at the path.
///
/// - An existing folder is replaced only if it is empty, or if all its files belong to a run:
///   run.json, files named after the results that run.json lists, and .safetensors files that a run
///   has written. For an older run.json without a list, the names are the results of this run.
/// - An existing file is replaced only if a run has written it.
/// - A folder or file with an input of the run is never replaced, whatever path, link or hard link
///   leads to it. The exception is an array of the input folder that has the name of a result of
///   this run, such as a state that its next value replaces.
///
/// Removes temporary folders of killed runs, but not those of a run that is still alive.
Error checkRunFolder(const OutputFolder &folder);

/// Writes the arrays and run.json into a temporary folder and renames it, or its one file, to the
/// path, where it replaces the output of an older run. On an error, or if the process is killed,
/// the old folder stays unchanged. SIGINT, SIGTERM and SIGHUP of the calling thread are delayed
/// until no half-written folder is left; a signal that would end the process also ends the writing.
/// The next offset is only in run.json, not in an array. Several processes write their arrays into
/// one folder, which rank 0 renames; an error of one process is an error of all.
Error writeRunFolder(const OutputFolder &folder, const std::vector<ArrayRef> &arrays,
                     const RunState &next, Ranks *ranks = nullptr);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_RUNFOLDER_H
