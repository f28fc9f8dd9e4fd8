// reprise: pipeline problems as JSON files
#ifndef REPRISE_PLANNING_STAGES_PROBLEMFILE_H
#define REPRISE_PLANNING_STAGES_PROBLEMFILE_H

#include "reprise/Planning/Stages/Balance.h"

namespace reprise::stages {

/// Step as units, and the devices it may be cut for (docs/reference/PlanningProblems.md).
struct ProblemFile {
  std::vector<pipeline::Stage> units;
  std::vector<std::string> names; ///< names of units
  std::vector<Value> values;
  std::vector<Device> devices; ///< per rank
  int64_t microbatches = 1;
  int chunks = 2; ///< chunks per rank, for schedules that allow more than one
  int64_t buffers = 2;

  /// Makes stages for a schedule; memory is divided evenly among the chunks of a rank.
  Problem makeProblem(const pipeline::Schedule &schedule) const;
};

/// Returns an error with its place, or an empty string.
std::string readProblemFile(std::string_view text, ProblemFile &file);

} // namespace reprise::stages

#endif // REPRISE_PLANNING_STAGES_PROBLEMFILE_H
