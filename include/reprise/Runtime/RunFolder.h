// reprise: the folder that a run leaves and another goes on from
#ifndef REPRISE_RUNTIME_RUNFOLDER_H
#define REPRISE_RUNTIME_RUNFOLDER_H

#include "reprise/Runtime/Hash.h"
#include "reprise/Runtime/Npy.h"
#include "reprise/Runtime/Ranks.h"
#include "reprise/Runtime/RunRecord.h"

#include <functional>

namespace reprise::runtime {

/// NAME.npy with '/' as '.'.
std::string arrayFileName(const std::string &name);

/// An error if two names share a file name; `what` says what bears them, "result".
Error checkFileNames(const std::string &what, const std::vector<std::string> &names);

/// What a run goes on from.
struct InputFolder {
  std::optional<RunRecord> record;                    ///< of run.json, if there is one
  std::vector<std::pair<size_t, std::string>> arrays; ///< an argument's number, and its file
};

/// The record of a folder, and the files in it of arguments that may be given. An error if it is no
/// folder, if two arguments share a file name, or if it holds neither.
Expected<InputFolder> openRunFolder(const std::string &path,
                                    const std::vector<std::string> &arguments,
                                    const std::function<bool(size_t)> &mayBeGiven);

/// Where a run writes its results.
struct OutputFolder {
  std::string path;
  RunInterface interface;          ///< of the program that runs
  std::vector<std::string> inputs; ///< files that the run reads
  std::string inputDir;            ///< the folder that it goes on from, or empty
};

/// An error if two results share a file name or one is too long for a file, or if no folder can be
/// made at the path. One that exists is replaced only if it is empty, or if all in it is of a run:
/// run.json, and files that bear the names of the results that run.json lists (of this run's
/// results, where an older run.json lists none). It is never replaced if it holds an input,
/// whatever path, link or hard link leads there, but for a file of the input folder itself whose
/// name a result of this run has, such as a state whose next value takes its place.
///
/// What a killed run left beside the folder is removed, unless that run still works there.
Error checkRunFolder(const OutputFolder &folder);

/// Writes the arrays and run.json into a folder beside the path, and renames it; an older run's
/// folder is replaced. On an error, or if the process is killed, what was there stays as it was.
/// SIGINT, SIGTERM and SIGHUP of the calling thread wait until nothing half-written is left; one
/// that would end the process ends the writing, too. The next offset is in run.json only: it is no
/// array. Of several processes each writes its arrays into one folder, and rank 0 renames it; an
/// error of one is that of all.
Error writeRunFolder(const OutputFolder &folder, const std::vector<ArrayRef> &arrays,
                     const RunState &next, Ranks *ranks = nullptr);

/// One hash over name, element type, shape and bits of all arrays in their order; NaNs are
/// canonical. The next offset is not among them. Parts of an array, one behind the other, count as
/// the array.
class ArrayHasher {
public:
  void add(const ArrayRef &array);
  uint64_t value() const { return hasher.value(); }

  /// What another process needs to go on, and how it does.
  std::string text() const;
  void goOn(const std::string &text);

private:
  void addBytes(const ArrayRef &array);

  Hasher hasher;
  std::string left; ///< bytes of a part that fill no word
};
uint64_t hashArrays(const std::vector<ArrayRef> &arrays);
/// 16 hexadecimal digits.
std::string hashText(uint64_t hash);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_RUNFOLDER_H
