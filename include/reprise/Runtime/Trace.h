// reprise: times of each worker in each command, as a Chrome trace and as a profile by kernel
#ifndef REPRISE_RUNTIME_TRACE_H
#define REPRISE_RUNTIME_TRACE_H

#include "reprise/Runtime/AtomicFile.h"
#include "reprise/Runtime/Bundle.h"
#include "reprise/Runtime/MachineRates.h"

#include <map>

namespace reprise::runtime {

/// Returns the nanoseconds of a clock that never goes back.
uint64_t nanoseconds();

/// Time of one worker in one command, in nanoseconds; end = 0 if the worker had no part.
struct Span {
  uint64_t begin = 0, end = 0;
};

/// Spans of the latest step, which Executable::run("step") fills after setRecorder. A command of a
/// repeat counts once per iteration.
class Recorder {
public:
  Recorder(uint64_t commands, unsigned workers) : workers(workers), spans(commands * workers) {}
  Span &at(uint64_t command, unsigned worker) { return spans[command * workers + worker]; }
  const Span &at(uint64_t command, unsigned worker) const {
    return spans[command * workers + worker];
  }
  unsigned numWorkers() const { return workers; }
  uint64_t numCommands() const { return workers ? spans.size() / workers : 0; }
  void clear() { spans.assign(spans.size(), Span()); }

private:
  unsigned workers;
  std::vector<Span> spans;
};

/// Trace of one program: one event per step, command and worker, and a counter of the live bytes of
/// the arena. Times are in microseconds since `start`.
class Trace {
public:
  /// Makes the trace of a program; `process` distinguishes the programs of one trace.
  Trace(const Bundle &bundle, unsigned workers, uint32_t process = 1,
        uint64_t start = nanoseconds());
  /// Returns the names of program and workers, which precede the events.
  std::string names() const;
  std::string step(int64_t step, const Recorder &recorder) const;

private:
  std::string head(const char *kind) const;

  const Bundle &bundle;
  unsigned workers;
  uint32_t process;
  uint64_t start;
  std::vector<uint32_t> executed;
  std::vector<uint64_t> liveBytes; ///< live bytes per execution
};

/// Trace file that Perfetto and chrome://tracing open.
class TraceFile {
public:
  explicit TraceFile(const std::string &path);
  /// Adds the text of a Trace; fails if the file cannot grow.
  Error add(const std::string &events);
  Error commit();

private:
  AtomicFile file;
  bool isEmpty = true;
};

/// Profile: seconds, calls, FLOPs and bytes of each kernel and each library call, summed over
/// steps, without copies. The seconds of a command run from its first worker's start to its last
/// worker's end.
class Profile {
public:
  explicit Profile(const Bundle &bundle);
  void add(const Recorder &recorder, double stepSeconds);
  /// Returns the sums so far, for the profile of a bundle that contains this one as a part.
  std::string sums() const;
  /// Adds the sums of a part. The steps are those of the parts, which take turns or run at once.
  Error addSums(const std::string &text);
  /// Returns {"version": 1, "steps", "threads", "target", "entry", "step_seconds" (mean),
  /// "peak_flops", "copy_bytes" (per second), "kernels": [{"kernel", "seconds", "share" (of the
  /// sum), "calls", "flops", "bytes", "bound" ("arithmetic" or "memory"), "of_bound", "launch",
  /// "ops": [{"op", "kind", "dtype", "flops" (of one execution), "signature"}]} by falling seconds,
  /// each per step]}.
  ///
  /// - A launch may have several kernels; its bytes, flops and ops stand with the kernel that has
  ///   its name.
  /// - A library call is a row with "function"; its kernel and launch are the call's key, and its
  ///   ops are unknown.
  /// - of_bound is the least time by the rates divided by the measured time. Values above 1 mean
  ///   that data came from the cache.
  std::string json(unsigned workers, const MachineRates &rates) const;

private:
  struct Sum {
    uint64_t nanoseconds = 0, calls = 0, flops = 0, bytes = 0;
  };
  static std::string boundOf(const Sum &sum, const MachineRates &rates);
  /// Returns the sum of a command; null for a command without a row.
  Sum *sumOf(const Command &command);
  struct Row {
    std::string name, origin; ///< origin: JSON text
    Sum sum;
  };
  std::vector<Row> rows() const;
  const Bundle &bundle;
  std::vector<uint32_t> executed;
  std::map<uint32_t, Sum> kernels;
  std::map<std::string, Sum> calls; ///< sums by key
  uint64_t steps = 0;
  double seconds = 0;
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_TRACE_H
