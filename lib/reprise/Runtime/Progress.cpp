// reprise: a progress bar for long work, on terminals only
#include "reprise/Runtime/Progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

using namespace reprise;

Progress::Progress(std::string text, int64_t units)
    : Progress(std::move(text), units, isatty(STDERR_FILENO) ? STDERR_FILENO : -1) {}

Progress::Progress(std::string text, int64_t units, int fd)
    : label(std::move(text)), total(units), descriptor(fd) {}

Progress::~Progress() { clear(); }

static int terminalWidth(int descriptor) {
  winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 80;
}

/// The terminal is a courtesy: an error while drawing is no error of the work.
static void draw(int descriptor, const std::string &text) {
  ssize_t written = write(descriptor, text.data(), text.size());
  (void)written;
}

void Progress::update(int64_t done, const std::string &note) {
  if (descriptor < 0 || (Clock::now() < nextDraw && done < total))
    return;
  nextDraw = Clock::now() + std::chrono::milliseconds(100);
  // We leave the last column free, because a full line would wrap on some terminals.
  draw(descriptor, "\r" + line(done, note, terminalWidth(descriptor) - 1) + "\x1b[K");
  drawn = true;
}

void Progress::clear() {
  if (drawn)
    draw(descriptor, "\r\x1b[K");
  drawn = false;
}

/// Returns " 1:05 left", from the mean speed so far; empty in the first second, without a good
/// estimate.
std::string Progress::remaining(int64_t done) const {
  double passed = std::chrono::duration<double>(Clock::now() - start).count();
  if (passed < 1 || done <= 0 || done >= total)
    return "";
  long seconds = std::lround(passed / done * (total - done));
  char text[48];
  snprintf(text, sizeof(text), " %ld:%02ld left", seconds / 60, seconds % 60);
  return text;
}

std::string Progress::line(int64_t done, const std::string &note, int width) const {
  std::string head = label + " ";
  std::string tail = " " + std::to_string(done);
  if (total > 0)
    tail += "/" + std::to_string(total) + remaining(done);
  if (!note.empty())
    tail += "  " + note;
  int room = std::min(30, width - static_cast<int>(head.size() + tail.size()) - 2);
  if (total > 0 && room >= 5) {
    int64_t full = std::clamp<int64_t>(done * room / total, 0, room);
    head += "[" + std::string(full, '#') + std::string(room - full, '.') + "]";
  }
  return (head + tail).substr(0, std::max(width, 0));
}
