// reprise: whole files in and out, never half-written
#include "reprise/Runtime/File.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace reprise::runtime;

//===--------------------------------------------------------------------------------------------===//
// Temporaries. A signal handler may neither allocate nor lock: the list only grows, an entry is
// taken out of it by clearing its flag and is used again for a later file.

struct Temporary::Entry {
  std::string path;
  bool isFolder = false;
  std::atomic<bool> used{false};  // some Temporary owns it
  std::atomic<bool> alive{false}; // to be removed
  Entry *next = nullptr;
};

namespace reprise::runtime {
struct TemporaryList {
  static std::atomic<Temporary::Entry *> head;

  static void remove(Temporary::Entry &entry) {
    if (entry.alive.exchange(false))
      (entry.isFolder ? rmdir : unlink)(entry.path.c_str());
  }

  static void onSignal(int signal) {
    // Files before the folders that hold them.
    for (bool folders : {false, true})
      for (Temporary::Entry *entry = head.load(); entry; entry = entry->next)
        if (entry->isFolder == folders)
          remove(*entry);
    // SA_RESETHAND has put the default action back.
    raise(signal);
  }

  static Temporary::Entry *take() {
    for (Temporary::Entry *entry = head.load(); entry; entry = entry->next)
      if (!entry->used.exchange(true))
        return entry;
    auto *entry = new Temporary::Entry;
    entry->used = true;
    entry->next = head.load();
    while (!head.compare_exchange_weak(entry->next, entry)) {
    }
    return entry;
  }
};
std::atomic<Temporary::Entry *> TemporaryList::head{nullptr};
} // namespace reprise::runtime

void reprise::runtime::removeTemporariesOnSignal() {
  struct sigaction action{};
  action.sa_handler = TemporaryList::onSignal;
  action.sa_flags = SA_RESETHAND;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old{};
    // A tool started by nohup goes on ignoring SIGHUP.
    if (sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaction(signal, &action, nullptr);
  }
}

Temporary Temporary::at(const std::string &path, bool isFolder) {
  Temporary temporary;
  temporary.entry = TemporaryList::take();
  temporary.entry->path = path;
  temporary.entry->isFolder = isFolder;
  temporary.entry->alive = true;
  return temporary;
}

Temporary Temporary::beside(const std::string &target, bool isFolder) {
  static std::atomic<unsigned> counter{0};
  size_t slash = target.rfind('/');
  std::string folder = slash == std::string::npos ? "" : target.substr(0, slash + 1);
  // Short, so that a long name of the target is the target's own problem.
  return at(folder + ".reprise-" + std::to_string(getpid()) + "-" + std::to_string(counter++) +
                ".tmp",
            isFolder);
}

Temporary::~Temporary() {
  if (!entry)
    return;
  TemporaryList::remove(*entry);
  entry->used = false;
}

const std::string &Temporary::path() const { return entry->path; }

void Temporary::keep() {
  if (entry)
    entry->alive = false;
}

//===--------------------------------------------------------------------------------------------===//
// Reading

Expected<std::vector<uint8_t>> reprise::runtime::readFile(const std::string &path) {
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return Error::make(path + ": cannot be opened: " + std::strerror(errno));
  std::vector<uint8_t> bytes;
  uint64_t size = 0;
  struct stat status{};
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
    bytes.resize(status.st_size + 1); // one more, to see the end without growing
  for (;;) {
    if (size == bytes.size())
      bytes.resize(2 * size + 65536);
    ssize_t got = read(descriptor, bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0) {
      int code = errno;
      close(descriptor);
      bytes.resize(size);
      if (got < 0)
        return Error::make(path + ": cannot be read: " + std::strerror(code));
      return bytes;
    }
    size += got;
  }
}

//===--------------------------------------------------------------------------------------------===//
// Writing

static Error cannotWrite(const std::string &path, const std::string &why) {
  return Error::make(path + ": cannot be written: " + why);
}

/// Where symbolic links lead: renaming over a link would replace the link.
static std::string resolve(const std::string &path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) ? resolved : path;
}

FileWriter::FileWriter(const std::string &path) : path(path), target(resolve(path)) {
  buffer.reserve(1 << 16);
  struct stat status{};
  bool exists = stat(target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    failure = std::strerror(EISDIR);
    return;
  }
  inPlace = exists && !S_ISREG(status.st_mode);
  if (inPlace) {
    descriptor = open(target.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    temporary = Temporary::beside(target, false);
    descriptor = open(temporary.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (descriptor < 0)
    fail();
}

FileWriter::~FileWriter() {
  if (descriptor >= 0)
    close(descriptor);
}

void FileWriter::fail() {
  if (failure.empty())
    failure = std::strerror(errno);
}

void FileWriter::writeAll(const char *data, uint64_t size) {
  while (size != 0 && failure.empty()) {
    ssize_t done = write(descriptor, data, size);
    if (done < 0) {
      if (errno != EINTR)
        fail();
      continue;
    }
    data += done;
    size -= done;
  }
}

void FileWriter::flush() {
  writeAll(buffer.data(), buffer.size());
  buffer.clear();
}

void FileWriter::append(const void *data, uint64_t size) {
  const char *bytes = static_cast<const char *>(data);
  if (buffer.size() + size > buffer.capacity())
    flush();
  if (size > buffer.capacity())
    writeAll(bytes, size);
  else
    buffer.insert(buffer.end(), bytes, bytes + size);
}

Error FileWriter::commit() {
  flush();
  if (descriptor >= 0 && close(std::exchange(descriptor, -1)) != 0)
    fail();
  if (failure.empty() && !inPlace) {
    if (rename(temporary.path().c_str(), target.c_str()) == 0)
      temporary.keep();
    else
      fail();
  }
  return failure.empty() ? Error::success() : cannotWrite(path, failure);
}

Error reprise::runtime::writeFile(const std::string &path, const void *data, uint64_t size) {
  FileWriter writer(path);
  writer.append(data, size);
  return writer.commit();
}

Error reprise::runtime::writeFile(const std::string &path, const std::string &text) {
  return writeFile(path, text.data(), text.size());
}

Error reprise::runtime::checkWritable(const std::string &path) {
  std::string target = resolve(path);
  while (target.size() > 1 && target.back() == '/')
    target.pop_back();
  struct stat status{};
  bool device =
      stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  size_t slash = target.rfind('/');
  std::string folder = slash == std::string::npos ? "." : target.substr(0, slash + 1);
  bool good = device ? access(target.c_str(), W_OK) == 0 : access(folder.c_str(), W_OK | X_OK) == 0;
  return good ? Error::success() : cannotWrite(path, std::strerror(errno));
}
