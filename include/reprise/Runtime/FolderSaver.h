// reprise: saves of run folders, also behind the steps that follow
#ifndef REPRISE_RUNTIME_FOLDERSAVER_H
#define REPRISE_RUNTIME_FOLDERSAVER_H

#include "reprise/Runtime/RunFolder.h"

namespace reprise::runtime {

/// Saves of one run. A save behind the steps copies the arrays, and a thread writes the copy. One
/// save is outstanding at most. If there are several processes, all of them make the same calls.
class FolderSaver {
public:
  /// `ranks` is null for one process.
  explicit FolderSaver(Ranks *ranks);
  /// Abandons an outstanding save: the old folder stays.
  ~FolderSaver();

  /// Writes the folder before it returns, as writeRunFolder does, after an outstanding save.
  Error save(const OutputFolder &folder, const std::vector<ArrayRef> &arrays, const RunState &next);
  /// Copies the arrays and begins to write the copy, after an outstanding save. The folder appears
  /// with poll() or finish(), which return errors of the thread.
  Error begin(const OutputFolder &folder, const std::vector<ArrayRef> &arrays,
              const RunState &next);
  /// Gives an outstanding save its place if all processes have written their arrays.
  Error poll();
  /// Waits for an outstanding save, and gives it its place.
  Error finish();

  /// Returns whether a save is outstanding.
  bool isBusy() const { return outstanding != nullptr; }
  /// Returns the bytes of the largest copy, which stay allocated for the next one.
  uint64_t snapshotBytes() const { return room; }

private:
  struct Outstanding;
  struct Free {
    void operator()(uint8_t *memory) const;
  };
  Error makeRoom(uint64_t bytes);
  Error copyArrays(Outstanding &save, const std::vector<ArrayRef> &arrays);

  Ranks *const ranks;
  std::unique_ptr<uint8_t, Free> copy; ///< memory of the copy, which the next save uses again
  uint64_t room = 0;                   ///< bytes of the memory
  std::unique_ptr<Outstanding> outstanding;
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_FOLDERSAVER_H
