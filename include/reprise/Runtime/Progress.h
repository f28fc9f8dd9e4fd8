// reprise: a progress bar for long work, on terminals only
#ifndef REPRISE_RUNTIME_PROGRESS_H
#define REPRISE_RUNTIME_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <string>

namespace reprise {

/// Draws one line on standard error while it is a terminal, and nothing at all otherwise. The line
/// is redrawn at most ten times a second and erased by the destructor. Not for several threads.
class Progress {
public:
  /// `total` is the number of units of work; 0 draws no bar, only the count.
  Progress(std::string label, int64_t total);
  /// Draws on the descriptor `fd` as if it were a terminal; for tests.
  Progress(std::string label, int64_t total, int fd);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Tells that `done` units are finished. `note` is a short text shown after the bar.
  void update(int64_t done, const std::string &note = "");

  /// Erases the line, so that other text can be printed; the next update draws it again.
  void clear();

private:
  using Clock = std::chrono::steady_clock;
  std::string line(int64_t done, const std::string &note, int width) const;
  std::string remaining(int64_t done) const;

  std::string label;
  int64_t total;
  int descriptor; // -1: not a terminal
  bool drawn = false;
  Clock::time_point start = Clock::now();
  Clock::time_point nextDraw = start;
};

} // namespace reprise

#endif // REPRISE_RUNTIME_PROGRESS_H
