// reprise: the algorithm for each library call, stored beside the bundle
#ifndef REPRISE_RUNTIME_TUNING_H
#define REPRISE_RUNTIME_TUNING_H

#include "reprise/Runtime/Error.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace reprise::runtime {

/// GPU and the version of one of its libraries.
struct TuningMachine {
  std::string gpu, library, version;
};

/// Chosen algorithms of a bundle, in a JSON file. Each choice is made once; later runs with the
/// same GPU and library version read it. For another GPU or version the choice is made again, and a
/// note tells the user. Several threads may use the object at a time.
class Tuning {
public:
  /// Reads and writes the file `path`. Without a path, choices last for this run only.
  explicit Tuning(std::string path = "") : path(std::move(path)) {}
  /// Returns the path of the file beside a bundle; empty if `bundle` is no file.
  static std::string pathBeside(const std::string &bundle);

  /// Returns the choice for a call; empty if there is none yet. Fails if the file cannot be read,
  /// or is not a file of choices.
  Expected<std::optional<std::vector<uint8_t>>> find(const TuningMachine &machine,
                                                     const std::string &key);
  void choose(const TuningMachine &machine, const std::string &key, std::vector<uint8_t> algorithm);
  /// Writes the file if its content has changed. If the file cannot be written, adds a note.
  void write();

  /// Returns the content of the file; empty if there is none. The text is for `take`, in this or
  /// another process.
  Expected<std::string> readContents() const;
  /// Uses these contents instead of the file.
  Error take(const std::string &contents);
  /// Returns the choices that this run uses, for `add` in the process that writes the file.
  std::string contents();
  /// Adds the choices of another process of this run. For a call with two choices, the choice of
  /// this process stays, and so does its library version: the file has one version for each model
  /// of GPU.
  Error add(const std::string &contents);
  /// Returns lines for the user, each line once.
  std::vector<std::string> takeNotes();
  /// Returns "PATH: the algorithm chosen for 'KEY'", for messages.
  std::string describe(const std::string &key) const;

private:
  using Choices = std::map<std::string, std::vector<uint8_t>>;
  struct Entry {
    std::map<std::string, std::string> libraries; ///< versions by library
    std::map<std::string, Choices> choices;       ///< choices by library
    bool isUsed = false;
  };

  Error read(const std::string &text);
  std::string print() const;
  void merge(const std::string &gpu, const Entry &theirs);
  Entry &open(const TuningMachine &machine);

  std::string path;
  std::mutex mutex;
  std::map<std::string, Entry> entries; ///< entries by GPU
  std::vector<std::string> notes;
  bool isLoaded = false, isChanged = false;
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_TUNING_H
