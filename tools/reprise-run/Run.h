// reprise: what reprise-run does with its options
#ifndef REPRISE_TOOLS_REPRISE_RUN_RUN_H
#define REPRISE_TOOLS_REPRISE_RUN_RUN_H

#include "reprise/Runtime/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct RunOptions {
  std::string bundle;
  std::optional<int64_t> seed, offset;
  int64_t steps = 1, saveEvery = 0; ///< 0: at the end only
  unsigned threads = 0;
  std::vector<std::pair<std::string, std::string>> inputs;
  std::string inputDir, outputDir, device = "cpu", profile, trace, log;
  bool checkIndices = false, json = false;
};

/// Lets the first SIGINT, SIGTERM or SIGHUP end the run behind its step; a second one kills.
void catchInterrupts();
/// The signal that ended the run, or 0.
int caughtInterrupt();

/// Runs the bundle and prints what it found out.
reprise::runtime::Error runBundle(const RunOptions &options);

#endif // REPRISE_TOOLS_REPRISE_RUN_RUN_H
