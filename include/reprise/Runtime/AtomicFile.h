// reprise: a file that appears under its name only when it is whole
#ifndef REPRISE_RUNTIME_ATOMICFILE_H
#define REPRISE_RUNTIME_ATOMICFILE_H

#include <cstddef>
#include <string>

namespace reprise {

/// Writes a file beside its target and renames it when all went well, so that no reader ever sees
/// a half-written one and an interrupted run leaves the old file as it was.
///
/// A path that names something else than a regular file (/dev/null, a pipe) is written directly,
/// since a rename would replace the device by a file; so is "-", standard output. A symbolic link
/// is followed. Errors stick: after the first one every call fails, and `error()` tells what
/// happened, with the file's name.
class AtomicFile {
public:
  /// Opens the temporary file. Check `error()`, or wait for `commit()` to fail.
  explicit AtomicFile(std::string path);
  /// Removes the temporary file unless `commit()` was called and succeeded.
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  /// Appends `size` bytes. Returns false on an error.
  bool write(const void *data, size_t size);
  bool write(const std::string &text) { return write(text.data(), text.size()); }

  /// Closes the file and gives it its name. Returns false, and leaves the target untouched, if
  /// this or anything before it failed.
  bool commit();

  /// Empty while all is well, else "cannot write 'PATH': REASON".
  const std::string &error() const { return failure; }

private:
  bool fail(int code);
  void open();
  void openDirectly();
  bool openUnnamed(const std::string &folder);
  bool nameUnnamed();

  std::string path;      // as the user gave it, for messages
  std::string target;    // with links followed
  std::string temporary; // empty if written directly, or while the file has no name
  std::string failure;
  int descriptor = -1;
  bool direct = false;
  bool unnamed = false;
};

/// Writes `size` bytes as the file `path`, whole or not at all. Returns an empty string, or what
/// went wrong, with the file's name.
std::string writeFileAtomically(const std::string &path, const void *data, size_t size);

} // namespace reprise

#endif // REPRISE_RUNTIME_ATOMICFILE_H
