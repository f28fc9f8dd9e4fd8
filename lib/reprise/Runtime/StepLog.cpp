// reprise: the losses of a run, per step, in a file
#include "reprise/Runtime/StepLog.h"
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/Json.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace reprise::runtime;

static constexpr char csvHead[] = "step,loss\n";
static constexpr char jsonStart[] = "{\"step\": ";

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Returns the number of the step whose line starts at `at`; none if it is no line of a log.
static std::optional<int64_t> stepOfLine(const std::string &text, size_t at, bool isCsv) {
  size_t skipped = isCsv ? 0 : std::strlen(jsonStart);
  if (text.compare(at, skipped, jsonStart, skipped) != 0)
    return std::nullopt;
  int64_t step = 0;
  const char *end = text.data() + text.size();
  auto [stop, code] = std::from_chars(text.data() + at + skipped, end, step);
  if (code != std::errc() || stop == end || *stop != ',')
    return std::nullopt;
  return step;
}

/// Returns the bytes of a log up to the first line of step `next` or a later step, or up to half a
/// line at the end; none if it is no log.
static std::optional<size_t> bytesBefore(const std::string &text, int64_t next, bool isCsv) {
  size_t head = isCsv ? std::strlen(csvHead) : 0;
  if (text.compare(0, head, csvHead, head) != 0)
    return std::nullopt;
  size_t at = head;
  for (int64_t last = -1;;) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos)
      return at;
    std::optional<int64_t> step = stepOfLine(text, at, isCsv);
    if (!step || *step <= last)
      return std::nullopt;
    if (*step >= next)
      return at;
    last = *step;
    at = end + 1;
  }
}

bool StepLog::hasFormat(const std::string &path) {
  return endsWith(path, ".csv") || endsWith(path, ".jsonl");
}

StepLog::StepLog(std::string file, int descriptor)
    : path(std::move(file)), descriptor(descriptor), isCsv(endsWith(path, ".csv")) {}

StepLog::StepLog(StepLog &&other) noexcept { *this = std::move(other); }

StepLog &StepLog::operator=(StepLog &&other) noexcept {
  std::swap(path, other.path);
  std::swap(descriptor, other.descriptor);
  std::swap(isCsv, other.isCsv);
  return *this;
}

StepLog::~StepLog() {
  if (descriptor >= 0)
    close(descriptor);
}

Error StepLog::fail() const {
  return Error::make("cannot write '" + path + "': " + std::strerror(errno));
}

Expected<StepLog> StepLog::open(const std::string &path, int64_t next) {
  StepLog log(path, ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (log.descriptor < 0)
    return log.fail();
  struct stat status{};
  bool isFile = fstat(log.descriptor, &status) == 0 && S_ISREG(status.st_mode);
  if (isFile && status.st_size != 0) {
    if (Error error = log.keepLinesBefore(next))
      return error;
  } else if (log.isCsv) {
    if (Error error = log.write(csvHead))
      return error;
  }
  return log;
}

Error StepLog::keepLinesBefore(int64_t next) {
  Expected<std::vector<uint8_t>> bytes = readFile(path);
  if (!bytes)
    return bytes.error();
  std::optional<size_t> kept = bytesBefore(std::string(bytes->begin(), bytes->end()), next, isCsv);
  if (!kept)
    return Error::make("cannot write '" + path + "': the file exists and is not a log of steps");
  return ftruncate(descriptor, off_t(*kept)) == 0 ? Error::success() : fail();
}

Error StepLog::write(const std::string &line) {
  for (size_t done = 0; done < line.size();) {
    ssize_t written = ::write(descriptor, line.data() + done, line.size() - done);
    if (written < 0 && errno != EINTR)
      return fail();
    done += std::max<ssize_t>(written, 0);
  }
  return Error::success();
}

Error StepLog::add(int64_t step, std::optional<double> loss) {
  std::string number = loss ? jsonNumber(*loss) : isCsv ? "" : "null";
  if (isCsv && !number.empty() && number.front() == '"')
    number = number.substr(1, number.size() - 2); // nan, inf
  if (isCsv)
    return write(std::to_string(step) + "," + number + "\n");
  return write(jsonStart + std::to_string(step) + ", \"loss\": " + number + "}\n");
}
