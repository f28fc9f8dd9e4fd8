// reprise: pipeline problems as JSON files
#ifndef REPRISE_PLANNING_STAGES_PROBLEMFILE_H
#define REPRISE_PLANNING_STAGES_PROBLEMFILE_H

#include "reprise/Planning/Stages/Balance.h"

namespace reprise::stages {

/// A step as units, and the devices it may be cut for (docs/reference/PlanningProblems.md).
struct ProblemFile {
  std::vector<pipeline::Stage> units;
  std::vector<std::string> names; ///< of units
  std::vector<Value> values;
  std::vector<Device> devices; ///< per rank
  int64_t microbatches = 1;
  int chunks = 2; ///< per rank, for schedules that take more than one
  int64_t buffers = 2;

  /// Stages for a schedule; memory is shared out evenly among the chunks of a rank.
  Problem makeProblem(const pipeline::Schedule &schedule) const;
};

/// Returns what is wrong, and where, or nothing.
std::string readProblemFile(std::string_view text, ProblemFile &file);

} // namespace reprise::stages

#endif // REPRISE_PLANNING_STAGES_PROBLEMFILE_H
