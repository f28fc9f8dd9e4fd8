// reprise: a file that appears under its name only when it is whole
#ifndef REPRISE_RUNTIME_ATOMICFILE_H
#define REPRISE_RUNTIME_ATOMICFILE_H

#include <cstddef>
#include <string>

namespace reprise {

/// Writes a file under a temporary name and renames it at the end. Readers never see a half-written
/// file, and an interrupted run leaves the old file as it was.
///
/// If the path names something other than a regular file (/dev/null, a pipe), the file is written
/// directly, since a rename would replace the device by a file. "-" is standard output. A symbolic
/// link is followed. Errors stick: after the first error every call fails, and `error()` returns
/// the message with the file's name.
class AtomicFile {
public:
  /// Opens the temporary file. The caller checks `error()`, or lets `commit()` fail.
  explicit AtomicFile(std::string path);
  /// Removes the temporary file unless `commit()` was called and succeeded.
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  /// Appends `size` bytes. Returns false on an error.
  bool write(const void *data, size_t size);
  bool write(const std::string &text) { return write(text.data(), text.size()); }

  /// Closes the file and gives it its name. Returns false and leaves the target untouched if this
  /// call or an earlier one failed.
  bool commit();

  /// Returns "cannot write 'PATH': REASON", or an empty string before any error.
  const std::string &error() const { return failure; }

private:
  bool fail(int code);
  void open();
  void openDirectly();
  bool openUnnamed(const std::string &folder);
  bool nameUnnamed();

  std::string path;   // path as the user gave it, for messages
  std::string target; // path with links followed
  // temporary path; empty if the target is written directly, or while the file has no name
  std::string temporary;
  std::string failure;
  int descriptor = -1;
  bool direct = false;
  bool unnamed = false;
};

/// Writes `size` bytes as the file `path`, whole or not at all. Returns an empty string, or the
/// error with the file's name.
std::string writeFileAtomically(const std::string &path, const void *data, size_t size);

} // namespace reprise

#endif // REPRISE_RUNTIME_ATOMICFILE_H
