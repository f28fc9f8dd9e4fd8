// reprise: a folder that replaces another folder at once
#ifndef REPRISE_LIB_RUNTIME_FRESHFOLDER_H
#define REPRISE_LIB_RUNTIME_FRESHFOLDER_H

#include "reprise/Runtime/Error.h"

#include <vector>

namespace reprise::runtime {

/// New folder beside `target`, hidden and locked while its process lives; it is removed with the
/// object unless it has replaced the target.
class FreshFolder {
public:
  /// Check `error()`.
  explicit FreshFolder(const std::string &target);
  ~FreshFolder();
  FreshFolder(const FreshFolder &) = delete;
  FreshFolder &operator=(const FreshFolder &) = delete;

  const std::string &path() const { return name; }
  const std::string &error() const { return failure; }
  /// Gives the folder the target's name. An old folder there is removed, with all files that a run
  /// could have written there. Returns false, with `error()`, if the target is unchanged.
  bool takePlace();
  /// Gives one file of the folder the target's name, where it replaces an old file. Returns false,
  /// with `error()`, if the target is unchanged.
  bool takePlaceWith(const std::string &file);

  /// Removes leftovers of killed processes beside `target`. On a file system that cannot exchange
  /// two folders, a process may have been killed while the target had no name; the target then gets
  /// its name back.
  static void removeLeftovers(const std::string &target);

private:
  bool fail();
  bool swap();

  std::string target, name, failure;
  int lock = -1;
};

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_FRESHFOLDER_H
