// reprise: the folder that a run writes and a later run continues from
#include "reprise/Runtime/RunFolder.h"
#include "FreshFolder.h"
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/Hash.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <map>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

using namespace reprise::runtime;

namespace {

/// Guard that delays the signals that end a tool while files are moved. Its destructor delivers
/// signals that came meanwhile.
class SignalHold {
public:
  SignalHold() {
    sigemptyset(&held);
    for (int signal : {SIGINT, SIGTERM, SIGHUP})
      sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &before);
  }
  ~SignalHold() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  /// Returns whether a pending signal would end the process. A signal with a handler would not: its
  /// tool wants the results.
  bool interrupted() const {
    sigset_t pending;
    sigpending(&pending);
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction action = {};
      sigaction(signal, nullptr, &action);
      if (sigismember(&pending, signal) && !sigismember(&before, signal) &&
          action.sa_handler == SIG_DFL)
        return true;
    }
    return false;
  }

private:
  sigset_t held, before;
};

Error cannotWrite(const std::string &path, const std::string &why) {
  return Error::make("cannot write '" + path + "': " + why);
}

/// Returns the destination of `path`, without slashes at its end, so that a rename acts on the
/// folder itself.
std::string resolveFolder(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) ? resolved : path;
}

using FileIdentity = std::pair<dev_t, ino_t>;

/// Returns the identity of the file that a path leads to.
std::optional<FileIdentity> identityOf(const std::string &path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0)
    return std::nullopt;
  return FileIdentity(status.st_dev, status.st_ino);
}

/// Returns the input files of a run that must not be removed, by identity. A file of the folder
/// that the run continues from may be removed if a result has its name.
std::map<FileIdentity, std::string> findInputs(const OutputFolder &folder,
                                               const std::string &target) {
  bool isContinued = !folder.inputDir.empty() && identityOf(folder.inputDir) == identityOf(target);
  std::set<std::string> replaced;
  for (const RunInterface::Array &array : folder.interface.results)
    replaced.insert(folder.inputDir + "/" + arrayFileName(array.name));
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

/// Fails if a file at the target must not be replaced.
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
    if (!names->count(entry) || lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
      return cannotWrite(folder.path,
                         "the folder holds '" + entry + "', which is no result of its run");
  }
  return Error::success();
}

/// Writer of a folder beside the target. With several processes, rank 0 creates it.
class FolderWriter {
public:
  explicit FolderWriter(const OutputFolder &folder) : folder(folder) {}

  Error open() {
    if (Error error = checkRunFolder(folder))
      return error;
    fresh.emplace(resolveFolder(folder.path));
    into = fresh->path();
    return fresh->error().empty() ? Error::success() : cannotWrite(folder.path, fresh->error());
  }
  /// Joins the folder that another process created.
  void join(const std::string &path) { into = path; }
  const std::string &path() const { return into; }

  Error add(const std::vector<ArrayRef> &arrays) const {
    for (size_t i = 0; i < arrays.size();) {
      std::vector<ArrayRef> parts;
      do
        parts.push_back(arrays[i++]);
      while (i < arrays.size() && arrays[i].firstRow != 0 && arrays[i].name == parts[0].name);
      if (Error error = addArray(parts))
        return underItsName(error);
      if (hold.interrupted())
        return Error::make("interrupted");
    }
    return Error::success();
  }
  Error finish(const RunState &next) {
    std::string text = runRecordText(next, folder.interface);
    if (Error error = writeFile(into + "/run.json", text.data(), text.size()))
      return underItsName(error);
    return fresh->takePlace() ? Error::success() : cannotWrite(folder.path, fresh->error());
  }

private:
  /// Adds one array, or the parts of it that this process has.
  Error addArray(const std::vector<ArrayRef> &parts) const {
    std::string path = into + "/" + arrayFileName(parts.front().name);
    int64_t next = 0;
    bool isWhole = parts.back().endsWhole();
    for (const ArrayRef &part : parts) {
      isWhole &= part.firstRow == next;
      next += part.wholeRows ? part.shape[0] : 0;
    }
    if (isWhole)
      return writeNpyParts(path, parts);
    for (const ArrayRef &part : parts)
      if (Error error = writeNpyRows(path, part))
        return error;
    return Error::success();
  }
  /// Replaces the temporary name in an error by the folder's final name, which the user knows.
  Error underItsName(const Error &error) const {
    std::string text = error.message();
    if (size_t at = text.find(into); at != std::string::npos)
      text.replace(at, into.size(), folder.path);
    return Error::make(text);
  }

  const OutputFolder &folder;
  SignalHold hold;
  std::optional<FreshFolder> fresh;
  std::string into;
};

Error writeAlone(FolderWriter &writer, const std::vector<ArrayRef> &arrays, const RunState &next) {
  if (Error error = writer.open())
    return error;
  if (Error error = writer.add(arrays))
    return error;
  return writer.finish(next);
}

/// Writes the arrays of all processes, which share the file system.
Error writeTogether(FolderWriter &writer, const std::vector<ArrayRef> &arrays, const RunState &next,
                    Ranks &ranks) {
  if (Error error = ranks.agree(ranks.isFirst() ? writer.open() : Error::success()))
    return error;
  auto paths = ranks.exchange(writer.path());
  if (!paths)
    return paths.error();
  if (!ranks.isFirst())
    writer.join(paths->front());
  if (Error error = ranks.agree(writer.add(arrays)))
    return error;
  return ranks.agree(ranks.isFirst() ? writer.finish(next) : Error::success());
}

} // namespace

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

Expected<InputFolder>
reprise::runtime::openRunFolder(const std::string &path, const std::vector<std::string> &arguments,
                                const std::function<bool(size_t)> &mayBeGiven) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return Error::make("cannot read '" + path + "': expected a folder");
  if (Error error = checkFileNames("argument", arguments))
    return Error::make("cannot read '" + path + "': " + error.message());
  Expected<std::optional<RunRecord>> record = readRunRecord(path);
  if (!record)
    return record.error();
  InputFolder folder{std::move(*record), {}};
  for (size_t argument = 0; argument < arguments.size(); ++argument) {
    std::string file = path + "/" + arrayFileName(arguments[argument]);
    if (mayBeGiven(argument) && access(file.c_str(), F_OK) == 0)
      folder.arrays.push_back({argument, std::move(file)});
  }
  if (folder.arrays.empty() && !folder.record)
    return Error::make("cannot continue from '" + path +
                       "': the folder holds neither run.json nor an argument");
  return folder;
}

Error reprise::runtime::checkRunFolder(const OutputFolder &folder) {
  std::vector<std::string> names;
  for (const RunInterface::Array &array : folder.interface.results) {
    names.push_back(array.name);
    if (arrayFileName(array.name).size() > NAME_MAX)
      return cannotWrite(folder.path,
                         "the name of result '" + array.name + "' is too long for a file");
  }
  if (Error error = checkFileNames("result", names))
    return cannotWrite(folder.path, error.message());
  std::string target = resolveFolder(folder.path);
  FreshFolder::removeLeftovers(target);
  if (Error error = checkOldRun(folder, target))
    return error;
  return checkWritable(target, /*asFolder=*/true);
}

Error reprise::runtime::writeRunFolder(const OutputFolder &folder,
                                       const std::vector<ArrayRef> &arrays, const RunState &next,
                                       Ranks *ranks) {
  FolderWriter writer(folder);
  return ranks ? writeTogether(writer, arrays, next, *ranks) : writeAlone(writer, arrays, next);
}

void ArrayHasher::add(const ArrayRef &array) {
  if (array.firstRow == 0) {
    std::vector<int64_t> shape = array.wholeShape();
    hasher.update(array.name);
    hasher.update(dtypeName(array.dtype));
    hasher.update(shape.data(), shape.size() * sizeof(int64_t));
  }
  addBytes(array);
  if (array.endsWhole())
    hasher.mix(array.wholeBytes());
}

/// Adds whole words, so that the hash equals that of an array in one piece.
void ArrayHasher::addBytes(const ArrayRef &array) {
  constexpr uint64_t chunkBytes = 1 << 16;
  std::vector<uint64_t> chunk(chunkBytes / 8 + 1);
  char *begin = reinterpret_cast<char *>(chunk.data());
  const char *data = static_cast<const char *>(array.data);
  uint64_t bytes = array.bytes();
  for (uint64_t at = 0; at < bytes; at += chunkBytes) {
    uint64_t part = std::min(bytes - at, chunkBytes), filled = left.size();
    std::memcpy(begin, left.data(), filled);
    std::memcpy(begin + filled, data + at, part);
    canonicalizeNaNs(array.dtype, begin + filled, part / elementBytes(array.dtype));
    bool isEnd = array.endsWhole() && at + part == bytes;
    uint64_t ready = isEnd ? filled + part : (filled + part) / 8 * 8;
    hasher.words(begin, ready);
    left.assign(begin + ready, filled + part - ready);
  }
}

std::string ArrayHasher::text() const { return hashText(hasher.value()) + left; }

void ArrayHasher::goOn(const std::string &text) {
  hasher = Hasher(std::strtoull(text.substr(0, 16).c_str(), nullptr, 16));
  left = text.substr(std::min<size_t>(text.size(), 16));
}

uint64_t reprise::runtime::hashArrays(const std::vector<ArrayRef> &arrays) {
  ArrayHasher hasher;
  for (const ArrayRef &array : arrays)
    hasher.add(array);
  return hasher.value();
}

std::string reprise::runtime::hashText(uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}
