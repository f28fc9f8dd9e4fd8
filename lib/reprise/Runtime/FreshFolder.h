// reprise: a folder that takes the place of another at once
#ifndef REPRISE_LIB_RUNTIME_FRESHFOLDER_H
#define REPRISE_LIB_RUNTIME_FRESHFOLDER_H

#include "reprise/Runtime/Error.h"

#include <vector>

namespace reprise::runtime {

/// A new folder beside `target`, hidden and locked while its process lives; it vanishes with the
/// object unless it has taken the target's place.
class FreshFolder {
public:
  /// Check `error()`.
  explicit FreshFolder(const std::string &target);
  ~FreshFolder();
  FreshFolder(const FreshFolder &) = delete;
  FreshFolder &operator=(const FreshFolder &) = delete;

  const std::string &path() const { return name; }
  const std::string &error() const { return failure; }
  /// Gives the folder the target's name. A folder that was there is removed, with all files that a
  /// run could have written there. Returns false, with `error()`, if nothing has changed.
  bool takePlace();

  /// Removes what killed processes have left beside `target`. A process that was killed while the
  /// target had no name, on a file system that cannot exchange two folders, gets it back its name.
  static void removeLeftovers(const std::string &target);

private:
  bool fail();
  bool swap();

  std::string target, name, failure;
  int lock = -1;
};

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_FRESHFOLDER_H
