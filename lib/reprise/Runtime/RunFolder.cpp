// reprise: the folder that a later run continues from
#include "reprise/Runtime/RunFolder.h"
#include "SafetensorsLayout.h"
#include "reprise/Runtime/Npy.h"

#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>

using namespace reprise::runtime;

std::string reprise::runtime::arrayFileName(const std::string &name) {
  std::string file = name + ".npy";
  std::replace(file.begin(), file.end(), '/', '.');
  return file;
}

Error reprise::runtime::checkFileNames(const std::string &what,
                                       const std::vector<std::string> &names) {
  std::map<std::string, std::string> files;
  for (const std::string &name : names) {
    auto [place, isNew] = files.insert({arrayFileName(name), name});
    if (!isNew)
      return Error::make(what + "s '" + place->second + "' and '" + name +
                         "' have the same file name '" + place->first + "'");
  }
  return Error::success();
}

static Error cannotRead(const std::string &path, const std::string &why) {
  return Error::make("cannot read '" + path + "': " + why);
}

static bool exists(const std::string &path) { return access(path.c_str(), F_OK) == 0; }

namespace {

/// Finds the arguments of a program in a folder, or in .safetensors files.
class ArrayFinder {
public:
  ArrayFinder(const std::string &path, const std::vector<std::string> &arguments,
              const TensorNames &names)
      : path(path), arguments(arguments), names(names) {}

  /// Reads the record, and the headers of .safetensors files.
  Error open() {
    struct stat status{};
    bool isThere = stat(path.c_str(), &status) == 0;
    isFolder = isThere && S_ISDIR(status.st_mode);
    if (isFolder)
      return openFolder();
    constexpr std::string_view end = ".index.json";
    bool isIndex =
        path.size() > end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0;
    if (!isThere || !(isIndex || isSafetensorsName(path)))
      return cannotRead(path, "expected a folder, a .safetensors file or its .index.json");
    return isIndex ? addIndexedTensors(path, tensors) : openFile();
  }

  /// Returns the places of the arguments that may be given.
  Expected<InputFolder> find(const std::function<bool(size_t)> &mayBeGiven) {
    InputFolder found{std::move(record), {}};
    for (size_t argument = 0; argument < arguments.size(); ++argument) {
      if (!mayBeGiven(argument))
        continue;
      std::optional<ArraySource> tensor = findTensor(arguments[argument]);
      std::string file = path + "/" + arrayFileName(arguments[argument]);
      bool hasFile = isFolder && exists(file);
      if (hasFile && tensor)
        return Error::make("cannot continue from '" + path + "': the argument '" +
                           arguments[argument] + "' is in '" + arrayFileName(arguments[argument]) +
                           "' and in '" + tensor->path + "': remove one of them");
      if (hasFile || tensor)
        found.arrays.push_back({argument, tensor ? std::move(*tensor) : ArraySource{file}});
    }
    if (found.arrays.empty() && !found.record)
      return Error::make("cannot continue from '" + path + "': " + describeEmpty());
    return found;
  }

private:
  Error openFolder() {
    if (Error error = checkFileNames("argument", arguments))
      return cannotRead(path, error.message());
    Expected<std::optional<RunRecord>> read = readRunRecord(path);
    if (!read)
      return read.error();
    record = std::move(*read);
    std::string sole = path + "/" + soleTensorFile, index = path + "/" + tensorIndexFile;
    if (exists(sole) && exists(index))
      return cannotRead(path, "the folder holds '" + std::string(soleTensorFile) + "' and '" +
                                  tensorIndexFile + "': name one of them");
    if (exists(sole))
      return addTensors(sole, tensors);
    return exists(index) ? addIndexedTensors(index, tensors) : Error::success();
  }

  Error openFile() {
    auto file = SafetensorsFile::open(path);
    if (!file)
      return file.error();
    for (const auto &[name, tensor] : (*file)->tensors())
      tensors.emplace(name, *file);
    const std::string &run = (*file)->run();
    if (run.empty() || run.front() != '{')
      return Error::success(); // weights from elsewhere, or a part of a folder
    Expected<RunRecord> read = parseRunRecord(run);
    if (!read)
      return cannotRead(path, "the string 'run' of the metadata: " + read.message());
    record = std::move(*read);
    return Error::success();
  }

  std::optional<ArraySource> findTensor(const std::string &argument) const {
    for (const std::string &name : names.of(argument))
      if (auto found = tensors.find(name); found != tensors.end())
        return ArraySource{found->second->path(), found->second, name};
    return std::nullopt;
  }

  std::string describeEmpty() const {
    std::string text = isFolder ? "the folder holds neither run.json nor an argument"
                                : "the file holds no argument";
    if (tensors.empty() || arguments.empty())
      return text;
    return text + ": it has a tensor '" + tensors.begin()->first + "', the program an argument '" +
           arguments.front() + "'; names are mapped by --names=F.json";
  }

  const std::string &path;
  const std::vector<std::string> &arguments;
  const TensorNames &names;
  bool isFolder = false;
  std::optional<RunRecord> record;
  TensorFiles tensors;
};

} // namespace

Expected<InputFolder> reprise::runtime::openRunFolder(const std::string &path,
                                                      const std::vector<std::string> &arguments,
                                                      const std::function<bool(size_t)> &mayBeGiven,
                                                      const TensorNames &names) {
  ArrayFinder finder(path, arguments, names);
  if (Error error = finder.open())
    return error;
  return finder.find(mayBeGiven);
}

Expected<ArraySource> reprise::runtime::findArray(const ArraySource &source,
                                                  const std::string &name,
                                                  const TensorNames &names) {
  const std::string &path = source.path;
  if (source.file || !isSafetensorsName(path))
    return source;
  auto file = SafetensorsFile::open(path);
  if (!file)
    return file.error();
  for (const std::string &tensor : names.of(name))
    if ((*file)->tensors().count(tensor))
      return ArraySource{path, *file, tensor};
  return cannotRead(path, "there is no tensor '" + names.of(name).front() + "' for '" + name + "'");
}

Expected<ArrayFile> reprise::runtime::openArray(const ArraySource &source, DType dtype) {
  return source.file ? source.file->array(source.tensor, dtype) : openNpy(source.path, dtype);
}
