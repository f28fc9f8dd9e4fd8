// reprise: a progress bar for long work, on terminals only
#ifndef REPRISE_RUNTIME_PROGRESS_H
#define REPRISE_RUNTIME_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <string>

namespace reprise {

/// Line of progress on standard error, drawn only on a terminal. The line is redrawn at most ten
/// times a second and erased by the destructor. Only one thread may use the object.
class Progress {
public:
  /// Starts a line. `total` is the number of units of work; 0 draws only the count, without a bar.
  Progress(std::string label, int64_t total);
  /// Starts a line on the descriptor `fd`, which is treated as a terminal; for tests.
  Progress(std::string label, int64_t total, int fd);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Reports that `done` units are finished. `note` is a short text after the bar.
  void update(int64_t done, const std::string &note = "");

  /// Erases the line, so that other text can be printed; the next update draws it again.
  void clear();

private:
  using Clock = std::chrono::steady_clock;
  std::string line(int64_t done, const std::string &note, int width) const;
  std::string remaining(int64_t done) const;

  std::string label;
  int64_t total;
  int descriptor; // descriptor of the terminal; -1: no terminal
  bool drawn = false;
  Clock::time_point start = Clock::now();
  Clock::time_point nextDraw = start;
};

} // namespace reprise

#endif // REPRISE_RUNTIME_PROGRESS_H
