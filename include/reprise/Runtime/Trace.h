// reprise: when each worker ran each command, as a Chrome trace and as a profile by kernel
#ifndef REPRISE_RUNTIME_TRACE_H
#define REPRISE_RUNTIME_TRACE_H

#include "reprise/Runtime/AtomicFile.h"
#include "reprise/Runtime/Bundle.h"
#include "reprise/Runtime/MachineRates.h"

#include <map>

namespace reprise::runtime {

/// Nanoseconds of a clock that never goes back.
uint64_t nanoseconds();

/// One worker's part in one command; end = 0 if it had none.
struct Span {
  uint64_t begin = 0, end = 0;
};

/// Filled by Executable::run("step") when given to setRecorder: the spans of the latest step. A
/// command of a repeat counts once per iteration.
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

/// What one program did: one event per step, command and worker, and a counter of the live bytes of
/// the arena; times in microseconds since `start`.
class Trace {
public:
  /// `process` tells the programs of one trace apart.
  Trace(const Bundle &bundle, unsigned workers, uint32_t process = 1,
        uint64_t start = nanoseconds());
  /// The names of program and workers, which come first.
  std::string names() const;
  std::string step(int64_t step, const Recorder &recorder) const;

private:
  std::string head(const char *kind) const;

  const Bundle &bundle;
  unsigned workers;
  uint32_t process;
  uint64_t start;
  std::vector<uint32_t> executed;
  std::vector<uint64_t> liveBytes; ///< by execution
};

/// A file that Perfetto and chrome://tracing open.
class TraceFile {
public:
  explicit TraceFile(const std::string &path);
  /// Adds what a Trace says; fails when the file cannot grow.
  Error add(const std::string &events);
  Error commit();

private:
  AtomicFile file;
  bool isEmpty = true;
};

/// Seconds, calls, FLOPs and bytes of each kernel and each library call, summed over steps; copies
/// are neither. A command's seconds run from its first worker's start to its last worker's end.
class Profile {
public:
  explicit Profile(const Bundle &bundle);
  void add(const Recorder &recorder, double stepSeconds);
  /// What is known so far, for the profile of a bundle that this one's is a part of.
  std::string sums() const;
  /// Adds that of a part. The steps are those of the parts, which take turns or run at once.
  Error addSums(const std::string &text);
  /// {"version": 1, "steps", "threads", "target", "entry", "step_seconds" (mean), "peak_flops",
  /// "copy_bytes" (per second), "kernels": [{"kernel", "seconds", "share" (of the sum), "calls",
  /// "flops", "bytes", "bound" ("arithmetic" or "memory"), "of_bound", "launch", "ops": [{"op",
  /// "kind", "dtype", "flops" (of one execution), "signature"}]} by falling seconds, each per
  /// step]}. A launch may have several kernels; its bytes, flops and ops stand with the one of its
  /// name. What a library computes is a row with "function", whose kernel and launch are the call's
  /// key, and whose ops are not known. of_bound is the least time by the rates over the time taken;
  /// above 1 where data came from the cache.
  std::string json(unsigned workers, const MachineRates &rates) const;

private:
  struct Sum {
    uint64_t nanoseconds = 0, calls = 0, flops = 0, bytes = 0;
  };
  static std::string boundOf(const Sum &sum, const MachineRates &rates);
  /// Null for what has no row.
  Sum *sumOf(const Command &command);
  struct Row {
    std::string name, origin; ///< as JSON
    Sum sum;
  };
  std::vector<Row> rows() const;
  const Bundle &bundle;
  std::vector<uint32_t> executed;
  std::map<uint32_t, Sum> kernels;
  std::map<std::string, Sum> calls; ///< by key
  uint64_t steps = 0;
  double seconds = 0;
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_TRACE_H
