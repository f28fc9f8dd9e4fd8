// reprise: whole files in and out, never half-written
#ifndef REPRISE_RUNTIME_FILE_H
#define REPRISE_RUNTIME_FILE_H

#include "reprise/Runtime/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reprise::runtime {

/// Everything in `path`; an error names the file.
Expected<std::vector<uint8_t>> readFile(const std::string &path);

/// Replaces `path`, or leaves it as it was and nothing beside it.
Error writeFile(const std::string &path, const void *data, uint64_t size);
Error writeFile(const std::string &path, const std::string &text);

/// An error if a file or folder could not be made at `path`: lets long work fail before it starts.
Error checkWritable(const std::string &path);

/// Call once from a tool's main: SIGINT, SIGTERM and SIGHUP then remove temporary files and folders
/// before they end the process.
void removeTemporariesOnSignal();

/// A file or empty folder that goes away with this object, or with the process on a signal.
class Temporary {
public:
  Temporary() = default;
  Temporary(Temporary &&other) noexcept : entry(std::exchange(other.entry, nullptr)) {}
  Temporary &operator=(Temporary &&other) noexcept {
    std::swap(entry, other.entry);
    return *this;
  }
  ~Temporary();
  /// An unused name in the folder of `target`. The caller creates it.
  static Temporary beside(const std::string &target, bool isFolder);
  /// A given path, e.g. inside of a temporary folder.
  static Temporary at(const std::string &path, bool isFolder);
  const std::string &path() const;
  /// It has become what it was made for: no longer removed.
  void keep();

private:
  struct Entry;
  friend struct TemporaryList;
  Entry *entry = nullptr;
};

/// Writes a file through a buffer, beside its target until commit(). Devices and pipes
/// (/dev/stdout) are written in place. The first failure sticks and is reported by commit();
/// without a successful commit() the target stays as it was.
class FileWriter {
public:
  explicit FileWriter(const std::string &path);
  ~FileWriter();
  FileWriter(const FileWriter &) = delete;
  FileWriter &operator=(const FileWriter &) = delete;

  void append(const void *data, uint64_t size);
  void append(const std::string &text) { append(text.data(), text.size()); }
  Error commit();

private:
  void flush();
  void writeAll(const char *data, uint64_t size);
  void fail();

  std::string path;
  std::string target; // where symbolic links lead
  Temporary temporary;
  std::vector<char> buffer;
  std::string failure;
  int descriptor = -1;
  bool inPlace = false;
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_FILE_H
