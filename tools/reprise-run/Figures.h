// reprise: what a run found out, as text and as JSON
#ifndef REPRISE_TOOLS_REPRISE_RUN_FIGURES_H
#define REPRISE_TOOLS_REPRISE_RUN_FIGURES_H

#include "reprise/Runtime/ProgramGroup.h"
#include "reprise/Runtime/RunRecord.h"

/// Of one program, or of all together.
struct Sizes {
  uint64_t commands = 0, arena = 0, workspace = 0, persistent = 0;

  std::string json() const;
};

struct Figures {
  std::vector<std::optional<double>> loss;
  std::vector<double> seconds;
  /// Of the steps, without what a profile takes afterwards; of all processes together.
  uint64_t peakBytes = 0;
  std::string hash;
  reprise::runtime::RunState next;
  unsigned threads = 0;
  std::string device, machine;    ///< what the first program runs on; the same for people
  std::vector<std::string> names; ///< of the programs
  std::vector<Sizes> programs;

  /// Takes the sizes of all programs, of other processes, too; then all of them call it.
  reprise::runtime::Error measure(const reprise::runtime::ProgramGroup &group);
  std::string json() const;
  std::string text() const;

private:
  Sizes sum() const;
  std::string programsJson() const;
};

std::string shortNumber(double value);

#endif // REPRISE_TOOLS_REPRISE_RUN_FIGURES_H
