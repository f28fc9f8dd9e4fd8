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

Error reprise::runtime::checkWritable(const std::string &path) {
  std::string target = path;
  while (target.size() > 1 && target.back() == '/')
    target.pop_back();
  struct stat status{};
  bool good = true;
  if (target != "-" && stat(target.c_str(), &status) == 0)
    good = access(target.c_str(), W_OK) == 0;
  if (good && target != "-" && (status.st_mode == 0 || !S_ISCHR(status.st_mode))) {
    size_t slash = target.rfind('/');
    std::string folder = slash == std::string::npos ? "." : target.substr(0, slash + 1);
    good = access(folder.c_str(), W_OK | X_OK) == 0;
  }
  if (good)
    return Error::success();
  return Error::make("cannot write '" + path + "': " + std::strerror(errno));
}
