// reprise: the folder that a run leaves and another goes on from
#include "reprise/Runtime/RunFolder.h"
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/Hash.h"
#include "reprise/Runtime/Json.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

using namespace reprise::runtime;

namespace {

/// Holds back the signals that end a tool while files are moved about. When it goes away, a signal
/// that came in between does its work.
class SignalHold {
public:
  SignalHold() {
    sigemptyset(&held);
    for (int signal : {SIGINT, SIGTERM, SIGHUP})
      sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &before);
  }
  ~SignalHold() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  bool interrupted() const {
    sigset_t pending;
    sigpending(&pending);
    for (int signal : {SIGINT, SIGTERM, SIGHUP})
      if (sigismember(&pending, signal) && !sigismember(&before, signal))
        return true;
    return false;
  }

private:
  sigset_t held, before;
};

Error cannotWrite(const std::string &path, const std::string &why) {
  return Error::make("cannot write '" + path + "': " + why);
}

bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Where `path` leads, without slashes at its end, so that a rename meets the folder itself.
std::string resolveFolder(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) ? resolved : path;
}

/// The files of an older run's folder; an error if it is something else, or holds something else.
Expected<std::vector<std::string>> oldRun(const std::string &path) {
  std::vector<std::string> names;
  DIR *folder = opendir(path.c_str());
  if (!folder) {
    if (errno == ENOENT)
      return names;
    return cannotWrite(path, std::strerror(errno));
  }
  std::string other;
  while (dirent *entry = readdir(folder)) {
    std::string name = entry->d_name;
    if (name == "." || name == "..")
      continue;
    if (name != "run.json" && !endsWith(name, ".npy"))
      other = name;
    names.push_back(name);
  }
  closedir(folder);
  if (!other.empty())
    return cannotWrite(path, "the folder holds '" + other + "', which is no part of a run");
  return names;
}

Expected<std::string> makeFolderBeside(const std::string &target) {
  for (unsigned attempt = 0; attempt < 100; ++attempt) {
    std::string name = target + "." + std::to_string(getpid()) + "-" + std::to_string(attempt);
    if (mkdir(name.c_str(), 0777) == 0)
      return name;
    if (errno != EEXIST)
      break;
  }
  return Error::make(std::strerror(errno));
}

void removeFolder(const std::string &path, const std::vector<std::string> &names) {
  for (const std::string &name : names)
    unlink((path + "/" + name).c_str());
  rmdir(path.c_str());
}

/// Gives the folder `from` the name `to`; what was there goes to `from`.
bool swapFolders(const std::string &from, const std::string &to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0)
    return true;
  if (errno != EINVAL && errno != ENOSYS)
    return false;
  // A file system that cannot exchange: for a moment there is no folder, but never a mixture.
  std::string aside = from + ".old";
  if (rename(to.c_str(), aside.c_str()) != 0)
    return false;
  if (rename(from.c_str(), to.c_str()) != 0) {
    int code = errno;
    rename(aside.c_str(), to.c_str());
    errno = code;
    return false;
  }
  return rename(aside.c_str(), from.c_str()) == 0;
}

std::string stateText(const RunState &state) {
  return "{\"seed\": " + std::to_string(state.seed) +
         ", \"next_offset\": " + std::to_string(state.offset) +
         ", \"next_step\": " + std::to_string(state.step) + "}\n";
}

/// Writes all files; `done` has the names of those that exist.
Error writeFiles(const std::string &folder, const std::vector<ArrayRef> &arrays,
                 const RunState &next, const SignalHold &hold, std::vector<std::string> &done) {
  for (const ArrayRef &array : arrays) {
    done.push_back(arrayFileName(array.name));
    if (Error error = writeNpy(folder + "/" + done.back(), array))
      return error;
    if (hold.interrupted())
      return Error::make("interrupted");
  }
  done.push_back("run.json");
  std::string text = stateText(next);
  return writeFile(folder + "/run.json", text.data(), text.size());
}

} // namespace

Error reprise::runtime::checkRunState(const RunState &state) {
  if (state.offset < 0 || state.offset % 4 != 0)
    return Error::make("the offset " + std::to_string(state.offset) + " is no multiple of 4");
  if (state.step < 0)
    return Error::make("the step " + std::to_string(state.step) + " is negative");
  return Error::success();
}

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
      return Error::make(what + "s '" + place->second + "' and '" + name + "' both are '" +
                         place->first + "'");
  }
  return Error::success();
}

Error reprise::runtime::checkRunFolder(const std::string &path,
                                       const std::vector<std::string> &names) {
  for (const std::string &name : names)
    if (arrayFileName(name).size() > NAME_MAX)
      return cannotWrite(path, "the name of result '" + name + "' is too long for a file");
  if (Error error = checkFileNames("result", names))
    return cannotWrite(path, error.message());
  std::string target = resolveFolder(path);
  Expected<std::vector<std::string>> old = oldRun(target);
  if (!old)
    return old.error();
  return checkWritable(target, /*asFolder=*/true);
}

Error reprise::runtime::writeRunFolder(const std::string &path, const std::vector<ArrayRef> &arrays,
                                       const RunState &next) {
  std::vector<std::string> names;
  for (const ArrayRef &array : arrays)
    names.push_back(array.name);
  if (Error error = checkRunFolder(path, names))
    return error;
  std::string target = resolveFolder(path);
  SignalHold hold;
  Expected<std::vector<std::string>> old = oldRun(target);
  if (!old)
    return old.error();
  Expected<std::string> made = makeFolderBeside(target);
  if (!made)
    return cannotWrite(path, made.message());
  const std::string &fresh = *made;
  std::vector<std::string> done;
  if (Error error = writeFiles(fresh, arrays, next, hold, done)) {
    removeFolder(fresh, done);
    // The user knows the folder by the name that it was to get.
    std::string text = error.message();
    if (size_t at = text.find(fresh); at != std::string::npos)
      text.replace(at, fresh.size(), path);
    return Error::make(text);
  }
  bool replaces = access(target.c_str(), F_OK) == 0;
  if (!(replaces ? swapFolders(fresh, target) : rename(fresh.c_str(), target.c_str()) == 0)) {
    int code = errno;
    removeFolder(fresh, done);
    return cannotWrite(path, std::strerror(code));
  }
  if (replaces)
    removeFolder(fresh, *old);
  return Error::success();
}

Expected<std::optional<RunState>> reprise::runtime::readRunState(const std::string &folder) {
  std::string path = folder + "/run.json";
  if (access(path.c_str(), F_OK) != 0 && errno == ENOENT)
    return std::optional<RunState>();
  Expected<std::vector<uint8_t>> bytes = readFile(path);
  if (!bytes)
    return bytes.error();
  auto fail = [&](const std::string &why) {
    return Error::make("cannot read '" + path + "': " + why);
  };
  auto numbers = parseJsonIntegers(std::string(bytes->begin(), bytes->end()));
  if (!numbers)
    return fail(numbers.message());
  RunState state;
  const std::pair<const char *, int64_t *> fields[] = {
      {"seed", &state.seed}, {"next_offset", &state.offset}, {"next_step", &state.step}};
  for (auto [key, into] : fields) {
    auto number = numbers->find(key);
    if (number == numbers->end())
      return fail(std::string("it has no integer '") + key + "'");
    *into = number->second;
  }
  if (Error error = checkRunState(state))
    return fail(error.message());
  return std::optional<RunState>(state);
}

uint64_t reprise::runtime::hashArrays(const std::vector<ArrayRef> &arrays) {
  constexpr uint64_t chunkBytes = 1 << 16;
  std::vector<uint64_t> chunk(chunkBytes / 8);
  Hasher hasher;
  for (const ArrayRef &array : arrays) {
    hasher.update(array.name);
    hasher.update(dtypeName(array.dtype));
    hasher.update(array.shape.data(), array.shape.size() * sizeof(int64_t));
    const char *data = static_cast<const char *>(array.data);
    uint64_t bytes = array.bytes();
    for (uint64_t at = 0; at < bytes; at += chunkBytes) {
      uint64_t part = std::min(bytes - at, chunkBytes);
      std::memcpy(chunk.data(), data + at, part);
      canonicalizeNaNs(array.dtype, chunk.data(), part / elementBytes(array.dtype));
      hasher.words(chunk.data(), part);
    }
    hasher.mix(bytes);
  }
  return hasher.value();
}

std::string reprise::runtime::hashText(uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}
