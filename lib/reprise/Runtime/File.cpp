// reprise: files read whole, and early checks of output paths
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/AtomicFile.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace reprise;
using namespace reprise::runtime;

/// A pipe or a device may never end (/dev/zero).
static constexpr uint64_t largestStream = uint64_t(256) << 20;

Expected<std::vector<uint8_t>> reprise::runtime::readFile(const std::string &path) {
  auto refuse = [&](const std::string &why) {
    return Error::make("cannot read '" + path + "': " + why);
  };
  auto fail = [&] { return refuse(std::strerror(errno)); };
  int descriptor = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return fail();
  std::vector<uint8_t> bytes;
  uint64_t size = 0;
  struct stat status{};
  bool regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  if (regular)
    bytes.resize(status.st_size + 1); // one more, so that the end is seen without growth
  for (;;) {
    if (size == bytes.size())
      bytes.resize(2 * size + 65536);
    ssize_t got = read(descriptor, bytes.data() + size, bytes.size() - size);
    if (got > 0) {
      size += got;
      if (!regular && size > largestStream) {
        close(descriptor);
        return refuse("longer than 256 MiB and no regular file");
      }
    } else if (got == 0 || errno != EINTR) {
      Error error = got == 0 ? Error::success() : Error(fail());
      close(descriptor);
      if (error)
        return error;
      bytes.resize(size);
      return bytes;
    }
  }
}

Error reprise::runtime::writeFile(const std::string &path, const void *data, uint64_t size) {
  std::string failure = writeFileAtomically(path, data, size);
  return failure.empty() ? Error::success() : Error::make(failure);
}

Error reprise::runtime::checkWritable(const std::string &path, bool asFolder) {
  auto fail = [&](int code) {
    return Error::make("cannot write '" + path + "': " + std::strerror(code));
  };
  if (path == "-" && !asFolder)
    return Error::success();
  std::string target = path;
  while (asFolder && target.size() > 1 && target.back() == '/')
    target.pop_back();
  struct stat status{};
  bool exists = stat(target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode) != asFolder)
    return fail(asFolder ? ENOTDIR : EISDIR);
  if (exists && access(target.c_str(), W_OK) != 0)
    return fail(errno);
  // Devices and pipes are written in place; all other files are written beside their target.
  if (exists && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    return Error::success();
  size_t slash = target.rfind('/');
  std::string folder = slash == std::string::npos ? "." : target.substr(0, slash + 1);
  return access(folder.c_str(), W_OK | X_OK) == 0 ? Error::success() : fail(errno);
}

/// Returns the path without links, as far as it exists: a future file has at least an existing
/// folder.
static std::string placeOf(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved))
    return resolved;
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (!realpath(folder.c_str(), resolved))
    return path;
  return std::string(resolved) + "/" + path.substr(slash == std::string::npos ? 0 : slash + 1);
}

bool reprise::runtime::isSameFile(const std::string &first, const std::string &second) {
  if (first == "-" || second == "-")
    return false;
  struct stat one{}, other{};
  bool exists = stat(first.c_str(), &one) == 0;
  if (exists && !S_ISREG(one.st_mode) && !S_ISDIR(one.st_mode))
    return false;
  if (exists && stat(second.c_str(), &other) == 0)
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
  return placeOf(first) == placeOf(second);
}

bool reprise::runtime::isInside(const std::string &path, const std::string &folder) {
  if (path.empty() || folder.empty() || path == "-")
    return false;
  std::string outer = placeOf(folder);
  if (outer.back() != '/')
    outer += '/';
  return placeOf(path).compare(0, outer.size(), outer) == 0;
}
