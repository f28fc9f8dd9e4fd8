// reprise: one run of a bundle, compared with the interpreter
#ifndef REPRISE_UTILS_FUZZ_RUN_H
#define REPRISE_UTILS_FUZZ_RUN_H

#include "reprise/Reference/Tensor.h"
#include "reprise/Runtime/Device.h"
#include <string>
#include <vector>

namespace reprise::fuzz {

/// Compared results of a run.
struct Outcome {
  uint64_t hash = 0;
  int64_t offset = 0;

  std::string text() const;
};

struct RunOptions {
  std::string name; ///< name of the program, for messages
  unsigned threads = 1;
  int64_t seed = 0, steps = 1;
  bool checkArena = false; ///< whether a step must touch exactly the predicted arena
  /// Values of arguments that the bundle cannot make itself.
  std::vector<std::pair<std::string, Tensor>> values;
  runtime::DeviceKind device = runtime::DeviceKind::Cpu;
};

/// Failure: the kind of a verdict and its details. An empty kind means success.
struct Failure {
  std::string kind, details;

  explicit operator bool() const { return !kind.empty(); }
};

Failure runBundle(const runtime::Bundle &bundle, const RunOptions &options,
                  const Outcome &expected);

/// The CPUs that kernels are compiled for and that this machine is: "cpu:x86-64-v3", …
const std::vector<std::string> &runnableTargets();

} // namespace reprise::fuzz

#endif
