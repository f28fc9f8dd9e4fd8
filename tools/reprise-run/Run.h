// reprise: the run of reprise-run
#ifndef REPRISE_TOOLS_REPRISE_RUN_RUN_H
#define REPRISE_TOOLS_REPRISE_RUN_RUN_H

#include "reprise/Runtime/Ranks.h"

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
  std::vector<std::string> inputDirs;
  std::string outputDir, names, device = "cpu", profile, trace, log;
  uint64_t shardBytes = 0;
  bool checkIndices = false, json = false, saveBehind = false;
};

/// Makes the first SIGINT, SIGTERM or SIGHUP end the run behind its step; a second signal kills.
void catchInterrupts();
/// The signal that was caught, or 0.
int caughtInterrupt();
/// Returns the signal that ended the run between two steps, caught by this process or another, or
/// 0.
int obeyedInterrupt();

/// Runs the bundle and prints its results; with ranks, as one of several processes. If the error is
/// wrong usage, `code` receives its exit code.
reprise::runtime::Error runBundle(const RunOptions &options, reprise::runtime::Ranks *ranks,
                                  int &code);

#endif // REPRISE_TOOLS_REPRISE_RUN_RUN_H
