// reprise: checks before a run folder is written
#include "FolderPlaces.h"
#include "FreshFolder.h"
#include "SafetensorsLayout.h"
#include "reprise/Runtime/File.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

using namespace reprise::runtime;

Error reprise::runtime::cannotWrite(const std::string &path, const std::string &why) {
  return Error::make("cannot write '" + path + "': " + why);
}

std::string reprise::runtime::resolveFolder(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) ? resolved : path;
}

namespace {

using FileIdentity = std::pair<dev_t, ino_t>;

/// Returns the identity of the file that a path leads to.
std::optional<FileIdentity> identityOf(const std::string &path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0)
    return std::nullopt;
  return FileIdentity(status.st_dev, status.st_ino);
}

/// Returns the files of the folder that the run continues from whose arrays are all replaced by
/// results.
std::set<std::string> findReplaced(const OutputFolder &folder) {
  std::set<std::string> results, replaced;
  for (const RunInterface::Array &array : folder.interface.results) {
    results.insert(array.name);
    replaced.insert(folder.inputDir + "/" + arrayFileName(array.name));
  }
  for (const auto &[path, arguments] : folder.tensors)
    if (std::all_of(arguments.begin(), arguments.end(),
                    [&](const std::string &name) { return results.count(name) != 0; }))
      replaced.insert(path);
  return replaced;
}

/// Returns the input files of a run that must not be removed, by identity. A file of the folder
/// that the run continues from may be removed if results have the names of its arrays.
std::map<FileIdentity, std::string> findInputs(const OutputFolder &folder,
                                               const std::string &target) {
  bool isContinued = !folder.inputDir.empty() && identityOf(folder.inputDir) == identityOf(target);
  std::set<std::string> replaced = findReplaced(folder);
  std::map<FileIdentity, std::string> inputs;
  for (const std::string &path : folder.inputs)
    if (!isContinued || !replaced.count(path))
      if (std::optional<FileIdentity> identity = identityOf(path))
        inputs.insert({*identity, path});
  return inputs;
}

/// The names of all files that the run of an older folder may have written.
Expected<std::set<std::string>> namesOfRun(const OutputFolder &folder, const std::string &target) {
  Expected<std::optional<RunRecord>> record = readRunRecord(target);
  if (!record)
    return record.error();
  std::set<std::string> names;
  if (!*record)
    return names;
  const RunInterface &interface = (*record)->interface.value_or(folder.interface);
  for (const RunInterface::Array &array : interface.results)
    names.insert(arrayFileName(array.name));
  names.insert("run.json");
  return names;
}

/// Returns whether a run has written a .safetensors file of a folder, or the index of several. A
/// copy of another output belongs to the user.
bool isTensorFileOfRun(const std::string &path, const std::string &name) {
  if (!isTensorFileName(name))
    return false;
  TensorFiles tensors;
  if (name == tensorIndexFile ? addIndexedTensors(path, tensors) : addTensors(path, tensors))
    return false;
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const auto &each) { return each.second->run() == partOfFolder; });
}

/// Fails if the file at the target must not be replaced.
Error checkOldFile(const OutputFolder &folder, const std::string &target) {
  struct stat status{};
  if (stat(target.c_str(), &status) != 0)
    return errno == ENOENT ? Error::success() : cannotWrite(folder.path, std::strerror(errno));
  auto file = SafetensorsFile::open(target);
  if (!file || (*file)->run().empty() || (*file)->run() == partOfFolder)
    return cannotWrite(folder.path, "the file is not the output of a run");
  std::map<FileIdentity, std::string> inputs = findInputs(folder, target);
  if (auto found = inputs.find(FileIdentity(status.st_dev, status.st_ino)); found != inputs.end())
    return cannotWrite(folder.path, "this run reads values from '" + found->second +
                                        "' that are no results of it");
  return Error::success();
}

/// Fails if a file of the folder at the target must not be replaced.
Error checkOldRun(const OutputFolder &folder, const std::string &target) {
  DIR *open = opendir(target.c_str());
  if (!open)
    return errno == ENOENT ? Error::success() : cannotWrite(folder.path, std::strerror(errno));
  std::set<std::string> entries;
  while (dirent *entry = readdir(open))
    if (std::string name = entry->d_name; name != "." && name != "..")
      entries.insert(name);
  closedir(open);
  if (entries.empty())
    return Error::success();
  std::map<FileIdentity, std::string> inputs = findInputs(folder, target);
  Expected<std::set<std::string>> names = namesOfRun(folder, target);
  if (!names)
    return cannotWrite(folder.path, "the folder is not the output of a run: " + names.message());
  for (const std::string &entry : entries) {
    std::string path = target + "/" + entry;
    if (std::optional<FileIdentity> identity = identityOf(path);
        identity && inputs.count(*identity))
      return cannotWrite(folder.path, "the folder holds '" + entry +
                                          "', which this run reads as '" + inputs[*identity] + "'");
    struct stat status{};
    if (names->empty())
      return cannotWrite(folder.path,
                         "the folder holds '" + entry +
                             "' and no run.json: the folder is not the output of a run");
    bool isOwn = names->count(entry) || isTensorFileOfRun(path, entry);
    if (!isOwn || lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
      return cannotWrite(folder.path,
                         "the folder holds '" + entry + "', which is no result of its run");
  }
  return Error::success();
}

} // namespace

/// Fails if results have equal names, or names that files cannot have.
static Error checkNames(const OutputFolder &folder) {
  std::vector<std::string> names;
  bool hasTensors = isSafetensorsName(folder.path) || folder.shardBytes != 0;
  for (const RunInterface::Array &array : folder.interface.results) {
    names.push_back(array.name);
    if (!hasTensors && arrayFileName(array.name).size() > NAME_MAX)
      return Error::make("the name of result '" + array.name + "' is too long for a file");
  }
  return hasTensors ? checkTensorNames("result", names, folder.names)
                    : checkFileNames("result", names);
}

Error reprise::runtime::checkRunFolder(const OutputFolder &folder) {
  if (Error error = checkNames(folder))
    return cannotWrite(folder.path, error.message());
  std::string target = resolveFolder(folder.path);
  FreshFolder::removeLeftovers(target);
  bool isFile = isSafetensorsName(folder.path);
  if (Error error = isFile ? checkOldFile(folder, target) : checkOldRun(folder, target))
    return error;
  return checkWritable(target, /*asFolder=*/!isFile);
}
