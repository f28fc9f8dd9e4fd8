// reprise: the losses of a run, step by step, in a file
#ifndef REPRISE_RUNTIME_STEPLOG_H
#define REPRISE_RUNTIME_STEPLOG_H

#include "reprise/Runtime/Error.h"

#include <cstdint>

namespace reprise::runtime {

/// One line per step, with its absolute number and its loss: CSV below the head "step,loss", or a
/// JSON object per line. Each line is in the file when add() returns.
class StepLog {
public:
  /// Whether the name ends in ".csv" or ".jsonl".
  static bool hasFormat(const std::string &path);

  /// Goes on with an older log: its lines of steps before `next` stay, those from `next` on, which
  /// this run writes anew, go, and so does half a line at its end. An error if the file is not a
  /// log of that format. Pipes and devices are written from here on.
  static Expected<StepLog> open(const std::string &path, int64_t next);
  StepLog(StepLog &&other) noexcept;
  StepLog &operator=(StepLog &&other) noexcept;
  ~StepLog();

  /// Appends the line of one step; a step without a loss has none in its line, either.
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
