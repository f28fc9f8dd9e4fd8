// reprise: which algorithm a library computes each call with, kept beside the bundle
#ifndef REPRISE_RUNTIME_TUNING_H
#define REPRISE_RUNTIME_TUNING_H

#include "reprise/Runtime/Error.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace reprise::runtime {

/// A GPU and the version of one of its libraries.
struct TuningMachine {
  std::string gpu, library, version;
};

/// The choices of a bundle, in a file of JSON. Each is made once, and later runs of the same GPU
/// and version of the library read it. What was chosen on another one is chosen again, and a note
/// says so. For several threads at a time.
class Tuning {
public:
  /// Without a path the choices are those of this run alone.
  explicit Tuning(std::string path = "") : path(std::move(path)) {}
  /// The file beside a bundle, or none if that is no file.
  static std::string pathBeside(const std::string &bundle);

  /// What was chosen for a call; nothing if it is still to be chosen. Errors: the file cannot be
  /// read, or is none of these.
  Expected<std::optional<std::vector<uint8_t>>> find(const TuningMachine &machine,
                                                     const std::string &key);
  void choose(const TuningMachine &machine, const std::string &key, std::vector<uint8_t> algorithm);
  /// Writes the file if it has become another one. One that cannot be written is a note.
  void write();

  /// What the file holds; nothing if there is none. For `take`, here or in other processes.
  Expected<std::string> readContents() const;
  /// Uses these contents, and reads the file no more.
  Error take(const std::string &contents);
  /// What this run uses, for `add` in the process that writes the file.
  std::string contents();
  /// Adds what another process of this run uses. Of a call that both have, the choice here stays,
  /// and so does the version of a library: the file has one for each model of GPU.
  Error add(const std::string &contents);
  /// Lines for the user, each given once.
  std::vector<std::string> takeNotes();
  /// "PATH: what was chosen for 'KEY'", for messages.
  std::string describe(const std::string &key) const;

private:
  using Choices = std::map<std::string, std::vector<uint8_t>>;
  struct Entry {
    std::map<std::string, std::string> libraries; ///< versions by name
    std::map<std::string, Choices> choices;       ///< by library
    bool isUsed = false;
  };

  Error read(const std::string &text);
  std::string print() const;
  void merge(const std::string &gpu, const Entry &theirs);
  Entry &open(const TuningMachine &machine);

  std::string path;
  std::mutex mutex;
  std::map<std::string, Entry> entries; ///< by GPU
  std::vector<std::string> notes;
  bool isLoaded = false, isChanged = false;
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_TUNING_H
