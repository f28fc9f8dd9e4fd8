// reprise: the writer of run folders, alone or as one of several processes
#ifndef REPRISE_LIB_RUNTIME_FOLDERWRITER_H
#define REPRISE_LIB_RUNTIME_FOLDERWRITER_H

#include "FreshFolder.h"
#include "SafetensorsLayout.h"

#include <atomic>
#include <csignal>

namespace reprise::runtime {

/// Guard that delays the signals that end a tool while files are moved. Its destructor delivers
/// signals that came meanwhile.
class SignalHold {
public:
  SignalHold();
  ~SignalHold();
  SignalHold(const SignalHold &) = delete;
  SignalHold &operator=(const SignalHold &) = delete;
  /// Returns whether a pending signal would end the process. A signal with a handler would not: its
  /// tool wants the results.
  bool interrupted() const;

private:
  sigset_t held, before;
};

/// Writer of a folder beside the target. All processes make all calls; only add() may differ in
/// time. With several processes, rank 0 makes the folder and moves it.
class FolderWriter {
public:
  /// `ranks` is null for one process.
  FolderWriter(OutputFolder folder, const RunState &next, Ranks *ranks)
      : folder(std::move(folder)), next(next), ranks(ranks) {}

  /// Makes the folder, with the headers of its files.
  Error open();
  /// Writes the arrays of this process. Calls no other process, so another thread may run it. Fails
  /// with "interrupted" between two arrays if `isStopped` returns true.
  Error add(const std::vector<ArrayRef> &arrays, const std::function<bool()> &isStopped) const;
  /// Gives the folder its place if add() succeeded in all processes; `added` is its error here.
  Error finish(const Error &added);

private:
  Error openHere();
  Error join();
  Error addArray(const std::vector<ArrayRef> &parts) const;
  Error writeHeaders() const;
  Error write(const std::string &file, const std::string &text) const;
  Error finishHere();
  Error agree(const Error &own) const;
  bool isFirst() const;
  Error underItsName(const Error &error) const;

  const OutputFolder folder;
  const RunState next;
  Ranks *const ranks;
  std::optional<FreshFolder> fresh;
  std::string into;
  std::optional<SafetensorsLayout> tensors; ///< layout of .safetensors files, if they are written
};

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_FOLDERWRITER_H
