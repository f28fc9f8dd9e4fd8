// reprise: results of a run, as text and as JSON
#ifndef REPRISE_TOOLS_REPRISE_RUN_FIGURES_H
#define REPRISE_TOOLS_REPRISE_RUN_FIGURES_H

#include "reprise/Runtime/ProgramGroup.h"
#include "reprise/Runtime/RunRecord.h"

/// Sizes of one program, or of all together.
struct Sizes {
  uint64_t commands = 0, arena = 0, workspace = 0, persistent = 0;

  std::string json() const;
};

struct Figures {
  std::vector<std::optional<double>> loss;
  std::vector<double> seconds;
  /// Peak of the steps, without a later profile; of all processes together.
  uint64_t peakBytes = 0;
  /// Bytes of the largest copy for a save behind the steps; of all processes together.
  uint64_t snapshotBytes = 0;
  std::string hash;
  reprise::runtime::RunState next;
  unsigned threads = 0;
  std::string device, machine;    ///< device of the first program; machine: the same for people
  std::vector<std::string> names; ///< names of the programs
  std::vector<Sizes> programs;

  /// Takes the sizes of all programs, including those of other processes; all processes call it
  /// together.
  reprise::runtime::Error measure(const reprise::runtime::ProgramGroup &group);
  std::string json() const;
  std::string text() const;

private:
  Sizes sum() const;
  std::string programsJson() const;
};

std::string shortNumber(double value);

#endif // REPRISE_TOOLS_REPRISE_RUN_FIGURES_H
