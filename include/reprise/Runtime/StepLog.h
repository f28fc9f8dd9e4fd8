// reprise: the losses of a run, per step, in a file
#ifndef REPRISE_RUNTIME_STEPLOG_H
#define REPRISE_RUNTIME_STEPLOG_H

#include "reprise/Runtime/Error.h"

#include <cstdint>

namespace reprise::runtime {

/// Log with one line per step: its absolute number and its loss. The format is CSV with the head
/// "step,loss", or a JSON object per line. Each line is in the file when add() returns.
class StepLog {
public:
  /// Returns whether the name ends in ".csv" or ".jsonl".
  static bool hasFormat(const std::string &path);

  /// Opens a log and continues an older one. Lines of steps before `next` stay; lines from `next`
  /// on, which this run writes again, are dropped, and so is half a line at the end. Fails if the
  /// file is not a log of that format. In pipes and devices the log starts with this run.
  static Expected<StepLog> open(const std::string &path, int64_t next);
  StepLog(StepLog &&other) noexcept;
  StepLog &operator=(StepLog &&other) noexcept;
  ~StepLog();

  /// Appends the line of one step; without a loss the line has no loss.
  Error add(int64_t step, std::optional<double> loss);

private:
  StepLog(std::string path, int descriptor);
  Error fail() const;
  Error keepLinesBefore(int64_t next);
  Error write(const std::string &line);

  std::string path;
  int descriptor = -1;
  bool isCsv = false;
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_STEPLOG_H
