// reprise: a file that appears under its name only when it is whole
#include "reprise/Runtime/AtomicFile.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace reprise;

static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Returns the start of names of temporary files: beside the target, and short enough for a suffix.
static std::string temporaryPrefix(const std::string &target) {
  size_t name = target.rfind('/') + 1; // 0 without a slash
  return target.substr(0, name) + target.substr(name, NAME_MAX - 32) + ".";
}

/// Follows symbolic links, including a last link whose target does not exist yet. Stops at the
/// links of /proc, which do not contain names.
static std::string followLinks(std::string path) {
  for (int depth = 0; depth < 40 && path.rfind("/proc/", 0) != 0; ++depth) {
    char link[PATH_MAX];
    ssize_t length = readlink(path.c_str(), link, sizeof(link));
    if (length <= 0 || length == static_cast<ssize_t>(sizeof(link)))
      return path;
    std::string next(link, length);
    path = next[0] == '/' ? next : folderOf(path) + "/" + next;
  }
  return path;
}

/// Returns the mode of a new file. umask() can only be read by writing it, which races with other
/// threads, so we read the process's own record instead.
static mode_t newFileMode() {
  mode_t mask = 022;
  if (FILE *status = fopen("/proc/self/status", "re")) {
    char line[256];
    unsigned value;
    while (fgets(line, sizeof(line), status))
      if (sscanf(line, "Umask: %o", &value) == 1)
        mask = value;
    fclose(status);
  }
  return 0666 & ~mask;
}

AtomicFile::AtomicFile(std::string file) : path(std::move(file)) { open(); }

/// Writes through the path itself: standard output, a device, a pipe.
void AtomicFile::openDirectly() {
  direct = true;
  descriptor = path == "-" ? dup(STDOUT_FILENO) : ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0)
    fail(errno);
}

void AtomicFile::open() {
  if (path == "-")
    return openDirectly();
  struct stat info;
  bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return void(fail(EISDIR));
  // A rename needs no right to write the old file, so we check that right ourselves.
  if (exists && access(path.c_str(), W_OK) != 0)
    return void(fail(errno));
  if (exists && !S_ISREG(info.st_mode))
    return openDirectly();
  // /dev/stdout may be a file as well: then the open file is meant, not its name.
  target = followLinks(path);
  if (target.rfind("/proc/", 0) == 0)
    return openDirectly();
  if (!openUnnamed(folderOf(target))) {
    temporary = temporaryPrefix(target) + "XXXXXX";
    descriptor = mkostemp(temporary.data(), O_CLOEXEC);
  }
  if (descriptor < 0) {
    temporary.clear();
    return void(fail(errno));
  }
  fchmod(descriptor, exists ? info.st_mode & 0777 : newFileMode());
}

/// A file without a name vanishes with the process, so that not even a killed run leaves one.
bool AtomicFile::openUnnamed(const std::string &folder) {
  if (access("/proc/self/fd", R_OK) != 0)
    return false;
  descriptor = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  unnamed = descriptor >= 0;
  return unnamed;
}

/// Links the file to a name beside the target. linkat cannot replace a file; rename can.
bool AtomicFile::nameUnnamed() {
  std::string self = "/proc/self/fd/" + std::to_string(descriptor);
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name =
        temporaryPrefix(target) + std::to_string(getpid()) + "-" + std::to_string(attempt);
    if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary = name;
      return true;
    }
    if (errno != EEXIST)
      break;
  }
  return fail(errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor >= 0)
    close(descriptor);
  if (!temporary.empty())
    unlink(temporary.c_str());
}

bool AtomicFile::fail(int code) {
  if (failure.empty())
    failure = "cannot write '" + path + "': " + strerror(code);
  return false;
}

bool AtomicFile::write(const void *data, size_t size) {
  if (!failure.empty())
    return false;
  const char *bytes = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t written = ::write(descriptor, bytes, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return fail(errno);
    bytes += written;
    size -= written;
  }
  return true;
}

bool AtomicFile::commit() {
  if (!failure.empty())
    return false;
  if (descriptor < 0)
    return fail(EBADF);
  if (unnamed && !nameUnnamed())
    return false;
  // Some file systems report a full disk only when the file is closed.
  if (close(std::exchange(descriptor, -1)) != 0)
    return fail(errno);
  if (direct)
    return true;
  if (rename(temporary.c_str(), target.c_str()) != 0)
    return fail(errno);
  temporary.clear();
  return true;
}

std::string reprise::writeFileAtomically(const std::string &path, const void *data, size_t size) {
  AtomicFile file(path);
  file.write(data, size);
  file.commit();
  return file.error();
}
