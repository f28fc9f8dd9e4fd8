// reprise: files read whole, and output paths tried before long work starts
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/AtomicFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace reprise;
using namespace reprise::runtime;

Expected<std::vector<uint8_t>> reprise::runtime::readFile(const std::string &path) {
  auto fail = [&] { return Error::make("cannot read '" + path + "': " + std::strerror(errno)); };
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return fail();
  std::vector<uint8_t> bytes;
  uint64_t size = 0;
  struct stat status{};
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
    bytes.resize(status.st_size + 1); // one more, to see the end without growing
  for (;;) {
    if (size == bytes.size())
      bytes.resize(2 * size + 65536);
    ssize_t got = read(descriptor, bytes.data() + size, bytes.size() - size);
    if (got > 0) {
      size += got;
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
  // Devices and pipes are written in place, all others are made beside their target.
  if (exists && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    return Error::success();
  size_t slash = target.rfind('/');
  std::string folder = slash == std::string::npos ? "." : target.substr(0, slash + 1);
  return access(folder.c_str(), W_OK | X_OK) == 0 ? Error::success() : fail(errno);
}
